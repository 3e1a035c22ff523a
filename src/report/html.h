#pragma once

#include <string>

#include "report/report.h"

namespace corelane::report {

/// One page with everything: answers, charts, tables, machine and prices. It carries its style,
/// scripts and libraries, and forbids itself any network.
std::string to_html(const Report& report);

}  // namespace corelane::report
