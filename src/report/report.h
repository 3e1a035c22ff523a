#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/choice.h"
#include "report/study.h"

namespace corelane::report {

/// The answer for one workload.
struct Answer {
  std::optional<Choice> choice;  // nothing where no point is valid
  std::string sentence;          // which configuration is cheapest, and by how much
  std::string why;               // what to choose, and why
};

/// What every sink shows. Pure data: the same report gives the same bytes.
struct Report {
  Study study;
  std::optional<Study> against;
  std::optional<double> p95_limit;  // milliseconds
  std::vector<Answer> answers;      // one a workload of study, in that order
  std::string made_at;              // "2026-11-30T22:40Z"
  std::string made_by;              // "corelane 0.1.0"
  std::string command;              // makes this report again
  std::vector<std::string> notes;   // what a reader must know: no price, cores unlike the price's
};

struct ReportOptions {
  std::optional<double> p95_limit = {};
  std::string made_at = {};
  std::string made_by = {};
  std::string command = {};
};

/// kInvalidArgument where both sides have prices of different bases.
Result<Report> make_report(Study study, std::optional<Study> against, ReportOptions options);

/// Whether every workload has a configuration inside the limit; true without a limit.
bool limit_holds(const Report& report);

}  // namespace corelane::report
