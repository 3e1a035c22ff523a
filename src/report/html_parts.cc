#include "report/html_parts.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/chart_parts.h"
#include "report/charts.h"
#include "report/table.h"

namespace corelane::report {
namespace {

/// Longer tables can be sorted.
constexpr std::size_t kReadAtAGlance = 4;

std::string label_of(const Column& column) {
  return column.group.empty() ? column.title : column.group + ": " + column.title;
}

std::string heading_cell(const Column& column, std::size_t index, int rows) {
  return fmt::format("<th scope=\"col\"{}{} data-column=\"{}\" data-name=\"{}\">{}</th>",
                     column.align == Align::kRight ? " class=\"number\"" : "",
                     rows > 1 ? fmt::format(" rowspan=\"{}\"", rows) : "", index,
                     html_escaped(label_of(column)), html_escaped(column.title));
}

/// One row of headings, or two where columns have a group over them.
std::string headings(const Table& table) {
  std::string groups;
  std::string below;
  for (std::size_t c = 0; c < table.columns.size();) {
    const std::string& group = table.columns[c].group;
    if (group.empty()) {
      groups += heading_cell(table.columns[c], c, 2);
      ++c;
      continue;
    }
    const std::size_t first = c;
    for (; c < table.columns.size() && table.columns[c].group == group; ++c) {
      below += heading_cell(table.columns[c], c, 1);
    }
    groups += fmt::format("<th scope=\"colgroup\" class=\"group\" colspan=\"{}\">{}</th>",
                          c - first, html_escaped(group));
  }
  if (below.empty()) {
    groups.clear();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      groups += heading_cell(table.columns[c], c, 1);
    }
  }
  const std::string second = below.empty() ? "" : "<tr>" + below + "</tr>";
  return "<thead><tr>" + groups + "</tr>" + second + "</thead>";
}

std::string_view class_of(Mark mark) {
  switch (mark) {
    case Mark::kChosen:
      return "chosen";
    case Mark::kNamed:
      return "named";
    case Mark::kOutside:
      return "outside";
    case Mark::kNone:
      break;
  }
  return "";
}

std::string body_cell(const Cell& cell, const Column& column) {
  std::string classes = column.align == Align::kRight ? "number" : "wide";
  classes += cell.text.empty() ? " empty" : "";
  return fmt::format(
      "<td class=\"{}\" data-label=\"{}\"{}>{}</td>", classes, html_escaped(label_of(column)),
      cell.number ? fmt::format(" data-sort=\"{}\"", *cell.number) : "", html_escaped(cell.text));
}

/// The mark of a series in the middle of its line, as Vega draws it.
std::string shape_of(const SeriesLook& look) {
  if (look.shape == "circle") {
    return fmt::format("<circle cx=\"19\" cy=\"7\" r=\"4.5\" fill=\"{}\"/>", look.colour);
  }
  std::string_view path = "M15 3h8v8h-8z";
  if (look.shape == "triangle-up") {
    path = "M19 2l5 9h-10z";
  } else if (look.shape == "diamond") {
    path = "M19 1l4.5 6-4.5 6-4.5-6z";
  } else if (look.shape == "cross") {
    path = "M17.5 2h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z";
  }
  return fmt::format("<path d=\"{}\" fill=\"{}\"/>", path, look.colour);
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_table(const Table& table, RowIds ids) {
  const bool sortable = table.rows.size() > kReadAtAGlance;
  std::string out =
      fmt::format("<table{}>{}<tbody>\n", sortable ? " class=\"sortable\"" : "", headings(table));
  for (const Row& row : table.rows) {
    out += "<tr";
    if (!class_of(row.mark).empty()) {
      out += fmt::format(" class=\"{}\"", class_of(row.mark));
    }
    if (ids == RowIds::kOfExperiments && !row.id.empty()) {
      out += fmt::format(" id=\"x-{}\"", html_escaped(row.id));
    }
    out += ">";
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      out += body_cell(row.cells[c], table.columns[c]);
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

std::string html_chart(const Chart& chart) {
  std::string spec;
  for (const char c : chart.spec) {
    spec += c == '<' ? "\\u003c" : std::string(1, c);  // so that nothing in it ends the script
  }
  return fmt::format(
      "<figure{}><figcaption><b>{}</b><span>{}</span></figcaption>"
      "<div class=\"chart\" id=\"{}\" role=\"img\" aria-label=\"{}\"></div>"
      "<script type=\"application/json\" class=\"spec\" data-chart=\"{}\">{}</script></figure>\n",
      chart.wide ? " class=\"wide\"" : "", html_escaped(chart.title),
      html_escaped(chart.description), chart.id, html_escaped(chart.title), chart.id, spec);
}

std::string html_legend(const std::vector<SeriesLook>& series) {
  std::string out = "<ul class=\"legend\">\n";
  for (const SeriesLook& look : series) {
    out += fmt::format(
        "<li><svg width=\"38\" height=\"14\" viewBox=\"0 0 38 14\" aria-hidden=\"true\">"
        "<path d=\"M0 7H38\" stroke=\"{0}\" stroke-width=\"2\" stroke-dasharray=\"{1}\"/>{2}</svg>"
        "{3}</li>\n",
        look.colour, fmt::join(look.dash, " "), shape_of(look), html_escaped(look.name));
  }
  return out + "</ul>\n";
}

}  // namespace corelane::report
