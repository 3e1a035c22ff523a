#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/units.h"
#include "bench/experiments.h"
#include "bench/result.h"

namespace corelane::bench {

/// Which columns the table of a study has, and how wide they are.
struct TableColumns {
  std::size_t model = 5;
  std::size_t shape = 0;  // 0: no such column
  std::size_t lanes = 0;
  std::optional<Nanos> slo_p95;
  std::optional<UsdPerHour> price;  // none: no cost column
};

/// Columns that everything of the list fits.
TableColumns columns_for(std::span<const PlannedExperiment> list);

std::string table_head(const TableColumns& columns);
/// "bert-base  f32      8  cpu:0|cpu:1     2     9.0 ±0.1     224   98 %   2.75  valid"
std::string table_row(const ExperimentResult& result, const TableColumns& columns);

/// What stands in front of a row's figures, in one line: "bert-base f32 batch 8 cpu:0-1 x 2".
std::string short_name(const Experiment& experiment);

/// "valid", "valid, over SLO" or "not valid: " and the first reason.
std::string verdict_of(const ExperimentResult& result, const std::optional<Nanos>& slo_p95);
bool within_slo(const ExperimentResult& result, const std::optional<Nanos>& slo_p95);

}  // namespace corelane::bench
