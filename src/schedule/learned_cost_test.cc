#include "schedule/learned_cost.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>

#include "base/units.h"
#include "schedule/cost.h"

namespace corelane::schedule {
namespace {

using std::chrono::microseconds;

constexpr std::size_t kTokens = 1;

Sizes tokens(std::int64_t length) {
  Sizes sizes = unit_sizes();
  sizes[kTokens] = length;
  return sizes;
}

/// What a batch of four saves, as a part of what a row costs alone.
double gain(const CostModel& cost, std::int64_t length) {
  const double alone = to_seconds(cost.batch_time(1, tokens(length)));
  const double joining =
      to_seconds(cost.batch_time(4, tokens(length)) - cost.batch_time(3, tokens(length)));
  return 1 - joining / alone;
}

/// Runs whose true cost is `overhead` + rows * length microseconds, and then the hop.
void teach(LearnedCost& cost, double overhead, int runs, bool vary, double noise = 0) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> around(1 - noise, 1 + noise);
  for (int run = 0; run < runs; ++run) {
    const std::int64_t rows = vary ? 1 + static_cast<std::int64_t>(random() % 8) : 2;
    const std::int64_t length = vary ? 8 + static_cast<std::int64_t>(random() % 120) : 64;
    const double micros = (overhead + static_cast<double>(rows * length)) * around(random);
    cost.observe(rows, tokens(length), from_seconds(micros * 1e-6) - kHopTime);
  }
}

TEST(LearnedCost, IsTheAssumedOneBeforeTheFirstRun) {
  EXPECT_EQ(LearnedCost(16).batch_time(3, tokens(40)), LinearCost(16).batch_time(3, tokens(40)));
}

TEST(LearnedCost, KeepsTheAssumedShapeWhileAllRunsAreOfOneSize) {
  LearnedCost cost(16);
  teach(cost, 100, 500, false);
  EXPECT_NEAR(to_seconds(cost.batch_time(2, tokens(64))), 228e-6, 1e-6);  // the times seen
  EXPECT_NEAR(gain(cost, 64), gain(LinearCost(16), 64), 0.01);
}

TEST(LearnedCost, FindsTheTrueOverheadFromRunsOfManySizes) {
  LearnedCost dear(4);
  teach(dear, 200, 300, true);
  EXPECT_NEAR(gain(dear, 64), gain(LinearCost(200), 64), 0.02);
  LearnedCost cheap(54);
  teach(cheap, 1, 300, true);
  EXPECT_NEAR(gain(cheap, 64), gain(LinearCost(1), 64), 0.04);
}

TEST(LearnedCost, SeesThroughNoiseOfAThird) {
  LearnedCost cost(4);
  teach(cost, 54, 400, true, 0.33);
  EXPECT_NEAR(gain(cost, 41), gain(LinearCost(54), 41), 0.2);
}

TEST(LearnedCost, IsNotThrownOffByAFirstRunThatLoadsAndWarmsUp) {
  LearnedCost cost(16);
  cost.observe(1, tokens(8), std::chrono::seconds(2));
  teach(cost, 16, 400, true);
  EXPECT_NEAR(gain(cost, 41), gain(LinearCost(16), 41), 0.05);
}

TEST(LearnedCost, FollowsAMachineThatGetsSlower) {
  LearnedCost cost(16);
  teach(cost, 16, 300, true);
  for (int run = 0; run < 2000; ++run) cost.observe(2, tokens(64), microseconds(2000));
  EXPECT_NEAR(to_seconds(cost.batch_time(2, tokens(64))), 2020e-6, 50e-6);
}

TEST(LearnedCost, NeverFallsWithMoreRowsWhateverItSaw) {
  std::mt19937 random(11);
  LearnedCost cost(4);
  for (int run = 0; run < 3000; ++run) {
    const std::int64_t rows = 1 + static_cast<std::int64_t>(random() % 32);
    cost.observe(rows, tokens(1 + static_cast<std::int64_t>(random() % 512)),
                 microseconds(random() % 100'000));
    Nanos last{-1};
    for (std::int64_t more = 1; more <= 32; ++more) {
      const Nanos time = cost.batch_time(more, tokens(64));
      ASSERT_GE(time, last);
      ASSERT_GE(time, Nanos(0));
      last = time;
    }
  }
}

}  // namespace
}  // namespace corelane::schedule
