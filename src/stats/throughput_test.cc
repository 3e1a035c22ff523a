#include "stats/throughput.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <random>
#include <vector>

#include "base/units.h"

namespace corelane::stats {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// One client that always has one request of `items` under way, each lasting what `last` says.
template <typename Last>
std::vector<Work> back_to_back(Nanos from, Nanos until, double items, Last last) {
  std::vector<Work> work;
  while (from < until) {
    const Nanos to = from + last(from);
    work.push_back({.from = from, .to = to, .items = items});
    from = to;
  }
  return work;
}

TEST(Throughput, OfASteadyClientIsItemsOverDurationWhateverTheEdgesCut) {
  const auto work =
      back_to_back(Nanos(0), seconds(60), 32, [](Nanos) { return milliseconds(3500); });
  for (const int cut : {0, 100, 1700, 3400}) {
    const Throughput result = throughput(work, seconds(7) + milliseconds(cut), seconds(38));
    EXPECT_NEAR(result.per_second, 32 / 3.5, 1e-9);
    ASSERT_TRUE(result.interval);
    EXPECT_NEAR(result.interval->high - result.interval->low, 0, 1e-6);
    EXPECT_FALSE(result.drift);
  }
}

TEST(Throughput, OfSeveralClientsAddsUp) {
  auto work = back_to_back(Nanos(0), seconds(20), 1, [](Nanos) { return milliseconds(100); });
  const auto other =
      back_to_back(milliseconds(-37), seconds(20), 1, [](Nanos) { return milliseconds(250); });
  work.insert(work.end(), other.begin(), other.end());
  EXPECT_NEAR(throughput(work, seconds(2), seconds(12)).per_second, 14, 1e-9);
}

TEST(Throughput, CountsNothingForFailedRequests) {
  auto work = back_to_back(Nanos(0), seconds(10), 1, [](Nanos) { return milliseconds(100); });
  for (Work& each : work) {
    each.items = 0;
  }
  EXPECT_EQ(throughput(work, seconds(1), seconds(9)).per_second, 0);
}

TEST(Throughput, HasNoIntervalWhenRequestsAreAsLongAsTheWindow) {
  const auto work = back_to_back(Nanos(0), seconds(20), 8, [](Nanos) { return seconds(4); });
  const Throughput result = throughput(work, seconds(4), seconds(12));
  EXPECT_NEAR(result.per_second, 2, 1e-9);
  EXPECT_FALSE(result.interval);
}

TEST(Throughput, CoversTheTruthAboutAsOftenAsItSays) {
  std::mt19937_64 random(7);
  int covered = 0;
  const int trials = 400;
  for (int trial = 0; trial < trials; ++trial) {
    std::exponential_distribution<double> last(20.0);  // mean 50 ms
    const auto work = back_to_back(Nanos(0), seconds(14), 1,
                                   [&](Nanos) { return from_seconds(0.01 + last(random)); });
    const Throughput result = throughput(work, seconds(2), seconds(12));
    ASSERT_TRUE(result.interval);
    const double truth = 1 / 0.06;
    covered += result.interval->low <= truth && truth <= result.interval->high ? 1 : 0;
  }
  EXPECT_GT(covered, trials * 90 / 100);
  EXPECT_LT(covered, trials * 99 / 100);
}

TEST(Throughput, SeesADriftBetweenTheHalves) {
  const auto slower = back_to_back(Nanos(0), seconds(20), 1, [](Nanos at) {
    return at < seconds(10) ? milliseconds(50) : milliseconds(100);
  });
  const Throughput result = throughput(slower, Nanos(0), seconds(20));
  ASSERT_TRUE(result.drift);
  EXPECT_NEAR(*result.drift, -0.5, 0.01);
}

TEST(Throughput, DoesNotTakeNoiseForADrift) {
  std::mt19937_64 random(3);
  std::uniform_int_distribution<int> last(40, 160);
  int drifts = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const auto work =
        back_to_back(Nanos(0), seconds(20), 1, [&](Nanos) { return milliseconds(last(random)); });
    drifts += throughput(work, Nanos(0), seconds(20)).drift ? 1 : 0;
  }
  EXPECT_LE(drifts, 5);
}

TEST(SliceRates, LoseNothing) {
  const auto work = back_to_back(milliseconds(-130), seconds(11), 3, [](Nanos at) {
    return milliseconds(70 + (at.count() / 1000000) % 90);
  });
  const auto rates = slice_rates(work, Nanos(0), seconds(10), 10);
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  const auto whole = slice_rates(work, Nanos(0), seconds(10), 1);
  EXPECT_NEAR(sum, whole.front() * 10, 1e-6);
}

TEST(SliceRates, CountARequestThatTookNoTimeOnce) {
  const std::vector<Work> work = {{.from = seconds(3), .to = seconds(3), .items = 5}};
  EXPECT_EQ(slice_rates(work, Nanos(0), seconds(4), 4), (std::vector<double>{0, 0, 0, 5}));
}

}  // namespace
}  // namespace corelane::stats
