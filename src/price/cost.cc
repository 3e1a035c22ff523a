#include "price/cost.h"

#include <limits>

#include "base/units.h"

namespace corelane::price {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kMillion = 1e6;

/// items * seconds of a million items spread over one hour; the relation between rate and cost is
/// its own inverse.
double million_at(UsdPerHour price, double divisor) {
  if (divisor <= 0) {
    return std::numeric_limits<double>::infinity();
  }
  return price.value * kMillion / (kSecondsPerHour * divisor);
}

}  // namespace

Usd per_million(UsdPerHour price, double items_per_second) {
  return {million_at(price, items_per_second)};
}

double items_per_second_for(UsdPerHour price, Usd target) {
  return million_at(price, target.value);
}

}  // namespace corelane::price
