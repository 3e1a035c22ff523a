#include "stats/throughput.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "stats/distribution.h"

namespace corelane::stats {
namespace {

constexpr std::size_t kMaxSlices = 20;
constexpr std::size_t kMinSlices = 3;        // for an interval
constexpr std::size_t kMinSlicesOfHalf = 3;  // for a drift
constexpr double kDriftNoise = 3;            // standard errors

/// Student's t, 97.5 %, for 1 to 20 degrees of freedom.
constexpr std::array<double, kMaxSlices> kStudent = {
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};

struct Moments {
  double mean = 0;
  double variance = 0;  // of a value, with n - 1
};

Moments moments(std::span<const double> values) {
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  const double squares = std::accumulate(
      values.begin(), values.end(), 0.0,
      [mean](double sum, double value) { return sum + (value - mean) * (value - mean); });
  return {.mean = mean, .variance = n > 1 ? squares / (n - 1) : 0};
}

std::size_t slices_for(std::span<const Work> work, Nanos opened, Nanos closed) {
  std::vector<double> durations;
  for (const Work& each : work) {
    if (each.to > opened && each.from < closed) {
      durations.push_back(to_seconds(each.to - each.from));
    }
  }
  if (durations.empty()) {
    return 1;
  }
  const double longest = std::max(summarise(std::move(durations)).p95, 1e-9);
  const double fit = to_seconds(closed - opened) / longest;
  return static_cast<std::size_t>(std::clamp(fit, 1.0, static_cast<double>(kMaxSlices)));
}

std::optional<Interval> interval_of(std::span<const double> rates) {
  if (rates.size() < kMinSlices) {
    return std::nullopt;
  }
  const Moments all = moments(rates);
  const double half =
      kStudent[rates.size() - 2] * std::sqrt(all.variance / static_cast<double>(rates.size()));
  return Interval{.low = std::max(0.0, all.mean - half), .high = all.mean + half};
}

std::optional<double> drift_of(std::span<const double> rates) {
  const std::size_t half = rates.size() / 2;
  if (half < kMinSlicesOfHalf) {
    return std::nullopt;
  }
  const Moments first = moments(rates.first(half));
  const Moments second = moments(rates.last(half));
  const double error = std::sqrt((first.variance + second.variance) / static_cast<double>(half));
  const double change = second.mean - first.mean;
  if (first.mean <= 0 || std::abs(change) <= kDriftNoise * error) {
    return std::nullopt;
  }
  return change / first.mean;
}

}  // namespace

std::vector<double> slice_rates(std::span<const Work> work, Nanos opened, Nanos closed,
                                std::size_t slices) {
  check(slices > 0 && opened < closed, "a window has a length and slices");
  const double length = to_seconds(closed - opened) / static_cast<double>(slices);
  std::vector<double> rates(slices, 0.0);
  for (const Work& each : work) {
    // In slices from the window's opening.
    const double from = to_seconds(each.from - opened) / length;
    const double to = to_seconds(each.to - opened) / length;
    const auto last = static_cast<double>(slices);
    if (each.items == 0 || to < 0 || from >= last || (to == 0 && from < 0)) {
      continue;
    }
    const auto begin = static_cast<std::size_t>(std::max(from, 0.0));
    for (std::size_t i = begin; i < slices && static_cast<double>(i) <= to; ++i) {
      const double inside =
          std::min(to, static_cast<double>(i) + 1) - std::max(from, static_cast<double>(i));
      const double share = to > from ? inside / (to - from) : 1.0;
      rates[i] += each.items * share / length;
      if (to <= from) {
        break;
      }
    }
  }
  return rates;
}

Throughput throughput(std::span<const Work> work, Nanos opened, Nanos closed) {
  const std::vector<double> rates =
      slice_rates(work, opened, closed, slices_for(work, opened, closed));
  return {
      .per_second = moments(rates).mean, .interval = interval_of(rates), .drift = drift_of(rates)};
}

}  // namespace corelane::stats
