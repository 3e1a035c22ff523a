#include "bench/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "load/window.h"

namespace corelane::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

load::Measurement good() {
  load::Measurement measured;
  measured.counts = {.sent = 101, .ok = 100, .failed = 0, .unfinished = 1};
  return measured;
}

TEST(ReasonsAgainst, FindsNoneInAGoodMeasurement) {
  EXPECT_THAT(
      reasons_against(
          good(),
          {.min_requests = 100, .concurrency = 2, .generator_cores = 0.1, .machine_cores = 2}),
      IsEmpty());
}

TEST(ReasonsAgainst, CountsRequests) {
  EXPECT_THAT(reasons_against(good(), {.min_requests = 101}),
              ElementsAre("only 100 requests were answered in the window, 101 were asked for"));
}

TEST(ReasonsAgainst, TellsOfFailures) {
  load::Measurement measured = good();
  measured.counts.failed = 3;
  EXPECT_THAT(reasons_against(measured, {.first_error = "queue full"}),
              ElementsAre("3 of 101 requests failed, the first with: queue full"));
}

TEST(ReasonsAgainst, WatchesTheGenerator) {
  EXPECT_THAT(
      reasons_against(good(), {.concurrency = 2, .generator_cores = 1.2}),
      ElementsAre("the load generator was the limit: its threads were busy 60 % of the time"));
  EXPECT_THAT(
      reasons_against(good(), {.concurrency = 8, .generator_cores = 0.8, .machine_cores = 2}),
      ElementsAre("the load generator took 0.80 of 2 cores from what it measured"));
  EXPECT_THAT(reasons_against(good(), {.concurrency = 8, .generator_cores = 0.8}), IsEmpty())
      << "a target elsewhere loses no cores";
}

TEST(ReasonsAgainst, SeesADriftOnceItIsLarge) {
  load::Measurement measured = good();
  measured.items_per_second.drift = -0.25;
  EXPECT_THAT(reasons_against(measured, {}),
              ElementsAre("the second half of the window was 25 % slower than the first"));
  measured.items_per_second.drift = 0.05;
  EXPECT_THAT(reasons_against(measured, {}), IsEmpty());
}

}  // namespace
}  // namespace corelane::bench
