#pragma once

#include <cstddef>
#include <optional>

#include "report/study.h"

namespace corelane::report {

enum class ChoiceReason {
  kKnee,             // no limit was asked for
  kCheapestInLimit,  // the cheapest of those whose P95 is inside the limit
  kNothingInLimit,   // a limit was asked for and no configuration holds it
};

/// What to choose for a workload. Indices of workload.points.
struct Choice {
  ChoiceReason reason = ChoiceReason::kKnee;
  std::size_t chosen = 0;    // under kNothingInLimit: the lowest P95 there is
  std::size_t cheapest = 0;  // whatever its latency
  std::size_t knee = 0;
  std::size_t start = 0;   // where one begins: f32, smallest batch, first lane plan measured
  std::size_t inside = 0;  // how many points are inside the limit; all without one
};

/// `p95_limit` in milliseconds. Nothing where the workload has no valid point.
std::optional<Choice> choose(const Workload& workload, std::optional<double> p95_limit);

/// How many times cheaper `point` is than `other` on the same machine: the ratio of their
/// throughputs, whatever the machine costs.
double times_cheaper(const Point& point, const Point& other);

}  // namespace corelane::report
