#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/report.h"

namespace corelane::report {

/// A picture as a Vega-Lite specification. Colours are CSS variables of the page (web/report.css),
/// so that light, dark and print need no second drawing.
struct Chart {
  std::string id;  // unique on the page
  std::string title;
  std::string description;  // how to read it
  std::string spec;         // JSON
  bool wide = false;
};

/// Throughput against P95 with knee, choice and limit; throughput, P95 and dollars along the batch;
/// full against mixed precision. What has no data is left out.
std::vector<Chart> charts_of(const Report& report, std::size_t workload);

/// Where the time of a request goes, for the start and the choice of each workload. Nothing where
/// no result tells.
std::vector<Chart> split_charts(const Report& report);

}  // namespace corelane::report
