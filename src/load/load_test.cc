#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/testing/manual_clock.h"
#include "load/closed_loop.h"
#include "load/phases.h"
#include "load/sample.h"
#include "load/target.h"
#include "load/testing/fake_target.h"
#include "load/window.h"
#include "stats/distribution.h"

namespace corelane::load {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The clock is a manual one and jumps with each look: lets the clients keep up.
bool go_on(const Progress&) {
  std::this_thread::yield();
  return true;
}

constexpr LoadLimits kShort = {.warmup = milliseconds(100),
                               .max_warmup = seconds(5),
                               .window = milliseconds(200),
                               .min_requests = 50,
                               .max_window = std::chrono::hours(100'000)};

TEST(ClosedLoop, CountsAddUpAndNothingIsLostOrInvented) {
  ManualClock clock;
  FakeTarget a(4);
  FakeTarget b(4);
  std::vector<Target*> targets = {&a, &b};
  const LoadRun run = run_closed_loop(targets, kShort, clock, go_on);
  EXPECT_EQ(static_cast<std::int64_t>(run.samples.size()), a.sent() + b.sent());
  const Measurement measured = measure(run);
  EXPECT_TRUE(stats::adds_up(measured.counts));
  EXPECT_GE(measured.counts.ok, kShort.min_requests);
  EXPECT_EQ(measured.items, 4 * measured.counts.ok);
  EXPECT_EQ(measured.counts.failed, 0);
  EXPECT_EQ(run.first_error, "");
  EXPECT_FALSE(run.interrupted);
}

TEST(ClosedLoop, KeepsFailuresApartAndTheFirstError) {
  ManualClock clock;
  FakeTarget fake([](std::uint64_t turn) -> Result<Answer> {
    if (turn % 2 == 1) {
      return unavailable("queue full");
    }
    return Answer{.items = 1};
  });
  std::vector<Target*> targets = {&fake};
  const LoadRun run = run_closed_loop(targets, kShort, clock, go_on);
  const Measurement measured = measure(run);
  EXPECT_TRUE(stats::adds_up(measured.counts));
  EXPECT_NEAR(static_cast<double>(measured.counts.failed), static_cast<double>(measured.counts.ok),
              1.0);
  EXPECT_EQ(measured.items, measured.counts.ok);
  EXPECT_EQ(run.first_error, "queue full");
}

TEST(ClosedLoop, GivesUpOnATargetThatOnlyFails) {
  ManualClock clock;
  FakeTarget fake([](std::uint64_t) -> Result<Answer> { return io_error("refused"); });
  std::vector<Target*> targets = {&fake};
  const LoadRun run = run_closed_loop(
      targets, {.min_requests = 1'000'000'000, .max_window = std::chrono::hours(100'000)}, clock,
      go_on);
  EXPECT_EQ(run.first_error, "refused");
  EXPECT_LT(clock.now(), std::chrono::hours(100'000));
}

TEST(ClosedLoop, EndsWhenTheWatchSaysSo) {
  ManualClock clock;
  FakeTarget fake;
  std::vector<Target*> targets = {&fake};
  const LoadRun run = run_closed_loop(targets, kShort, clock, [](const Progress& progress) {
    return progress.elapsed < milliseconds(100);
  });
  EXPECT_TRUE(run.interrupted);
}

TEST(ClosedLoop, ClosesTheWindowAtItsLimitWithTooFewAnswers) {
  ManualClock clock;
  FakeTarget fake;
  std::vector<Target*> targets = {&fake};
  LoadLimits limits = kShort;
  limits.min_requests = std::int64_t{1} << 40;
  limits.max_window = milliseconds(400);
  const LoadRun run = run_closed_loop(targets, limits, clock, go_on);
  EXPECT_GE(run.closed - run.opened, milliseconds(400));
  EXPECT_LT(run.closed - run.opened, milliseconds(600));
}

Sample sample(Nanos sent, Nanos done, bool ok = true) {
  return {.scheduled = sent, .sent = sent, .done = done, .items = ok ? 2 : 0, .ok = ok};
}

TEST(Measure, TellsWhatHappenedAtTheEdgesOfTheWindow) {
  LoadRun run;
  run.opened = seconds(10);
  run.closed = seconds(20);
  run.samples = {
      sample(seconds(8), seconds(10)),          // ended with the warm-up
      sample(seconds(9), seconds(11)),          // sent before, answered within
      sample(seconds(11), seconds(13)),         // within
      sample(seconds(13), seconds(15), false),  // failed
      sample(seconds(19), seconds(21)),         // cut off
      sample(seconds(20), seconds(22)),         // after
  };
  const Measurement measured = measure(run);
  EXPECT_EQ(measured.warmup_requests, 1);
  EXPECT_EQ(measured.counts, (stats::Counts{.sent = 4, .ok = 2, .failed = 1, .unfinished = 1}));
  EXPECT_EQ(measured.items, 4);
  EXPECT_NEAR(measured.items_per_second.per_second, (1 + 2 + 1) / 10.0, 1e-12);
  EXPECT_EQ(measured.latency.max, 2000);
  EXPECT_TRUE(measured.split.empty());
}

TEST(Measure, CountsLatencyFromTheSchedule) {
  LoadRun run;
  run.closed = seconds(10);
  run.samples = {sample(seconds(2), seconds(3))};
  run.samples.front().scheduled = seconds(1);
  EXPECT_EQ(measure(run).latency.p50, 2000);
}

TEST(Measure, SplitsTheTimeWhereTheTargetTells) {
  LoadRun run;
  run.closed = seconds(10);
  run.samples = {sample(seconds(2), seconds(3)), sample(seconds(9), seconds(11))};
  run.samples[0].split = {.queue = milliseconds(100),
                          .compute = milliseconds(800),
                          .lane = milliseconds(900),
                          .known = true};
  run.samples[1].split = {.lane = seconds(2), .known = true};
  const Measurement measured = measure(run);
  EXPECT_EQ(measured.split.at("queue").p50, 100);
  EXPECT_EQ(measured.split.at("compute").p50, 800);
  EXPECT_NEAR(measured.lane_seconds, 0.9 + 1.0, 1e-9);
}

TEST(HasSettled, WaitsUntilLatenciesStopGettingShorter) {
  const std::vector<Nanos> falling = {seconds(10), seconds(5), seconds(3), seconds(2)};
  EXPECT_FALSE(has_settled(falling, 1));
  EXPECT_FALSE(has_settled(falling, 2));
  const std::vector<Nanos> flat = {seconds(10), seconds(3), seconds(3), seconds(3), seconds(3)};
  EXPECT_TRUE(has_settled(flat, 2));
  EXPECT_FALSE(has_settled(flat, 3)) << "too few to tell";
}

TEST(WarmedUp, NeedsTimeAndStabilityButNotForEver) {
  const LoadLimits limits = {.warmup = seconds(2), .max_warmup = seconds(20)};
  EXPECT_FALSE(warmed_up(limits, seconds(1), true));
  EXPECT_FALSE(warmed_up(limits, seconds(3), false));
  EXPECT_TRUE(warmed_up(limits, seconds(3), true));
  EXPECT_TRUE(warmed_up(limits, seconds(20), false));
}

TEST(MeasuredEnough, NeedsTimeAndAnswersButNotForEver) {
  const LoadLimits limits = {.window = seconds(10), .min_requests = 20, .max_window = seconds(60)};
  EXPECT_FALSE(measured_enough(limits, seconds(9), 1000));
  EXPECT_FALSE(measured_enough(limits, seconds(11), 19));
  EXPECT_TRUE(measured_enough(limits, seconds(11), 20));
  EXPECT_TRUE(measured_enough(limits, seconds(60), 0));
}

}  // namespace
}  // namespace corelane::load
