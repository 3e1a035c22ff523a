#include "load/phases.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/units.h"

namespace corelane::load {
namespace {

constexpr double kStillFaster = 0.95;

Nanos median(std::span<const Nanos> values) {
  std::vector<Nanos> copy(values.begin(), values.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  return *middle;
}

}  // namespace

bool has_settled(std::span<const Nanos> latencies, std::size_t group) {
  check(group > 0, "a group has members");
  if (latencies.size() < 2 * group) {
    return false;
  }
  const auto recent = latencies.last(2 * group);
  const Nanos before = median(recent.first(group));
  const Nanos now = median(recent.last(group));
  return static_cast<double>(now.count()) >= kStillFaster * static_cast<double>(before.count());
}

bool warmed_up(const LoadLimits& limits, Nanos elapsed, bool settled) {
  return elapsed >= limits.max_warmup || (elapsed >= limits.warmup && settled);
}

bool measured_enough(const LoadLimits& limits, Nanos elapsed, std::int64_t answered) {
  return elapsed >= limits.max_window ||
         (elapsed >= limits.window && answered >= limits.min_requests);
}

}  // namespace corelane::load
