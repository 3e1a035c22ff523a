#pragma once

#include <string>

#include "report/report.h"
#include "report/table.h"

namespace corelane::report {

enum class Colours { kNone, kAnsi };

/// For a terminal: the answers, the tables, machine and price, what does not count.
std::string to_text(const Report& report, Colours colours);

/// One table in columns as wide as their widest cell; the chosen row is marked and, with colours,
/// stands out.
std::string layout(const Table& table, Colours colours);

}  // namespace corelane::report
