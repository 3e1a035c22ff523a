#pragma once

#include <optional>

#include "report/report.h"

namespace corelane::report {

/// The answer for a workload in words. With a price it speaks of dollars, without one of
/// throughput; on one machine both say the same.
Answer answer_for(const Workload& workload, std::optional<double> p95_limit);

}  // namespace corelane::report
