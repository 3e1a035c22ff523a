#pragma once

#include <string>

#include "report/report.h"

namespace corelane::report {

// What other programs read. docs/formats/report.md is their page.

/// One line an experiment, those that do not count too, with a line of column names.
std::string to_csv(const Report& report);

/// Everything, figures as numbers.
std::string to_json(const Report& report);

/// The answers and the tables, for a pull request or a wiki.
std::string to_markdown(const Report& report);

}  // namespace corelane::report
