#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/report.h"
#include "report/table.h"

namespace corelane::report {

/// The published study's table with full precision on one side and each other precision on the
/// other, one row a workload and batch: throughput, P95, dollars per million, cost-benefit (how
/// many times cheaper the other is). Each cell is the cheapest configuration over lanes and
/// concurrency. No rows where nothing was measured in two precisions.
Table precision_table(const Study& study);

/// How much cheaper a precision is than f32 at one batch.
struct PrecisionPair {
  std::int64_t batch = 1;
  std::string precision;
  double times_cheaper = 1;
};

/// By batch, then precision. Empty where f32 stands alone or is missing.
std::vector<PrecisionPair> precision_pairs(const Workload& workload);

/// The published study's table: here against another machine, one row a workload, batch and
/// precision that both have. Cost-benefit is how many times cheaper here is; there is none without
/// a price on both sides.
Table comparison_table(const Study& here, const Study& there);

enum class Detail {
  kBrief,  // what a reader sees first: the best along the axis and what the answer speaks of
  kFull,   // every valid point, every figure
};

/// The points of report.study.workloads[workload], and what each is to the answer.
Table points_table(const Report& report, std::size_t workload, Detail detail);

/// The few points that an answer speaks of, with how many times cheaper each is than the start.
Table answer_table(const Report& report, std::size_t workload);

std::vector<std::size_t> all_points(const Workload& workload);

/// What was measured and does not count, or was left out, with the reasons.
Table not_counted_table(const Study& study);

/// What a point is to the answer: "choice", "knee", "cheapest", "start". Empty for most.
std::vector<std::string> roles_of(const Answer& answer, std::size_t point);

}  // namespace corelane::report
