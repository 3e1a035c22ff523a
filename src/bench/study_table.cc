#include "bench/study_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/units.h"
#include "bench/experiments.h"
#include "bench/result.h"

namespace corelane::bench {
namespace {

/// "128" or "tokens 128, width lengths.txt" where there are several.
std::string shape_text(const Experiment& experiment) {
  if (experiment.shape.size() == 1) return experiment.shape.begin()->second;
  std::string text;
  for (const auto& [name, size] : experiment.shape) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, size);
  }
  return text;
}

/// Three significant digits, without an exponent.
std::string figure(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  if (value >= 10) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

std::string rate(const ExperimentResult& result) {
  const double half = (result.items_per_second_high - result.items_per_second_low) / 2;
  if (half <= 0) return figure(result.items_per_second);
  return fmt::format("{} ±{}", figure(result.items_per_second), figure(half));
}

/// Pads by what is seen: "±" is two bytes and one column.
std::string right(const std::string& text, std::size_t width) {
  const auto seen = static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
  return std::string(width > seen ? width - seen : 0, ' ') + text;
}

constexpr std::size_t kRateWidth = 14;

}  // namespace

TableColumns columns_for(std::span<const PlannedExperiment> list) {
  TableColumns columns;
  for (const PlannedExperiment& planned : list) {
    const Experiment& experiment = planned.experiment;
    columns.model = std::max(columns.model, experiment.model.size());
    columns.shape = std::max(columns.shape, shape_text(experiment).size());
    columns.lanes = std::max(columns.lanes, experiment.lanes.size());
  }
  if (columns.shape > 0) columns.shape = std::max<std::size_t>(columns.shape, 5);
  if (columns.lanes > 0) columns.lanes = std::max<std::size_t>(columns.lanes, 5);
  return columns;
}

std::string table_head(const TableColumns& columns) {
  std::string head = fmt::format("{:<{}}  {:<5}  {:>5}", "model", columns.model, "prec", "batch");
  if (columns.shape > 0) head += fmt::format("  {:>{}}", "shape", columns.shape);
  if (columns.lanes > 0) head += fmt::format("  {:<{}}", "lanes", columns.lanes);
  head +=
      fmt::format("  {:>4}  {:>{}}  {:>7}  {:>5}", "conc", "items/s", kRateWidth, "P95 ms", "busy");
  if (columns.price) head += fmt::format("  {:>7}", "$/M");
  return head + "  verdict";
}

std::string table_row(const ExperimentResult& result, const TableColumns& columns) {
  const Experiment& experiment = result.experiment;
  std::string row =
      fmt::format("{:<{}}  {:<5}  {:>5}", experiment.model, columns.model,
                  experiment.precision.empty() ? "-" : experiment.precision, experiment.batch);
  if (columns.shape > 0) row += fmt::format("  {:>{}}", shape_text(experiment), columns.shape);
  if (columns.lanes > 0) row += fmt::format("  {:<{}}", experiment.lanes, columns.lanes);
  const std::string busy =
      result.lane_busy > 0 ? fmt::format("{:.0f} %", 100 * result.lane_busy) : "-";
  row += fmt::format("  {:>4}  {}  {:>7}  {:>5}", experiment.concurrency,
                     right(rate(result), kRateWidth), figure(result.latency.p95), busy);
  if (columns.price) {
    const double a_million = columns.price->value / (result.items_per_second * 3600) * 1e6;
    row += fmt::format("  {:>7}", result.items_per_second > 0 ? figure(a_million) : "-");
  }
  return row + "  " + verdict_of(result, columns.slo_p95);
}

std::string short_name(const Experiment& experiment) {
  std::string name =
      fmt::format("{} {} batch {}", experiment.model, experiment.precision, experiment.batch);
  if (const std::string shape = shape_text(experiment); !shape.empty()) name += " at " + shape;
  if (!experiment.lanes.empty()) name += " on " + experiment.lanes;
  return name + fmt::format(" x {}", experiment.concurrency);
}

bool within_slo(const ExperimentResult& result, const std::optional<Nanos>& slo_p95) {
  return !slo_p95 || result.latency.p95 <= to_millis(*slo_p95);
}

std::string verdict_of(const ExperimentResult& result, const std::optional<Nanos>& slo_p95) {
  if (!result.valid) return "not valid: " + result.invalid_because.front();
  return within_slo(result, slo_p95) ? "valid" : "valid, over SLO";
}

}  // namespace corelane::bench
