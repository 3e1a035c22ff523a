#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "load/inputs.h"
#include "load/phases.h"

namespace corelane::bench {

/// Sizes of a dimension: one, or a file of them.
struct Sizes {
  std::string label;                // "128" or "lengths.txt"
  std::vector<std::int64_t> sizes;  // what the label stands for

  friend bool operator==(const Sizes&, const Sizes&) = default;
};

struct ModelChoice {
  std::string name;
  std::optional<std::int64_t> version;  // none: the newest

  friend bool operator==(const ModelChoice&, const ModelChoice&) = default;
};

/// Every combination of these lists is measured. What an empty list means stands in the page.
struct Grid {
  std::vector<std::string> models;  // of the study's, by name; empty: all
  std::vector<std::int64_t> batch = {1};
  std::vector<std::string> precision;     // empty: all that a model has
  std::vector<std::string> lanes;         // empty: "auto"
  std::vector<std::int64_t> concurrency;  // empty: one client for each lane
  std::map<std::string, std::vector<Sizes>> dimensions;
};

/// What a study measures. docs/formats/study.md is its page.
struct Plan {
  std::string study;
  std::vector<ModelChoice> models;
  std::string target = "lanes";  // or "http://host:port"
  bool json_tensors = false;     // of an HTTP target; else binary
  std::vector<Grid> grids = {Grid{}};
  std::map<std::string, load::ValueRange> values;  // [inputs]
  load::LoadLimits limits;
  std::int64_t seed = 1;
  std::optional<Nanos> slo_p95;
  std::string instance;  // a name in the price list; "" without
  std::optional<UsdPerHour> usd_per_hour;
};

inline constexpr std::string_view kLanesTarget = "lanes";

/// Errors name `where`, the line and the field. Files of lengths are looked for in `folder`.
Result<Plan> parse_plan(std::string_view toml, const std::string& where,
                        const std::filesystem::path& folder);
Result<Plan> read_plan(const std::filesystem::path& file);

/// A file of lengths: one positive number a line; empty lines and what follows # are passed over.
/// Errors name the line.
Result<std::vector<std::int64_t>> parse_lengths(std::string_view text, const std::string& where);

/// A study that suits a model of which nothing more is known, as the text of a plan.
struct DefaultPlan {
  std::string model;  // "minilm" or "minilm@2"
  std::string target = std::string(kLanesTarget);
  bool quick = false;
};
std::string write_default_plan(const DefaultPlan& wanted);

}  // namespace corelane::bench
