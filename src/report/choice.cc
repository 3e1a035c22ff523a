#include "report/choice.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <tuple>
#include <vector>

#include "bench/result.h"
#include "report/curve.h"
#include "report/study.h"

namespace corelane::report {
namespace {

/// f32 before others, then the smallest batch, then the plan that was measured first, then the
/// least concurrency.
std::size_t start_of(const std::vector<Point>& points) {
  const auto order = [](const Point& point) {
    const bench::Experiment& e = point.result.experiment;
    return std::tuple(e.precision != "f32", e.batch, point.result.started_at, e.lanes,
                      e.concurrency);
  };
  const auto first = std::ranges::min_element(points, {}, order);
  const auto same_plan = [&](const Point& point) {
    const bench::Experiment& e = point.result.experiment;
    return std::tuple(e.precision != "f32", e.batch, e.lanes != first->result.experiment.lanes,
                      e.concurrency);
  };
  return static_cast<std::size_t>(
      std::distance(points.begin(), std::ranges::min_element(points, {}, same_plan)));
}

std::size_t lowest_p95(const std::vector<Sample>& samples) {
  return static_cast<std::size_t>(
      std::distance(samples.begin(), std::ranges::min_element(samples, {}, &Sample::p95)));
}

}  // namespace

std::optional<Choice> choose(const Workload& workload, std::optional<double> p95_limit) {
  const std::vector<Sample> samples = samples_of(workload.points);
  if (samples.empty()) {
    return std::nullopt;
  }
  Choice choice;
  choice.cheapest = *cheapest(samples);
  choice.knee = *knee(samples);
  choice.start = start_of(workload.points);
  choice.chosen = choice.knee;
  choice.inside = samples.size();
  if (!p95_limit) {
    return choice;
  }
  std::vector<Sample> inside;
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].p95 <= *p95_limit) {
      inside.push_back(samples[i]);
      index.push_back(i);
    }
  }
  choice.inside = inside.size();
  const auto best = cheapest(inside);
  choice.reason = best ? ChoiceReason::kCheapestInLimit : ChoiceReason::kNothingInLimit;
  choice.chosen = best ? index[*best] : lowest_p95(samples);
  return choice;
}

double times_cheaper(const Point& point, const Point& other) {
  return point.result.items_per_second / other.result.items_per_second;
}

}  // namespace corelane::report
