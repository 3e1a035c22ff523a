#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/facts.h"
#include "report/report.h"
#include "report/study.h"
#include "report/table.h"
#include "report/tables.h"

namespace corelane::report {
namespace {

constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kDim = "\033[2m";
constexpr std::string_view kGreen = "\033[32m";
constexpr std::string_view kPlain = "\033[0m";
constexpr std::size_t kWrapAt = 100;

std::string styled(std::string_view style, std::string_view text, Colours colours) {
  return colours == Colours::kAnsi ? fmt::format("{}{}{}", style, text, kPlain) : std::string(text);
}

/// Characters of a UTF-8 text: bytes that do not continue one. All of ours are one column wide.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string padded(std::string_view text, std::size_t width, Align align) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return align == Align::kRight ? space + std::string(text) : std::string(text) + space;
}

std::string wrapped(std::string_view text, std::string_view indent) {
  std::string out(indent);
  std::size_t column = indent.size();
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t to = std::min(text.find(' ', from), text.size());
    const std::string_view word = text.substr(from, to - from);
    if (column > indent.size() && column + 1 + width_of(word) > kWrapAt) {
      out += "\n" + std::string(indent);
      column = indent.size();
    } else if (column > indent.size()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width_of(word);
    from = to + 1;
  }
  return out + "\n";
}

std::vector<std::size_t> column_widths(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = width_of(table.columns[c].title);
    for (const Row& row : table.rows) {
      width = std::max(width, width_of(row.cells[c].text));
    }
    widths.push_back(width);
  }
  return widths;
}

/// How many columns from `first` on share its group.
std::size_t group_length(const Table& table, std::size_t first) {
  std::size_t last = first + 1;
  while (last < table.columns.size() && !table.columns[first].group.empty() &&
         table.columns[last].group == table.columns[first].group) {
    ++last;
  }
  return last - first;
}

/// Makes columns under a group's heading wide enough for it.
void widen_for_groups(const Table& table, std::vector<std::size_t>& widths) {
  for (std::size_t c = 0; c < table.columns.size();) {
    const std::size_t length = group_length(table, c);
    std::size_t width = 2 * (length - 1);
    for (std::size_t i = c; i < c + length; ++i) {
      width += widths[i];
    }
    const std::size_t needed = width_of(table.columns[c].group);
    widths[c] += needed > width ? needed - width : 0;
    c += length;
  }
}

std::string group_line(const Table& table, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t c = 0; c < table.columns.size();) {
    const std::size_t length = group_length(table, c);
    std::size_t width = 2 * (length - 1);
    for (std::size_t i = c; i < c + length; ++i) {
      width += widths[i];
    }
    line += "  " + padded(table.columns[c].group, width, Align::kRight);
    c += length;
  }
  return line;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string_view style_of(Mark mark) {
  switch (mark) {
    case Mark::kChosen:
      return kGreen;
    case Mark::kOutside:
      return kDim;
    case Mark::kNamed:
    case Mark::kNone:
      break;
  }
  return "";
}

std::string machine_block(const Report& report, Colours colours) {
  std::string out = styled(kBold, "Machine and prices", colours) + "\n";
  const std::vector<Fact> facts = facts_of(report);
  std::size_t width = 0;
  for (const Fact& fact : facts) width = std::max(width, fact.name.size() + 2);
  for (const Fact& fact : facts) {
    out += wrapped(fmt::format("{:<{}}{}", fact.name, width, fact.text), "  ");
  }
  return out;
}

}  // namespace

std::string layout(const Table& table, Colours colours) {
  std::vector<std::size_t> widths = column_widths(table);
  widen_for_groups(table, widths);
  std::string out;
  const bool grouped = std::ranges::any_of(
      table.columns, [](const Column& column) { return !column.group.empty(); });
  if (grouped) {
    out += trimmed(styled(kDim, group_line(table, widths), colours));
  }
  std::string titles;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    titles += "  " + padded(table.columns[c].title, widths[c], table.columns[c].align);
  }
  out += trimmed(styled(kDim, titles, colours));
  for (const Row& row : table.rows) {
    std::string line = row.mark == Mark::kChosen ? "> " : "  ";
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      line += (c > 0 ? "  " : "") + padded(row.cells[c].text, widths[c], table.columns[c].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += (style_of(row.mark).empty() ? line : styled(style_of(row.mark), line, colours)) + "\n";
  }
  return out;
}

std::string to_text(const Report& report, Colours colours) {
  std::string out;
  for (std::size_t w = 0; w < report.study.workloads.size(); ++w) {
    const Answer& answer = report.answers[w];
    out += styled(kBold, title_of(report.study.workloads[w]), colours) + "\n";
    out += wrapped(answer.sentence, "  ") + wrapped(answer.why, "  ");
    if (answer.choice) {
      out += "\n" + layout(points_table(report, w, Detail::kBrief), colours);
    }
    out += "\n";
  }
  for (const Table& table : side_tables(report)) {
    out += styled(kBold, table.title, colours) + "\n";
    out += (table.note.empty() ? "" : wrapped(table.note, "  ")) + layout(table, colours) + "\n";
  }
  return out + machine_block(report, colours);
}

}  // namespace corelane::report
