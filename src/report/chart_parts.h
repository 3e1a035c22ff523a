#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/report.h"

namespace corelane::report {

// Pieces of Vega-Lite specifications that the charts share.

using Json = nlohmann::ordered_json;

/// Of the charts that stand two beside each other.
inline constexpr int kSmallHeight = 220;

/// How a line of the charts looks: the precision is its colour, the lanes its shape and dashes.
struct SeriesLook {
  std::string name;    // "bf16, 2 lanes of 1 core"
  std::string colour;  // "var(--p1)", of web/report.css
  std::string shape;   // one of Vega's: "circle", "square", ...
  std::vector<int> dash;
};

/// The lines of a workload, in the order of its points.
std::vector<SeriesLook> series_of(const Workload& workload);

/// Ends of an axis.
struct Span {
  double low = 1;
  double high = 1;
};

/// One point as a row of a chart's data; with "id", a click finds its experiment in the table.
Json point_values(const Workload& workload, std::size_t index);

/// Encodings of the quantities. An empty title leaves the axis without.
Json rate_channel();
Json p95_channel(const std::string& title, const Span& span);
Json usd_channel();
Json along_channel(Axis axis);

/// Lines and dots in the looks of the workload's series over the chart's data.
Json line_layer(const Workload& workload, const Json& x, const Json& y);
Json dot_layer(const Workload& workload, const Json& x, const Json& y);

/// A whole specification, without data.
Json spec_of(Json layers, int height);

}  // namespace corelane::report
