#include "base/clock.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/testing/manual_clock.h"
#include "base/units.h"

namespace corelane {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(SystemClock, NeverGoesBack) {
  const SystemClock clock;
  Nanos last = clock.now();
  for (int i = 0; i < 1000; ++i) {
    const Nanos now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(SystemClock, SleepsUntilATimeAndNotFromIt) {
  const SystemClock clock;
  const Nanos until = clock.now() + milliseconds(2);
  clock.sleep_until(until);
  EXPECT_GE(clock.now(), until);
  const Nanos before = clock.now();
  clock.sleep_until(before - seconds(3600));
  EXPECT_LT(clock.now() - before, seconds(1800));
}

TEST(SystemClock, KnowsTheDate) {
  // 2026-01-01 and 2100-01-01
  EXPECT_GT(SystemClock().since_epoch(), seconds(1'767'225'600));
  EXPECT_LT(SystemClock().since_epoch(), seconds(4'102'444'800));
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock;
  EXPECT_EQ(clock.now(), Nanos(0));
  clock.advance(seconds(5));
  EXPECT_EQ(clock.now(), seconds(5));
  clock.sleep_until(seconds(9));
  EXPECT_EQ(clock.now(), seconds(9));
  EXPECT_EQ(clock.since_epoch(), seconds(9));
}

TEST(Seconds, GoToNanosAndBack) {
  EXPECT_EQ(from_seconds(1.5), milliseconds(1500));
  EXPECT_DOUBLE_EQ(to_seconds(milliseconds(1500)), 1.5);
  EXPECT_DOUBLE_EQ(to_millis(Nanos(1'250'000)), 1.25);
}

}  // namespace
}  // namespace corelane
