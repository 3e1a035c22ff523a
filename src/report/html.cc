#include "report/html.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "report/chart_parts.h"
#include "report/charts.h"
#include "report/facts.h"
#include "report/html_parts.h"
#include "report/page_assets.h"
#include "report/report.h"
#include "report/study.h"
#include "report/table.h"
#include "report/tables.h"

namespace corelane::report {
namespace {

std::string head(const Report& report) {
  // The policy keeps the promise that the page needs no network: a browser refuses any request.
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"{}\">\n<link rel=\"icon\" href=\"data:,\">\n"
      "<title>What serving costs: {}</title>\n<style>\n{}</style>\n</head>\n",
      html_escaped(report.made_by),
      html_escaped(fmt::format("{}", fmt::join(report.study.names, ", "))), page_style());
}

std::string fact_text(const Report& report, std::string_view name) {
  for (const Fact& fact : facts_of(report)) {
    if (fact.name == name) {
      return html_escaped(fact.text);
    }
  }
  return "";
}

std::string header(const Report& report) {
  return fmt::format(
      "<header>\n<h1>What serving costs on this machine</h1>\n"
      "<p class=\"muted small\">{}<br>Price: {}</p>\n</header>\n",
      fact_text(report, "machine"), fact_text(report, "price"));
}

std::string answers(const Report& report) {
  std::string out = "<section class=\"answers\" aria-label=\"Answers\">\n";
  for (std::size_t w = 0; w < report.answers.size(); ++w) {
    const Answer& answer = report.answers[w];
    out += fmt::format(
        "<article class=\"answer\">\n<h2>{}</h2>\n<p class=\"sentence\">{}</p>\n<p>{}</p>\n{}"
        "</article>\n",
        html_escaped(title_of(report.study.workloads[w])), html_escaped(answer.sentence),
        html_escaped(answer.why),
        answer.choice ? html_table(answer_table(report, w), RowIds::kNone) : "");
  }
  return out + "</section>\n";
}

std::string notes(const Report& report) {
  std::string out;
  for (const std::string& note : report.notes) {
    out += fmt::format("<p class=\"note\">{}</p>\n", html_escaped(note));
  }
  return out;
}

std::string workload_section(const Report& report, std::size_t w) {
  const Workload& workload = report.study.workloads[w];
  const auto charts = charts_of(report, w);
  if (charts.empty()) {
    return "";
  }
  std::string out = fmt::format("<section>\n<h2>{}</h2>\n{}<div class=\"grid\">\n",
                                html_escaped(title_of(workload)), html_legend(series_of(workload)));
  for (const Chart& chart : charts) {
    out += html_chart(chart);
  }
  return out + fmt::format(
                   "</div>\n<details><summary>All {} measurements of {}</summary>\n{}</details>\n"
                   "</section>\n",
                   workload.points.size(), html_escaped(title_of(workload)),
                   html_table(points_table(report, w, Detail::kFull), RowIds::kOfExperiments));
}

std::string side_section(const Table& table) {
  return fmt::format(
      "<section>\n<h2>{}</h2>\n{}{}</section>\n", html_escaped(table.title),
      table.note.empty() ? "" : "<p class=\"muted small\">" + html_escaped(table.note) + "</p>\n",
      html_table(table, RowIds::kNone));
}

std::string split_section(const Report& report) {
  std::string out;
  for (const Chart& chart : split_charts(report)) {
    out += "<section>\n<h2>" + html_escaped(chart.title) + "</h2>\n<div class=\"grid\">" +
           html_chart({.id = chart.id,
                       .title = {},
                       .description = chart.description,
                       .spec = chart.spec,
                       .wide = true}) +
           "</div>\n</section>\n";
  }
  return out;
}

std::string facts_section(const Report& report) {
  std::string out = "<section>\n<h2>Machine, versions, prices</h2>\n<dl>\n";
  for (const Fact& fact : facts_of(report)) {
    const bool command = fact.name == "again";
    out += fmt::format("<dt>{}</dt><dd>{}{}{}</dd>\n", html_escaped(fact.name),
                       command ? "<code>" : "", html_escaped(fact.text), command ? "</code>" : "");
  }
  return out + "</dl>\n</section>\n";
}

std::string scripts() {
  std::string out = "<script>\n/*\n" + std::string(vega_licence()) + "*/\n";
  for (const std::string_view library : {vega(), vega_lite(), vega_embed()}) {
    out += std::string(library) + "\n</script>\n<script>\n";
  }
  return out + std::string(page_script()) + "</script>\n";
}

}  // namespace

std::string to_html(const Report& report) {
  std::string out =
      head(report) + "<body>\n" + header(report) + "<main>\n" + answers(report) + notes(report);
  for (std::size_t w = 0; w < report.study.workloads.size(); ++w) {
    out += workload_section(report, w);
  }
  const std::string split = split_section(report);
  for (const Table& table : side_tables(report)) {
    out += side_section(table);
  }
  out += split + facts_section(report);
  out += fmt::format(
      "</main>\n<footer class=\"muted small\">Made by {} on {}. This page is one file "
      "and needs no network.</footer>\n",
      html_escaped(report.made_by), html_escaped(report.made_at));
  return out + scripts() + "</body>\n</html>\n";
}

}  // namespace corelane::report
