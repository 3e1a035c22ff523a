#include "price/cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "base/units.h"

namespace corelane::price {
namespace {

struct Published {
  std::string row;
  double g5_items_per_second;
  double g4dn_items_per_second;
  double g5_usd_per_million;
  double g4dn_usd_per_million;
};

// The price-performance study of G5 against G4dn (AWS machine learning blog, 2022-10-03). It prints
// the hourly prices the wrong way round: its own cost column holds with these.
constexpr UsdPerHour kG5{1.624};
constexpr UsdPerHour kG4dn{1.204};
constexpr double kHalfOfTheLastDigit = 0.05;

const std::vector<Published>& published() {
  static const std::vector<Published> rows = {
      {"bert 32 full", 723, 154, 0.6, 2.2},   {"bert 32 mixed", 870, 410, 0.5, 0.8},
      {"bert 16 full", 651, 158, 0.7, 2.1},   {"bert 16 mixed", 762, 376, 0.6, 0.9},
      {"bert 8 full", 642, 142, 0.7, 2.3},    {"bert 8 mixed", 681, 350, 0.7, 1.0},
      {"bert 1 full", 160, 116, 2.8, 2.9},    {"bert 1 mixed", 137, 102, 3.3, 3.3},
      {"resnet 32 full", 941, 397, 0.5, 0.8}, {"resnet 32 mixed", 1533, 851, 0.3, 0.4},
      {"resnet 16 full", 888, 384, 0.5, 0.9}, {"resnet 16 mixed", 1474, 819, 0.3, 0.4},
      {"resnet 8 full", 805, 340, 0.6, 1.0},  {"resnet 8 mixed", 1419, 772, 0.3, 0.4},
      {"resnet 1 full", 202, 164, 2.2, 2.0},  {"resnet 1 mixed", 196, 180, 2.3, 1.9},
  };
  return rows;
}

/// Both columns are printed rounded: whether some throughput that prints as `items_per_second`
/// gives a cost that prints as `usd`.
bool agree(UsdPerHour price, double items_per_second, double usd) {
  const double dearest = per_million(price, items_per_second - 0.5).value;
  const double cheapest = per_million(price, items_per_second + 0.5).value;
  return cheapest <= usd + kHalfOfTheLastDigit && dearest >= usd - kHalfOfTheLastDigit;
}

TEST(PerMillion, GivesTheCostColumnsOfThePublishedStudy) {
  for (const Published& row : published()) {
    EXPECT_TRUE(agree(kG5, row.g5_items_per_second, row.g5_usd_per_million)) << row.row;
    EXPECT_TRUE(agree(kG4dn, row.g4dn_items_per_second, row.g4dn_usd_per_million)) << row.row;
  }
}

TEST(PerMillion, ShowsThatThePublishedHourlyPricesStandSwapped) {
  const auto disagree = std::ranges::count_if(published(), [](const Published& row) {
    return !agree(kG4dn, row.g5_items_per_second, row.g5_usd_per_million);
  });
  EXPECT_GT(disagree, std::ssize(published()) / 2);
}

TEST(PerMillion, IsTheHourlyPriceWhenAnHourServesAMillion) {
  EXPECT_DOUBLE_EQ(per_million({3.5}, 1e6 / 3600).value, 3.5);
}

TEST(PerMillion, HalvesWhenTheRateDoubles) {
  EXPECT_DOUBLE_EQ(per_million({1}, 20).value * 2, per_million({1}, 10).value);
}

TEST(PerMillion, IsInfiniteWhereNothingWasServed) {
  EXPECT_TRUE(std::isinf(per_million({1}, 0).value));
}

TEST(ItemsPerSecondFor, UndoesPerMillion) {
  EXPECT_DOUBLE_EQ(items_per_second_for({1.624}, per_million({1.624}, 723)), 723);
}

}  // namespace
}  // namespace corelane::price
