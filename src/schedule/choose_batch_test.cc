#include "schedule/choose_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/units.h"
#include "schedule/cost.h"
#include "schedule/retry.h"

namespace corelane::schedule {
namespace {

constexpr std::uint32_t kTokens = 1;  // the place of "tokens" after "batch"
constexpr BatchLimits kThirtyTwo{.max_rows = 32, .paddable = 1U << kTokens};

Waiting of_length(std::int64_t tokens, std::int64_t rows = 1) {
  Waiting request{.rows = rows};
  request.sizes[kTokens] = tokens;
  return request;
}

std::vector<Waiting> of_lengths(const std::vector<std::int64_t>& lengths) {
  std::vector<Waiting> queue;
  for (const std::int64_t length : lengths) queue.push_back(of_length(length));
  return queue;
}

std::vector<std::uint32_t> chosen(const std::vector<Waiting>& waiting, const BatchLimits& limits,
                                  const LinearCost& cost, std::size_t sharing_lanes = 1,
                                  std::int64_t running_rows = 0) {
  BatchChooser chooser;
  const auto choice = chooser.choose({.waiting = waiting,
                                      .live_lanes = 2,
                                      .sharing_lanes = sharing_lanes,
                                      .running_rows = running_rows},
                                     limits, cost);
  return {choice.members.begin(), choice.members.end()};
}

struct Case {
  std::string name;
  std::vector<std::int64_t> lengths;
  double overhead;
  std::int64_t max_rows;
  std::size_t sharing_lanes;
  std::vector<std::uint32_t> expected;
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

class ChooseBatchTable : public testing::TestWithParam<Case> {};

TEST_P(ChooseBatchTable, TakesTheMembersOfTheTable) {
  const Case& c = GetParam();
  const BatchLimits limits{.max_rows = c.max_rows, .paddable = 1U << kTokens};
  EXPECT_EQ(chosen(of_lengths(c.lengths), limits, LinearCost(c.overhead), c.sharing_lanes),
            c.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ChooseBatchTable,
    testing::Values(
        Case{"NothingWaits", {}, 4, 8, 1, {}}, Case{"OneRequestRunsAtOnce", {17}, 4, 8, 1, {0}},
        Case{"LikeLengthsJoin", {30, 30, 30}, 4, 8, 1, {0, 1, 2}},
        Case{"NoMoreThanTheLargestBatch", {30, 30, 30, 30, 30}, 4, 4, 1, {0, 1, 2, 3}},
        Case{"AModelWithoutBatchRunsOne", {30, 30, 30}, 4, 0, 1, {0}},
        Case{"UnlikeLengthsStayApartWhereArithmeticIsDear", {30, 60, 31, 100}, 4, 8, 1, {0, 2}},
        Case{"UnlikeLengthsJoinWhereOverheadIsDear", {30, 50, 31, 100}, 54, 8, 1, {0, 1, 2}},
        Case{"TheNearestLengthsComeFirst", {30, 34, 29, 33, 30}, 16, 3, 1, {0, 2, 4}},
        Case{"ALongOldestTakesItsKind", {40, 20, 21, 39, 22}, 4, 8, 1, {0, 3}},
        Case{"TwoLanesShareEight", {30, 30, 30, 30, 30, 30, 30, 30}, 54, 8, 2, {0, 1, 2, 3}},
        Case{"AnOddOneGoesToTheFirstOfTwoLanes", {30, 30, 30}, 54, 8, 2, {0, 1}},
        Case{"MoreLanesThanRequestsMeansOneEach", {30, 30}, 54, 8, 4, {0}}),
    [](const auto& tested) { return tested.param.name; });

TEST(ChooseBatch, CountsRowsNotRequests) {
  const std::vector<Waiting> queue{of_length(8, 5), of_length(8, 2), of_length(8, 2),
                                   of_length(8, 1)};
  const BatchLimits limits{.max_rows = 8, .paddable = 1U << kTokens};
  EXPECT_EQ(chosen(queue, limits, LinearCost(4)), (std::vector<std::uint32_t>{0, 1, 3}));
}

TEST(ChooseBatch, GivesALargeOldestRequestMoreThanItsShareRatherThanNothing) {
  const std::vector<Waiting> queue{of_length(8, 8), of_length(8, 1)};
  const BatchLimits limits{.max_rows = 8, .paddable = 1U << kTokens};
  EXPECT_EQ(chosen(queue, limits, LinearCost(4), 2), (std::vector<std::uint32_t>{0}));
}

TEST(ChooseBatch, LeavesTheShareOfALaneThatRunsASingleRequest) {
  const std::vector<Waiting> seven(7, of_length(30));
  const BatchLimits limits{.max_rows = 32, .paddable = 1U << kTokens};
  EXPECT_EQ(chosen(seven, limits, LinearCost(54), 2, 1).size(), 4U);
  EXPECT_EQ(chosen(seven, limits, LinearCost(54), 2, 7).size(), 7U);  // the other has its share
}

TEST(ChooseBatch, SavesNoOnesFewPercentAtTheOthersCost) {
  EXPECT_EQ(chosen(of_lengths({128, 128, 128}), kThirtyTwo, LinearCost(4)).size(),
            1U);                                                                      // saves 3 %
  EXPECT_EQ(chosen(of_lengths({60, 60, 60}), kThirtyTwo, LinearCost(4)).size(), 3U);  // saves 6 %
}

TEST(ChooseBatch, NeverPadsADimensionThatMustNotBePadded) {
  const BatchLimits limits{.max_rows = 8, .paddable = 0};
  EXPECT_EQ(chosen(of_lengths({30, 31, 30}), limits, LinearCost(1000)),
            (std::vector<std::uint32_t>{0, 2}));
}

TEST(ChooseBatch, SaysTheLargestSizeOfItsMembers) {
  const auto queue = of_lengths({30, 33, 31});
  BatchChooser chooser;
  const auto choice = chooser.choose({.waiting = queue}, kThirtyTwo, LinearCost(54));
  EXPECT_EQ(choice.rows, 3);
  EXPECT_EQ(choice.padded[kTokens], 33);
}

TEST(ChooseBatch, KeepsARequestThatMustRunAloneAlone) {
  auto queue = of_lengths({30, 30, 30});
  queue[0].alone = true;
  EXPECT_EQ(chosen(queue, kThirtyTwo, LinearCost(54)), (std::vector<std::uint32_t>{0}));
  queue[0].alone = false;
  queue[1].alone = true;
  EXPECT_EQ(chosen(queue, kThirtyTwo, LinearCost(54)), (std::vector<std::uint32_t>{0, 2}));
}

TEST(ChooseBatch, GivesALostRequestToAnotherLaneWhereThereIsOne) {
  auto queue = of_lengths({30, 30});
  queue[0].avoid_lane = 0;
  EXPECT_EQ(chosen(queue, kThirtyTwo, LinearCost(54)), (std::vector<std::uint32_t>{1}));

  BatchChooser chooser;
  const auto only_lane =
      chooser.choose({.waiting = queue, .live_lanes = 1}, kThirtyTwo, LinearCost(54));
  EXPECT_EQ(only_lane.members.size(), 2U);
  const auto other_lane =
      chooser.choose({.waiting = queue, .lane = 1, .live_lanes = 2}, kThirtyTwo, LinearCost(54));
  EXPECT_EQ(other_lane.members.size(), 2U);
}

TEST(ChooseBatch, HoldsItsPromisesForAnyQueue) {
  std::mt19937 random(20261130);
  BatchChooser chooser;
  for (int round = 0; round < 2000; ++round) {
    std::vector<Waiting> queue(1 + random() % 40);
    for (Waiting& request : queue) {
      request = of_length(1 + random() % 128, 1 + random() % 4);
      request.alone = random() % 10 == 0;
    }
    const LinearCost cost(static_cast<double>(random() % 60));
    const BatchLimits limits{.max_rows = 4 + static_cast<std::int64_t>(random() % 29),
                             .paddable = 1U << kTokens};
    const auto choice = chooser.choose(
        {.waiting = queue, .live_lanes = 3, .sharing_lanes = 1 + random() % 3}, limits, cost);

    ASSERT_FALSE(choice.members.empty());
    EXPECT_EQ(choice.members.front(), 0U);
    EXPECT_TRUE(std::is_sorted(choice.members.begin(), choice.members.end()));
    EXPECT_EQ(std::set<std::uint32_t>(choice.members.begin(), choice.members.end()).size(),
              choice.members.size());
    std::int64_t rows = 0;
    Nanos apart{};
    for (const std::uint32_t member : choice.members) {
      rows += queue[member].rows;
      apart += cost.batch_time(queue[member].rows, queue[member].sizes);
      EXPECT_LE(queue[member].sizes[kTokens], choice.padded[kTokens]);
      EXPECT_TRUE(choice.members.size() == 1 || !queue[member].alone);
    }
    EXPECT_EQ(rows, choice.rows);
    EXPECT_LE(rows, limits.max_rows);
    EXPECT_LE(cost.batch_time(rows, choice.padded), apart);
  }
}

TEST(ChooseBatch, EmptiesAnyQueueInAtMostAsManyRunsAsRequests) {
  std::mt19937 random(7);
  BatchChooser chooser;
  std::vector<Waiting> queue;
  for (int i = 0; i < 200; ++i) queue.push_back(of_length(8 + random() % 121));
  const std::size_t requests = queue.size();
  std::size_t runs = 0;
  while (!queue.empty()) {
    const auto choice = chooser.choose({.waiting = queue}, kThirtyTwo, LinearCost(16));
    for (auto it = choice.members.rbegin(); it != choice.members.rend(); ++it) {
      queue.erase(queue.begin() + *it);
    }
    ++runs;
  }
  EXPECT_LT(runs, requests / 4);  // and they do form batches
}

TEST(LinearCost, FitsTheMeasuredGainOfBatchesOfFour) {
  const auto gain = [](const char* precision) {
    const LinearCost cost(assumed_overhead(precision));
    Sizes sizes = unit_sizes();
    sizes[kTokens] = 41;
    return 4 * to_seconds(cost.batch_time(1, sizes)) / to_seconds(cost.batch_time(4, sizes));
  };
  EXPECT_NEAR(gain("f32"), 27.2 / 25.6, 0.02);
  EXPECT_NEAR(gain("bf16"), 46.5 / 36.6, 0.03);
  EXPECT_NEAR(gain("int8"), 85.6 / 49.0, 0.03);
}

TEST(ChooseSlot, ServesTheRequestThatHasWaitedLongest) {
  EXPECT_EQ(choose_slot(std::vector<Nanos>{Nanos(30), Nanos(10), kNothingWaits}), 1U);
  EXPECT_EQ(choose_slot(std::vector<Nanos>{kNothingWaits, kNothingWaits}), 2U);
  EXPECT_EQ(choose_slot({}), 0U);
}

TEST(DecideAfterLoss, RetriesOnceInCompanyOnceAloneAndThenGivesUp) {
  EXPECT_EQ(decide_after_loss(1), AfterLoss::kRunAgain);
  EXPECT_EQ(decide_after_loss(2), AfterLoss::kRunAgainAlone);
  EXPECT_EQ(decide_after_loss(3), AfterLoss::kGiveUp);
  EXPECT_EQ(decide_after_loss(7), AfterLoss::kGiveUp);
}

}  // namespace
}  // namespace corelane::schedule
