// Counts this program's allocations: the measured path must not add to them.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/testing/allocations/count.h"
#include "base/testing/manual_clock.h"
#include "base/units.h"
#include "load/closed_loop.h"
#include "load/target.h"

namespace corelane::load {
namespace {

/// Remembers how many allocations its client's thread had made at each of two turns.
class CountingTarget final : public Target {
 public:
  static constexpr std::uint64_t kFirst = 100;
  static constexpr std::uint64_t kLast = 10'000;

  Result<Answer> send(std::uint64_t turn) override {
    if (turn == kFirst) {
      before_ = allocations_of_thread();
    }
    if (turn == kLast) {
      after_ = allocations_of_thread();
    }
    return Answer{.items = 1};
  }

  std::int64_t allocations() const { return after_ - before_; }
  bool reached_the_end() const { return after_ >= 0; }

 private:
  std::int64_t before_ = 0;
  std::int64_t after_ = -1;
};

TEST(ClosedLoop, DoesNotAllocateOnceItRuns) {
  ManualClock clock;
  CountingTarget a;
  CountingTarget b;
  std::vector<Target*> targets = {&a, &b};
  run_closed_loop(targets,
                  {.warmup = Nanos(0),
                   .max_warmup = Nanos(0),
                   .window = Nanos(0),
                   .min_requests = 500'000,
                   .max_window = std::chrono::hours(100'000)},
                  clock, [](const Progress&) { return true; });
  for (const CountingTarget* target : {&a, &b}) {
    ASSERT_TRUE(target->reached_the_end());
    EXPECT_EQ(target->allocations(), 0);
  }
}

}  // namespace
}  // namespace corelane::load
