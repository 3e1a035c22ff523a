#include "stats/distribution.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <vector>

namespace corelane::stats {
namespace {

std::vector<double> one_to(int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Percentile, IsTheNearestRank) {
  const std::vector<double> five = {15, 20, 35, 40, 50};
  EXPECT_EQ(percentile(five, 5), 15);
  EXPECT_EQ(percentile(five, 30), 20);
  EXPECT_EQ(percentile(five, 40), 20);
  EXPECT_EQ(percentile(five, 50), 35);
  EXPECT_EQ(percentile(five, 100), 50);
}

TEST(Percentile, IsAlwaysOneOfTheValuesAndExactForEveryWholePercent) {
  const std::vector<double> hundred = one_to(100);
  for (int percent = 1; percent <= 100; ++percent) {
    EXPECT_EQ(percentile(hundred, percent), percent);
  }
  const std::vector<double> thousand = one_to(1000);
  EXPECT_EQ(percentile(thousand, 99.9), 999);
  EXPECT_EQ(percentile(thousand, 55), 550);
}

TEST(Percentile, OfOneValueIsThatValue) {
  const std::vector<double> one = {7};
  EXPECT_EQ(percentile(one, 1), 7);
  EXPECT_EQ(percentile(one, 99), 7);
}

TEST(Summarise, SortsFirst) {
  const Distribution summary = summarise({3, 1, 2, 5, 4});
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.p50, 3);
  EXPECT_EQ(summary.p95, 5);
  EXPECT_EQ(summary.max, 5);
  EXPECT_EQ(summary.mean, 3);
}

TEST(Summarise, OfNothingIsZero) { EXPECT_EQ(summarise({}), Distribution{}); }

}  // namespace
}  // namespace corelane::stats
