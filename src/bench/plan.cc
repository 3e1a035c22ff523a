#include "bench/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/duration.h"
#include "base/result.h"
#include "base/units.h"
#include "load/phases.h"
#include "model/manifest.h"
#include "model/toml_reader.h"

namespace corelane::bench {
namespace {

constexpr std::array<std::string_view, 5> kGridFields = {"models", "batch", "precision", "lanes",
                                                         "concurrency"};

using model::Fields;
using model::Problem;

Result<std::string> read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return errno_error("reading " + file.string(), errno);
  }
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

Nanos duration(Fields& fields, std::string_view key, Nanos otherwise) {
  const std::string text = fields.text(key);
  if (text.empty()) {
    return otherwise;
  }
  const auto parsed = parse_duration(text);
  if (!parsed) {
    fields.broken(key, fmt::format("{}: {}", key, parsed.error().message));
  }
  return parsed ? *parsed : otherwise;
}

/// More clients than any machine that runs this could feed; each is a thread with its own buffers.
constexpr std::int64_t kMostClients = 4096;
/// Beyond what any model takes at once.
constexpr std::int64_t kLargestBatch = 65'536;

std::vector<std::int64_t> positive_integers(Fields& fields, std::string_view key,
                                            std::int64_t largest) {
  std::vector<std::int64_t> values = fields.integers(key);
  for (const std::int64_t value : values) {
    if (value < 1) {
      fields.broken(key, fmt::format("{} must be at least 1, not {}", key, value));
    } else if (value > largest) {
      fields.broken(key, fmt::format("{} must be at most {}, not {}", key, largest, value));
    }
  }
  return values;
}

ModelChoice parse_model(const std::string& text, Fields& study) {
  ModelChoice choice{.name = text, .version = {}};
  if (const auto at = text.find('@'); at != std::string::npos) {
    choice.name = text.substr(0, at);
    std::int64_t version = 0;
    const char* const end = text.data() + text.size();
    const auto [after, fault] = std::from_chars(text.data() + at + 1, end, version);
    if (fault != std::errc() || after != end || version < 1) {
      study.broken("models", fmt::format("models: '{}' must end in a version such as @2", text));
    }
    choice.version = version;
  }
  if (!model::is_model_name(choice.name)) {
    study.broken("models", fmt::format("models: '{}' is no name of a model", text));
  }
  return choice;
}

void parse_study(const toml::table& table, Plan& plan, Problem& problem) {
  Fields study(table, "[study]", problem);
  plan.study = study.required_text("name");
  if (!plan.study.empty() && !model::is_model_name(plan.study)) {
    study.broken("name", "name becomes a folder: use A-Z a-z 0-9 . _ - only");
  }
  for (const std::string& text : study.texts("models")) {
    plan.models.push_back(parse_model(text, study));
  }
  if (plan.models.empty()) {
    study.broken("models", "models must name at least one model");
  }
  plan.target = study.text("target", std::string(kLanesTarget));
  if (plan.target != kLanesTarget && !plan.target.starts_with("http://")) {
    study.broken(
        "target",
        fmt::format("target must be \"lanes\" or \"http://host:port\", not \"{}\"", plan.target));
  }
  const std::string tensors = study.text("tensors", "binary");
  if (tensors != "binary" && tensors != "json") {
    study.broken("tensors", "tensors must be \"binary\" or \"json\"");
  }
  plan.json_tensors = tensors == "json";
  study.no_others();
}

Sizes parse_sizes(const toml::node& node, const std::string& key, Fields& grid,
                  const std::filesystem::path& folder) {
  if (const auto* size = node.as_integer()) {
    if (size->get() < 1) {
      grid.broken(key, fmt::format("{} must be at least 1, not {}", key, size->get()));
    }
    return {.label = std::to_string(size->get()), .sizes = {size->get()}};
  }
  const auto* file = node.as_string();
  if (file == nullptr) {
    grid.broken(key, fmt::format("{} must be a list of sizes and of files of sizes", key));
    return {};
  }
  Sizes sizes{.label = file->get(), .sizes = {}};
  const std::filesystem::path name = sizes.label;
  if (name.is_absolute() || std::find(name.begin(), name.end(), "..") != name.end()) {
    grid.broken(key, fmt::format("{}: '{}' must lie in the plan's folder", key, sizes.label));
    return sizes;
  }
  auto text = read_text(folder / sizes.label);
  auto lengths = text ? parse_lengths(*text, sizes.label)
                      : Result<std::vector<std::int64_t>>(std::move(text).error());
  if (!lengths) {
    grid.broken(key, fmt::format("{}: {}", key, lengths.error().message));
    return sizes;
  }
  sizes.sizes = *std::move(lengths);
  return sizes;
}

Grid parse_grid(const toml::table& table, const Plan& plan, const std::filesystem::path& folder,
                Problem& problem) {
  Fields grid(table, "[grid]", problem);
  Grid parsed;
  parsed.models = grid.texts("models");
  for (const std::string& name : parsed.models) {
    if (std::none_of(plan.models.begin(), plan.models.end(),
                     [&](const ModelChoice& model) { return model.name == name; })) {
      grid.broken("models", fmt::format("models: '{}' is not one of the study's", name));
    }
  }
  if (auto batch = positive_integers(grid, "batch", kLargestBatch); !batch.empty()) {
    parsed.batch = std::move(batch);
  }
  parsed.precision = grid.texts("precision");
  parsed.lanes = grid.texts("lanes");
  parsed.concurrency = positive_integers(grid, "concurrency", kMostClients);
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (std::find(kGridFields.begin(), kGridFields.end(), name) != kGridFields.end()) {
      continue;
    }
    if (const toml::array* values = grid.array(name)) {
      for (const toml::node& value : *values) {
        parsed.dimensions[name].push_back(parse_sizes(value, name, grid, folder));
      }
    }
  }
  return parsed;
}

