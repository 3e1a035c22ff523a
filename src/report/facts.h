#pragma once

#include <string>
#include <vector>

#include "report/report.h"
#include "report/table.h"

namespace corelane::report {

struct Fact {
  std::string name;
  std::string text;
};

/// What the figures hold for: machine, versions, price with basis, region, source and date, notes,
/// how to make the report again.
std::vector<Fact> facts_of(const Report& report);

/// The tables after the workloads' own: full against mixed, the other machine, what does not count.
/// Empty ones are left out.
std::vector<Table> side_tables(const Report& report);

}  // namespace corelane::report
