#include "report/curve.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace corelane::report {
namespace {

/// Differences of scaled values below this are rounding.
constexpr double kRounding = 1e-9;

bool faster(const Sample& a, const Sample& b) {
  return a.p95 != b.p95 ? a.p95 < b.p95 : a.items_per_second > b.items_per_second;
}

double scaled(double value, double low, double high) {
  return high > low ? (value - low) / (high - low) : 0;
}

double throughput_for_latency(const Sample& sample) {
  return sample.items_per_second / std::max(sample.p95, kRounding);
}

}  // namespace

std::vector<std::size_t> pareto_front(std::span<const Sample> samples) {
  std::vector<std::size_t> by_latency(samples.size());
  std::iota(by_latency.begin(), by_latency.end(), 0);
  std::ranges::stable_sort(
      by_latency, [&](std::size_t a, std::size_t b) { return faster(samples[a], samples[b]); });
  std::vector<std::size_t> front;
  for (const std::size_t index : by_latency) {
    const double rate = samples[index].items_per_second;
    if (front.empty() || rate >= samples[front.back()].items_per_second * (1 + kNoise)) {
      front.push_back(index);
    }
  }
  return front;
}

std::optional<std::size_t> knee(std::span<const Sample> samples) {
  const auto front = pareto_front(samples);
  if (front.empty()) {
    return std::nullopt;
  }
  const Sample& first = samples[front.front()];
  const Sample& last = samples[front.back()];
  const auto above_line = [&](const Sample& sample) {
    return scaled(sample.items_per_second, first.items_per_second, last.items_per_second) -
           scaled(sample.p95, first.p95, last.p95);
  };
  return *std::ranges::max_element(front, [&](std::size_t a, std::size_t b) {
    const double difference = above_line(samples[b]) - above_line(samples[a]);
    return std::abs(difference) > kRounding
               ? difference > 0
               : throughput_for_latency(samples[a]) < throughput_for_latency(samples[b]);
  });
}

std::optional<std::size_t> cheapest(std::span<const Sample> samples) {
  if (samples.empty()) {
    return std::nullopt;
  }
  const double most = std::ranges::max(samples, {}, &Sample::items_per_second).items_per_second;
  std::optional<std::size_t> best;
  for (std::size_t index = 0; index < samples.size(); ++index) {
    const bool as_good = samples[index].items_per_second >= most * (1 - kNoise);
    if (as_good && (!best || faster(samples[index], samples[*best]))) {
      best = index;
    }
  }
  return best;
}

}  // namespace corelane::report
