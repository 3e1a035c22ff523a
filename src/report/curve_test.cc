#include "report/curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

namespace corelane::report {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ParetoFront, KeepsWhatNoFasterPointComesNear) {
  const std::vector<Sample> samples = {
      {.items_per_second = 100, .p95 = 10},
      {.items_per_second = 101, .p95 = 11},  // 1 % more is noise
      {.items_per_second = 150, .p95 = 20},
      {.items_per_second = 140, .p95 = 30},  // slower and less
      {.items_per_second = 160, .p95 = 40},
  };
  EXPECT_THAT(pareto_front(samples), ElementsAre(0, 2, 4));
}

TEST(ParetoFront, OfNothingIsEmpty) { EXPECT_THAT(pareto_front({}), IsEmpty()); }

TEST(Knee, IsTheCornerOfACurveWithACorner) {
  const std::vector<Sample> samples = {
      {.items_per_second = 10, .p95 = 10},
      {.items_per_second = 90, .p95 = 20},  // here the curve turns flat
      {.items_per_second = 95, .p95 = 60},
      {.items_per_second = 100, .p95 = 100},
  };
  EXPECT_EQ(knee(samples), 1U);
}

TEST(Knee, OfThePublishedG5CurveIsBatchEight) {
  // BERT-base in mixed precision on G5: batch 1, 8, 16, 32 (AWS machine learning blog, 2022-10-03).
  const std::vector<Sample> samples = {{.items_per_second = 137, .p95 = 7},
                                       {.items_per_second = 681, .p95 = 12},
                                       {.items_per_second = 762, .p95 = 21},
                                       {.items_per_second = 870, .p95 = 37}};
  EXPECT_EQ(knee(samples), 1U);
}

TEST(Knee, OfASaturatingCurveIsWhereItsSlopeIsThatOfTheWholeCurve) {
  // throughput = 100 * t / (t + 10) for t = 1..100: its slope equals that of the line between its
  // ends at t = sqrt(11 * 110) - 10 = 24.8.
  std::vector<Sample> samples;
  for (int t = 1; t <= 100; ++t) {
    samples.push_back({.items_per_second = 100.0 * t / (t + 10), .p95 = static_cast<double>(t)});
  }
  const auto found = knee(samples);
  ASSERT_TRUE(found);
  EXPECT_NEAR(samples[*found].p95, 24.8, 3.0);  // the front leaves out steps inside the noise
}

TEST(Knee, OfTwoPointsIsTheOneWithMoreThroughputForItsLatency) {
  EXPECT_EQ(knee(std::vector<Sample>{{10, 10}, {19, 11}}), 1U);
  EXPECT_EQ(knee(std::vector<Sample>{{10, 10}, {11, 20}}), 0U);
}

TEST(Knee, OfOnePointIsThatPointAndOfNoneNothing) {
  EXPECT_EQ(knee(std::vector<Sample>{{5, 5}}), 0U);
  EXPECT_EQ(knee({}), std::nullopt);
}

TEST(Knee, DoesNotMoveForASteepTailOfNoise) {
  const std::vector<Sample> curve = {{10, 10}, {90, 20}, {95, 60}, {100, 100}};
  std::vector<Sample> with_tail = curve;
  with_tail.push_back({.items_per_second = 100.5, .p95 = 5000});
  EXPECT_EQ(knee(with_tail), knee(curve));
}

TEST(Cheapest, TakesTheLowerLatencyOfThroughputsThatAreTheSame) {
  const std::vector<Sample> samples = {{.items_per_second = 99, .p95 = 50},
                                       {.items_per_second = 100, .p95 = 400},
                                       {.items_per_second = 97, .p95 = 10}};
  EXPECT_EQ(cheapest(samples), 0U);
  EXPECT_EQ(cheapest({}), std::nullopt);
}

class RandomCurves : public ::testing::TestWithParam<unsigned> {
 protected:
  std::vector<Sample> samples() const {
    std::mt19937 random(GetParam());
    std::uniform_real_distribution<double> rate(1, 1000);
    std::uniform_real_distribution<double> p95(0.1, 5000);
    std::vector<Sample> drawn(1 + GetParam() % 40);
    std::ranges::generate(drawn, [&] { return Sample{rate(random), p95(random)}; });
    return drawn;
  }
};

TEST_P(RandomCurves, HaveTheirKneeOnTheFrontAndNothingBeatsIt) {
  const auto all = samples();
  const auto front = pareto_front(all);
  const auto found = knee(all);
  ASSERT_TRUE(found);
  EXPECT_NE(std::ranges::find(front, *found), front.end());
  for (const Sample& other : all) {
    EXPECT_FALSE(other.p95 < all[*found].p95 &&
                 other.items_per_second > all[*found].items_per_second);
  }
}

TEST_P(RandomCurves, HaveTheSameKneeInOtherUnits) {
  auto scaled = samples();
  const auto before = knee(scaled);
  for (Sample& sample : scaled) {
    sample.p95 *= 1000;
    sample.items_per_second *= 0.25;
  }
  EXPECT_EQ(knee(scaled), before);
}

TEST_P(RandomCurves, HaveACheapestPointInsideTheNoiseOfTheMost) {
  const auto all = samples();
  const auto best = cheapest(all);
  ASSERT_TRUE(best);
  const double most = std::ranges::max(all, {}, &Sample::items_per_second).items_per_second;
  EXPECT_GE(all[*best].items_per_second, most * (1 - kNoise));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomCurves, ::testing::Range(0U, 60U));

}  // namespace
}  // namespace corelane::report
