// The two tables in the published study's layout: throughput, latency and cost of two sides, and
// how many times cheaper one is.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/choice.h"
#include "report/curve.h"
#include "report/study.h"
#include "report/table.h"
#include "report/tables.h"
#include "report/words.h"

namespace corelane::report {
namespace {

/// The cheapest points by batch and precision.
using Grid = std::map<std::int64_t, std::map<std::string, const Point*>>;

Grid grid_of(const Workload& workload) {
  std::map<std::pair<std::int64_t, std::string>, std::vector<const Point*>> groups;
  for (const Point& point : workload.points) {
    groups[{point.result.experiment.batch, point.result.experiment.precision}].push_back(&point);
  }
  Grid grid;
  for (const auto& [key, points] : groups) {
    std::vector<Sample> samples;
    for (const Point* point : points) {
      samples.push_back(sample_of(*point));
    }
    grid[key.first][key.second] = points[*cheapest(samples)];
  }
  return grid;
}

Cell plain(std::string words) { return {.text = std::move(words)}; }

Cell rate(const Point& point) {
  const double value = point.result.items_per_second;
  return {.text = figure(value), .number = value};
}

Cell p95(const Point& point) {
  const double value = point.result.latency.p95;
  return {.text = figure(value), .number = value};
}

Cell cost(const Point& point) {
  return point.per_million
             ? Cell{.text = usd(*point.per_million), .number = point.per_million->value}
             : plain("–");
}

Cell benefit(std::optional<double> ratio) {
  return ratio ? Cell{.text = fmt::format("{:.2f}", *ratio), .number = ratio} : plain("–");
}

struct Sides {
  std::string left;
  std::string right;
  std::string precision;  // title of a column that says which precision a row is of; "": no column
  bool priced = false;
};

std::vector<Column> layout(const Sides& sides) {
  std::vector<Column> columns = {{.title = "Model", .align = Align::kLeft}, {.title = "Batch"}};
  if (!sides.precision.empty()) {
    columns.push_back({.title = sides.precision, .align = Align::kLeft});
  }
  std::vector<std::string> groups = {"Throughput, items/s", "Latency, P95 ms"};
  if (sides.priced) {
    groups.emplace_back("$ per million");
  }
  for (const std::string& group : groups) {
    columns.push_back({.title = sides.left, .group = group});
    columns.push_back({.title = sides.right, .group = group});
  }
  columns.push_back({.title = "Cost-benefit"});
  return columns;
}

/// What a row compares.
struct Pair {
  const Workload& workload;
  std::int64_t batch;
  std::string precision;
  const Point& left;
  const Point& right;
  std::optional<double> benefit;
};

Row row_of(const Pair& pair, const Sides& sides) {
  Row row;
  row.cells = {plain(title_of(pair.workload)),
               {.text = std::to_string(pair.batch), .number = static_cast<double>(pair.batch)}};
  if (!sides.precision.empty()) {
    row.cells.push_back(plain(precision_in_words(pair.precision)));
  }
  row.cells.insert(row.cells.end(),
                   {rate(pair.left), rate(pair.right), p95(pair.left), p95(pair.right)});
  if (sides.priced) {
    row.cells.insert(row.cells.end(), {cost(pair.left), cost(pair.right)});
  }
  row.cells.push_back(benefit(pair.benefit));
  return row;
}

const Workload* same_work(const Study& study, const Workload& workload) {
  const auto found = std::ranges::find_if(study.workloads, [&](const Workload& other) {
    return title_of(other) == title_of(workload);
  });
  return found == study.workloads.end() ? nullptr : &*found;
}

std::string side_name(const Study& study, std::string_view otherwise) {
  return study.price && !study.price->instance.empty() ? study.price->instance
                                                       : std::string(otherwise);
}

std::optional<double> cost_ratio(const Point& here, const Point& there) {
  if (!here.per_million || !there.per_million) {
    return std::nullopt;
  }
  return there.per_million->value / here.per_million->value;
}

constexpr std::string_view kFull = "f32";

/// Precisions besides f32 that stand beside it somewhere.
std::set<std::string> compared_precisions(const Study& study) {
  std::set<std::string> others;
  for (const Workload& workload : study.workloads) {
    for (const PrecisionPair& pair : precision_pairs(workload)) {
      others.insert(pair.precision);
    }
  }
  return others;
}

Sides precision_sides(const Study& study) {
  const auto others = compared_precisions(study);
  Sides sides{.left = precision_in_words(kFull),
              .right = "that precision",
              .precision = "Against",
              .priced = study.price.has_value()};
  if (others.size() == 1) {
    sides.right = precision_in_words(*others.begin());
    sides.precision.clear();
  }
  return sides;
}

}  // namespace

Table precision_table(const Study& study) {
  const Sides sides = precision_sides(study);
  Table table{.title = "Full against mixed precision",
              .note =
                  "Each figure is of the cheapest lanes and concurrency. Cost-benefit: how many "
                  "times cheaper the lower precision is.",
              .columns = layout(sides),
              .rows = {}};
  for (const Workload& workload : study.workloads) {
    for (const auto& [batch, by_precision] : grid_of(workload)) {
      const auto full = by_precision.find(std::string(kFull));
      if (full == by_precision.end()) {
        continue;
      }
      for (const auto& [precision, other] : by_precision) {
        if (precision != kFull) {
          table.rows.push_back(row_of({workload, batch, precision, *full->second, *other,
                                       times_cheaper(*other, *full->second)},
                                      sides));
        }
      }
    }
  }
  return table;
}

std::vector<PrecisionPair> precision_pairs(const Workload& workload) {
  std::vector<PrecisionPair> pairs;
  for (const auto& [batch, by_precision] : grid_of(workload)) {
    const auto full = by_precision.find(std::string(kFull));
    for (const auto& [precision, point] : by_precision) {
      if (full != by_precision.end() && precision != kFull) {
        pairs.push_back({batch, precision, times_cheaper(*point, *full->second)});
      }
    }
  }
  return pairs;
}

Table comparison_table(const Study& here, const Study& there) {
  const Sides sides{.left = side_name(here, "here"),
                    .right = side_name(there, "there"),
                    .precision = "Precision",
                    .priced = here.price && there.price};
  Table table{.title = sides.left + " against " + sides.right,
              .note =
                  "Each figure is of the cheapest lanes and concurrency. Cost-benefit: how many "
                  "times cheaper the left side is.",
              .columns = layout(sides),
              .rows = {}};
  for (const Workload& workload : here.workloads) {
    const Workload* other = same_work(there, workload);
    if (other == nullptr) {
      continue;
    }
    Grid right = grid_of(*other);
    for (const auto& [batch, by_precision] : grid_of(workload)) {
      for (const auto& [precision, left] : by_precision) {
        const auto found = right[batch].find(precision);
        if (found != right[batch].end()) {
          table.rows.push_back(row_of({workload, batch, precision, *left, *found->second,
                                       cost_ratio(*left, *found->second)},
                                      sides));
        }
      }
    }
  }
  return table;
}

}  // namespace corelane::report