/// [grid], or [[grid]] several times.
void parse_grids(const toml::table& root, Plan& plan, const std::filesystem::path& folder,
                 Problem& problem) {
  const toml::node* node = root.get("grid");
  if (node == nullptr) return;
  plan.grids.clear();
  if (const toml::table* one = node->as_table()) {
    plan.grids.push_back(parse_grid(*one, plan, folder, problem));
  } else if (const toml::array* several = node->as_array()) {
    for (const toml::node& each : *several) {
      if (const toml::table* table = each.as_table()) {
        plan.grids.push_back(parse_grid(*table, plan, folder, problem));
      }
    }
  }
  if (plan.grids.empty()) {
    problem.report(node->source().begin.line, "grid must be a table: [grid], or several: [[grid]]");
  }
}

void parse_inputs(const toml::table& table, Plan& plan, Problem& problem) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (const auto constant = node.value<double>(); constant && node.is_number()) {
      plan.values[name] = {.low = *constant, .high = *constant};
      continue;
    }
    const toml::table* range = node.as_table();
    if (range == nullptr) {
      problem.report(
          node.source().begin.line,
          fmt::format("[inputs]: {} must be a number or {{ low = .., high = .. }}", name));
      continue;
    }
    Fields fields(*range, fmt::format("[inputs] {}", name), problem);
    plan.values[name] = {.low = fields.number("low", 0), .high = fields.number("high", 0)};
    if (plan.values[name].low > plan.values[name].high) {
      fields.broken("low", "low must not exceed high");
    }
    fields.no_others();
  }
}

void parse_load(const toml::table& table, Plan& plan, Problem& problem) {
  Fields load(table, "[load]", problem);
  if (load.text("kind", "closed") != "closed") {
    load.broken("kind", "kind must be \"closed\"");
  }
  load::LoadLimits& limits = plan.limits;
  limits.warmup = duration(load, "warmup", limits.warmup);
  limits.max_warmup = duration(load, "max_warmup", std::max(limits.max_warmup, limits.warmup));
  limits.window = duration(load, "window", limits.window);
  limits.min_requests = load.integer("min_requests", limits.min_requests);
  limits.max_window = duration(load, "max_window", std::max(limits.max_window, limits.window));
  plan.seed = load.integer("seed", plan.seed);
  if (limits.window <= Nanos(0) || limits.max_window < limits.window) {
    load.broken("window", "window must be longer than 0 and no longer than max_window");
  }
  if (limits.max_warmup < limits.warmup) {
    load.broken("warmup", "warmup must be no longer than max_warmup");
  }
  if (limits.min_requests < 1) {
    load.broken("min_requests", "min_requests must be at least 1");
  }
  load.no_others();
}

