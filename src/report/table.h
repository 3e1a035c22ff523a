#pragma once

#include <optional>
#include <string>
#include <vector>

namespace corelane::report {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  std::string group;  // a heading over several columns next to each other; "" without
  Align align = Align::kRight;
};

struct Cell {
  std::string text;
  std::optional<double> number = {};  // what it sorts by; nothing: by its text
};

/// What a reader should notice about a row at once; the words stand in its cells.
enum class Mark {
  kNone,
  kChosen,
  kNamed,    // knee, cheapest, start
  kOutside,  // over the limit that was asked for
};

struct Row {
  std::vector<Cell> cells;  // as many as columns
  std::string id = {};      // of the result it shows; "" where it joins several
  Mark mark = Mark::kNone;
};

/// A table as data; text, Markdown and HTML lay it out.
struct Table {
  std::string title;
  std::string note;  // one sentence under the title; "" without
  std::vector<Column> columns;
  std::vector<Row> rows;
};

}  // namespace corelane::report
