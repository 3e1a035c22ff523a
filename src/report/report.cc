#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "price/catalogue.h"
#include "report/choice.h"
#include "report/sentence.h"
#include "report/study.h"

namespace corelane::report {
namespace {

void note_price(const Study& study, std::vector<std::string>& notes) {
  if (!study.price) {
    notes.emplace_back(
        "No price was given, so nothing is in dollars: add --price INSTANCE --prices FILE, or "
        "--usd-per-hour X. What is cheaper, and by how many times, holds all the same.");
    return;
  }
  const price::Price& price = *study.price;
  if (price.vcpus > 0 && price.vcpus != study.machine.cores) {
    notes.push_back(fmt::format(
        "The price is of a machine with {} vCPUs; these figures were measured on {} cores.",
        price.vcpus, study.machine.cores));
  }
}

}  // namespace

Result<Report> make_report(Study study, std::optional<Study> against, ReportOptions options) {
  const bool both_priced = against && against->price && study.price;
  if (both_priced && !price::comparable(*study.price, *against->price)) {
    return invalid_argument(fmt::format(
        "prices of two bases never stand in one comparison: {} here, {} on the other side",
        study.price->basis, against->price->basis));
  }
  Report report;
  report.p95_limit = options.p95_limit;
  report.made_at = std::move(options.made_at);
  report.made_by = std::move(options.made_by);
  report.command = std::move(options.command);
  for (const Workload& workload : study.workloads) {
    report.answers.push_back(answer_for(workload, report.p95_limit));
  }
  note_price(study, report.notes);
  report.study = std::move(study);
  report.against = std::move(against);
  return report;
}

bool limit_holds(const Report& report) {
  return !report.p95_limit || std::ranges::all_of(report.answers, [](const Answer& answer) {
    return answer.choice && answer.choice->reason != ChoiceReason::kNothingInLimit;
  });
}

}  // namespace corelane::report