void parse_limits_and_price(Fields& root, Plan& plan, Problem& problem) {
  if (const toml::table* table = root.table("slo")) {
    Fields slo(*table, "[slo]", problem);
    if (const Nanos p95 = duration(slo, "p95", Nanos(0)); p95 > Nanos(0)) {
      plan.slo_p95 = p95;
    }
    slo.no_others();
  }
  if (const toml::table* table = root.table("price")) {
    Fields price(*table, "[price]", problem);
    plan.instance = price.text("instance");
    if (const double hour = price.number("usd_per_hour", 0); hour > 0) {
      plan.usd_per_hour = UsdPerHour{hour};
    }
    price.no_others();
  }
}

Plan parse_root(const toml::table& table, const std::filesystem::path& folder, Problem& problem) {
  Fields root(table, "", problem);
  Plan plan;
  if (const toml::table* study = root.table("study")) {
    parse_study(*study, plan, problem);
  } else {
    root.broken("study", "[study] with a name and models is missing");
  }
  root.known("grid");
  parse_grids(table, plan, folder, problem);
  if (const toml::table* inputs = root.table("inputs")) {
    parse_inputs(*inputs, plan, problem);
  }
  if (const toml::table* load = root.table("load")) {
    parse_load(*load, plan, problem);
  }
  parse_limits_and_price(root, plan, problem);
  root.no_others();
  return plan;
}

}  // namespace

Result<Plan> parse_plan(std::string_view toml, const std::string& where,
                        const std::filesystem::path& folder) {
  Problem problem(where);
  try {
    Plan plan = parse_root(toml::parse(toml, where), folder, problem);
    if (!problem.found()) {
      return plan;
    }
  } catch (const toml::parse_error& error) {
    problem.report(error.source().begin.line, std::string(error.description()));
  }
  return problem.error();
}

Result<Plan> read_plan(const std::filesystem::path& file) {
  auto text = read_text(file);
  if (!text) {
    return std::move(text).error();
  }
  return parse_plan(*text, file.string(), file.parent_path());
}

Result<std::vector<std::int64_t>> parse_lengths(std::string_view text, const std::string& where) {
  constexpr std::string_view kSpace = " \t\r";
  std::vector<std::int64_t> lengths;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    word = word.substr(0, word.find('#'));
    const std::size_t first = word.find_first_not_of(kSpace);
    if (first == std::string_view::npos) {
      continue;
    }
    word = word.substr(first, word.find_last_not_of(kSpace) - first + 1);
    std::int64_t length = 0;
    const auto [after, fault] = std::from_chars(word.data(), word.data() + word.size(), length);
    if (fault != std::errc() || after != word.data() + word.size() || length < 1) {
      return invalid_argument(fmt::format("{}:{}: '{}' is no length", where, line, word));
    }
    lengths.push_back(length);
  }
  if (lengths.empty()) {
    return invalid_argument(where + ": holds no lengths");
  }
  return lengths;
}

std::string write_default_plan(const DefaultPlan& wanted) {
  const std::string name = wanted.model.substr(0, wanted.model.find('@'));
  const bool lanes = wanted.target == kLanesTarget;
  return fmt::format(
      R"(# Written by `corelane bench {0}`. To change it: copy it, edit it and run `corelane bench` on it.
[study]
name = "{1}"
models = ["{0}"]
target = "{2}"

[grid]
batch = {3}
{4}
[load]
kind = "closed"
warmup = "{5}"
window = "{6}"
min_requests = {7}
)",
      wanted.model, name + (wanted.quick ? "-quick" : "") + (lanes ? "" : "-http"), wanted.target,
      wanted.quick ? "[1, 8]" : "[1, 4, 8, 16, 32]",
      lanes ? "lanes = [\"auto\", \"all\"]\n" : "concurrency = [1, 8]\n",
      wanted.quick ? "1s" : "2s", wanted.quick ? "2s" : "8s", wanted.quick ? 10 : 20);
}

}  // namespace corelane::bench
