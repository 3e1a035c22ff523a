#include "report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "report/choice.h"
#include "report/report.h"
#include "report/study.h"
#include "report/table.h"
#include "report/words.h"

namespace corelane::report {
namespace {

Cell text(std::string words) { return {.text = std::move(words)}; }

Cell whole(std::int64_t value) {
  return {.text = std::to_string(value), .number = static_cast<double>(value)};
}

Cell figure_cell(double value) { return {.text = figure(value), .number = value}; }

/// 0 stands for "not known" in results.
Cell known(double value, std::string words) {
  return value > 0 ? Cell{.text = std::move(words), .number = value} : text("–");
}

Cell usd_cell(const std::optional<Usd>& amount) {
  return amount ? Cell{.text = usd(*amount), .number = amount->value} : text("–");
}

Cell millis_cell(double value) {
  return {.text = value < 9.95 ? fmt::format("{:.2g}", value) : figure(value), .number = value};
}

std::string verdict(const Report& report, std::size_t workload, std::size_t index) {
  const Workload& w = report.study.workloads[workload];
  const auto roles = roles_of(report.answers[workload], index);
  std::string words = fmt::format("{}", fmt::join(roles, ", "));
  if (report.p95_limit && w.points[index].result.latency.p95 > *report.p95_limit) {
    words += (words.empty() ? "over P95 " : ", over P95 ") + millis(*report.p95_limit);
  }
  return words;
}

Mark mark_of(const Report& report, std::size_t workload, std::size_t index) {
  const auto roles = roles_of(report.answers[workload], index);
  if (!roles.empty()) {
    return roles.front() == "choice" ? Mark::kChosen : Mark::kNamed;
  }
  const Point& point = report.study.workloads[workload].points[index];
  const bool over = report.p95_limit && point.result.latency.p95 > *report.p95_limit;
  return over ? Mark::kOutside : Mark::kNone;
}

std::vector<Column> points_columns(bool priced, Detail detail) {
  std::vector<Column> columns = {{.title = "Precision", .align = Align::kLeft},
                                 {.title = "Batch"},
                                 {.title = "Lanes", .align = Align::kLeft},
                                 {.title = "At a time"},
                                 {.title = "Items/s"},
                                 {.title = "P95 ms"}};
  if (priced) {
    columns.push_back({.title = "$ per million"});
  }
  if (detail == Detail::kFull) {
    for (const char* title : {"P50 ms", "P99 ms", "Busy", "Memory"}) {
      columns.push_back({.title = title});
    }
  }
  columns.push_back({.title = "Verdict", .align = Align::kLeft});
  return columns;
}

Row points_row(const Report& report, std::size_t workload, std::size_t index, Detail detail) {
  const Point& point = report.study.workloads[workload].points[index];
  const bench::ExperimentResult& r = point.result;
  const double half_width = (r.items_per_second_high - r.items_per_second_low) / 2;
  Row row{.cells = {text(precision_in_words(r.experiment.precision)),
                    whole(r.experiment.batch),
                    text(r.experiment.lanes),
                    whole(r.experiment.concurrency),
                    {.text = with_half_width(r.items_per_second, half_width),
                     .number = r.items_per_second},
                    millis_cell(r.latency.p95)},
          .id = r.id,
          .mark = mark_of(report, workload, index)};
  if (report.study.price) {
    row.cells.push_back(usd_cell(point.per_million));
  }
  if (detail == Detail::kFull) {
    row.cells.insert(row.cells.end(),
                     {millis_cell(r.latency.p50), millis_cell(r.latency.p99),
                      known(r.lane_busy, percent(r.lane_busy)),
                      known(static_cast<double>(r.memory_bytes), size({r.memory_bytes}))});
  }
  row.cells.push_back(text(verdict(report, workload, index)));
  return row;
}

/// "2.1 times cheaper", nothing for the start itself.
std::string against_start(const Point& point, const Point& start) {
  const double ratio = times_cheaper(point, start);
  if (&point == &start) {
    return "–";
  }
  return ratio >= 1 ? times(ratio) + " cheaper" : times(1 / ratio) + " dearer";
}

std::string why_not(const bench::ExperimentResult& result) {
  return result.invalid_because.empty()
             ? "marked invalid without a reason"
             : fmt::format("{}", fmt::join(result.invalid_because, "; "));
}

/// Without repetition, what to choose first.
std::vector<std::size_t> points_of_answer(const Answer& answer) {
  std::vector<std::size_t> points;
  if (const auto& choice = answer.choice) {
    for (const std::size_t index :
         {choice->chosen, choice->cheapest, choice->knee, choice->start}) {
      if (std::ranges::find(points, index) == points.end()) {
        points.push_back(index);
      }
    }
  }
  return points;
}

/// The best along the axis, and every point that the answer speaks of.
std::vector<std::size_t> points_worth_showing(const Report& report, std::size_t workload) {
  const Workload& shown_workload = report.study.workloads[workload];
  const auto best = best_along(shown_workload, axis_of(shown_workload));
  std::set<std::size_t> shown(best.begin(), best.end());
  if (const auto& choice = report.answers[workload].choice) {
    shown.insert({choice->chosen, choice->knee, choice->cheapest, choice->start});
  }
  return {shown.begin(), shown.end()};
}

}  // namespace

std::vector<std::string> roles_of(const Answer& answer, std::size_t point) {
  std::vector<std::string> roles;
  if (!answer.choice) {
    return roles;
  }
  const Choice& choice = *answer.choice;
  if (point == choice.chosen && choice.reason != ChoiceReason::kNothingInLimit) {
    roles.emplace_back("choice");
  }
  if (point == choice.chosen && choice.reason == ChoiceReason::kNothingInLimit) {
    roles.emplace_back("nearest");
  }
  if (point == choice.knee) {
    roles.emplace_back("knee");
  }
  if (point == choice.cheapest) {
    roles.emplace_back("cheapest");
  }
  if (point == choice.start) {
    roles.emplace_back("start");
  }
  return roles;
}

std::vector<std::size_t> all_points(const Workload& workload) {
  std::vector<std::size_t> indices(workload.points.size());
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

Table points_table(const Report& report, std::size_t workload, Detail detail) {
  const Workload& shown = report.study.workloads[workload];
  Table table{.title = title_of(shown),
              .note = {},
              .columns = points_columns(report.study.price.has_value(), detail),
              .rows = {}};
  const auto indices =
      detail == Detail::kFull ? all_points(shown) : points_worth_showing(report, workload);
  for (const std::size_t index : indices) {
    table.rows.push_back(points_row(report, workload, index, detail));
  }
  return table;
}

Table answer_table(const Report& report, std::size_t workload) {
  const Workload& w = report.study.workloads[workload];
  const Answer& answer = report.answers[workload];
  const bool priced = report.study.price.has_value();
  Table table{.title = {},
              .note = {},
              .columns = {{.title = "", .align = Align::kLeft},
                          {.title = "Configuration", .align = Align::kLeft},
                          {.title = "Items/s"},
                          {.title = "P95"}},
              .rows = {}};
  if (priced) {
    table.columns.push_back({.title = "Per million"});
  }
  table.columns.push_back({.title = "Against the start"});
  for (const std::size_t index : points_of_answer(answer)) {
    const Point& point = w.points[index];
    Row row{.cells = {text(fmt::format("{}", fmt::join(roles_of(answer, index), ", "))),
                      text(describe(point.result.experiment)),
                      figure_cell(point.result.items_per_second),
                      {.text = millis(point.result.latency.p95)}},
            .mark = mark_of(report, workload, index)};
    if (priced) {
      row.cells.push_back(usd_cell(point.per_million));
    }
    row.cells.push_back(text(against_start(point, w.points[answer.choice->start])));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table not_counted_table(const Study& study) {
  Table table{.title = "Not counted",
              .note = {},
              .columns = {{.title = "Measurement", .align = Align::kLeft},
                          {.title = "Why", .align = Align::kLeft},
                          {.title = "Id", .align = Align::kLeft}},
              .rows = {}};
  for (const Workload& workload : study.workloads) {
    for (const Point& point : workload.invalid) {
      const bench::ExperimentResult& r = point.result;
      table.rows.push_back({.cells = {text(title_of(workload) + ", " + describe(r.experiment)),
                                      text(why_not(r)), text(r.id)},
                            .id = r.id});
    }
  }
  for (const LeftOut& left_out : study.left_out) {
    table.rows.push_back(
        {.cells = {text(left_out.what), text(left_out.why), text(left_out.id)}, .id = left_out.id});
  }
  return table;
}

}  // namespace corelane::report
