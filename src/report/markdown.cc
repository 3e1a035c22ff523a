#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "report/facts.h"
#include "report/report.h"
#include "report/sinks.h"
#include "report/study.h"
#include "report/table.h"
#include "report/tables.h"

namespace corelane::report {
namespace {

/// What would end a cell or start markup is escaped.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("|\\`*_<>[]").find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string heading_of(const Column& column) {
  return column.group.empty() ? column.title : column.group + ": " + column.title;
}

std::string table_of(const Table& table) {
  std::string out = "|";
  std::string rule = "|";
  for (const Column& column : table.columns) {
    out += " " + escaped(heading_of(column)) + " |";
    rule += column.align == Align::kRight ? " --: |" : " --- |";
  }
  out += "\n" + rule + "\n";
  for (const Row& row : table.rows) {
    const std::string_view strong = row.mark == Mark::kChosen ? "**" : "";
    out += "|";
    for (const Cell& cell : row.cells) {
      out +=
          cell.text.empty() ? "  |" : fmt::format(" {}{}{} |", strong, escaped(cell.text), strong);
    }
    out += "\n";
  }
  return out;
}

}  // namespace

std::string to_markdown(const Report& report) {
  std::string out = "# What serving costs on this machine\n";
  for (std::size_t w = 0; w < report.study.workloads.size(); ++w) {
    const Answer& answer = report.answers[w];
    out += fmt::format("\n## {}\n\n**{}** {}\n", escaped(title_of(report.study.workloads[w])),
                       escaped(answer.sentence), escaped(answer.why));
    if (answer.choice) {
      out += "\n" + table_of(points_table(report, w, Detail::kBrief));
    }
  }
  for (const Table& table : side_tables(report)) {
    out += fmt::format("\n## {}\n\n{}{}", escaped(table.title), escaped(table.note),
                       table.note.empty() ? "" : "\n\n");
    out += table_of(table);
  }
  out += "\n## Machine and prices\n\n";
  for (const Fact& fact : facts_of(report)) {
    out += fmt::format("- {}: {}\n", escaped(fact.name), escaped(fact.text));
  }
  return out;
}

}  // namespace corelane::report
