#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/chart_parts.h"
#include "report/charts.h"
#include "report/table.h"

namespace corelane::report {

/// For text and for attribute values in double quotes.
std::string html_escaped(std::string_view text);

enum class RowIds { kNone, kOfExperiments };  // whether rows can be pointed at: id="x-<result id>"

/// A table that web/report.js makes sortable and web/report.css turns into cards on narrow pages.
std::string html_table(const Table& table, RowIds ids);

/// A figure with its specification beside it; web/report.js draws it.
std::string html_chart(const Chart& chart);

/// Names the lines of the charts.
std::string html_legend(const std::vector<SeriesLook>& series);

}  // namespace corelane::report
