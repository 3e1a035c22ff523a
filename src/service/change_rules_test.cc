#include "service/change_rules.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace corelane::service {
namespace {

using State = LaneLoad::State;
using Next = LoadDecision::Next;

LaneLoad lane(const char* name, State state, const char* reason = "") {
  return {.lane = name, .state = state, .reason = reason};
}

TEST(DecideLoad, WaitsForEachLaneThatMayStillAnswer) {
  EXPECT_EQ(decide_load(std::vector{lane("0", State::kLoaded), lane("1", State::kPending)}).next,
            Next::kWait);
  EXPECT_EQ(decide_load(std::vector{lane("0", State::kFailed), lane("1", State::kPending)}).next,
            Next::kWait);
}

TEST(DecideLoad, ServesOnceAllThatCanHaveLoadedIt) {
  EXPECT_EQ(decide_load(std::vector{lane("0", State::kLoaded), lane("1", State::kLoaded)}).next,
            Next::kServe);
  EXPECT_EQ(decide_load(std::vector{lane("0", State::kLoaded), lane("1", State::kNoLane)}).next,
            Next::kServe);
}

TEST(DecideLoad, GivesUpWithEachLanesReason) {
  const LoadDecision some =
      decide_load(std::vector{lane("0", State::kLoaded), lane("1", State::kFailed, "no memory")});
  EXPECT_EQ(some.next, Next::kGiveUp);
  EXPECT_EQ(some.reason, "lane 1: no memory");
  const LoadDecision none =
      decide_load(std::vector{lane("0", State::kNoLane, "killed by signal 9")});
  EXPECT_EQ(none.next, Next::kGiveUp);
  EXPECT_EQ(none.reason, "lane 0: killed by signal 9");
}

TEST(PlanChange, KeepsWhatIsTheSameAndChangesTheRest) {
  const std::vector<VersionKey> served{{1, "f32", "a"}, {2, "f32", "b"}, {3, "f32", "c"}};
  const std::vector<VersionKey> wanted{{2, "f32", "b"}, {3, "f32", "changed"}, {4, "f32", "d"}};
  const ChangePlan plan = plan_change(served, wanted);
  EXPECT_EQ(plan.keep, (std::vector<std::size_t>{1}));
  EXPECT_EQ(plan.retire, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(plan.load, (std::vector<std::size_t>{1, 2}));
}

TEST(PlanChange, TakesAnotherPrecisionForAnotherBuild) {
  const ChangePlan plan = plan_change(std::vector<VersionKey>{{1, "f32", "a"}},
                                      std::vector<VersionKey>{{1, "bf16", "a"}});
  EXPECT_EQ(plan.retire.size(), 1U);
  EXPECT_EQ(plan.load.size(), 1U);
}

TEST(PlanChange, NeverTakesAnUnknownBuildForTheSame) {
  const std::vector<VersionKey> unknown{{1, "f32", ""}};
  const ChangePlan plan = plan_change(unknown, unknown);
  EXPECT_TRUE(plan.keep.empty());
  EXPECT_EQ(plan.load.size(), 1U);
}

}  // namespace
}  // namespace corelane::service
