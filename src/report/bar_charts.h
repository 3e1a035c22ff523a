#pragma once

#include <cstddef>
#include <vector>

#include "report/charts.h"

namespace corelane::report {

/// How many times cheaper each other precision is than f32, by batch; nothing where f32 stands
/// alone. `number` makes the chart's id unique on the page.
std::vector<Chart> precision_charts(const Workload& workload, std::size_t number);

}  // namespace corelane::report
