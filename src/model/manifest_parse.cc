#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"
#include "model/toml_reader.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

// The format's page is docs/formats/manifest.md.

namespace corelane::model {
namespace {

constexpr std::int64_t kFormat = 1;

Dim parse_dim(const toml::node& node, Fields& fields) {
  if (const toml::value<std::int64_t>* size = node.as_integer()) {
    if (size->get() < 0) {
      fields.broken(
          "shape",
          fmt::format("shape: {} is no size; give a dimension that varies a name", size->get()));
    }
    return size->get();
  }
  if (const toml::value<std::string>* name = node.as_string(); name && !name->get().empty()) {
    return name->get();
  }
  fields.broken("shape", "shape must be a list of sizes and names of dimensions");
  return std::int64_t{0};
}

/// True where no part of the path leads out of the version's folder.
bool stays_inside(const std::string& file) {
  const std::filesystem::path path(file);
  return path.is_relative() &&
         std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
}

enum class Side { kInput, kOutput };

TensorSpec parse_tensor(const toml::table& table, Side side, Problem& problem) {
  const std::string_view kind = side == Side::kInput ? "input" : "output";
  TensorSpec spec;
  spec.name = Fields(table, std::string(kind), problem).required_text("name");
  Fields fields(table, fmt::format("{} '{}'", kind, spec.name), problem);
  fields.text("name");
  const std::string type = fields.required_text("type");
  if (const auto known = tensor::dtype_from_name(type)) {
    spec.type = *known;
  } else {
    fields.broken(
        "type", fmt::format("type '{}' is none of the protocol's (FP32, INT64, BYTES, ...)", type));
  }
  if (const toml::array* shape = fields.array("shape")) {
    for (const toml::node& node : *shape) {
      spec.shape.push_back(parse_dim(node, fields));
    }
  } else {
    fields.broken("shape", "shape is missing");
  }
  if (spec.shape.size() > tensor::kMaxRank) {
    fields.broken("shape", fmt::format("shape has {} dimensions, at most {} are possible",
                                       spec.shape.size(), tensor::kMaxRank));
  }
  if (side == Side::kInput) {
    spec.pad = fields.number("pad", 0);
    if (!std::isfinite(spec.pad)) {
      fields.broken("pad", "pad must be a finite number");
    }
  } else {
    spec.labels = fields.text("labels");
    if (!stays_inside(spec.labels)) {
      fields.broken("labels", "labels must be a path inside the version's folder");
    }
  }
  fields.no_others();
  return spec;
}

std::vector<TensorSpec> parse_tensors(Fields& root, std::string_view key, Side side,
                                      Problem& problem) {
  std::vector<TensorSpec> specs;
  std::set<std::string> names;
  for (const toml::table* table : root.tables(key)) {
    specs.push_back(parse_tensor(*table, side, problem));
    if (!names.insert(specs.back().name).second) {
      Fields(*table, std::string(key), problem)
          .broken("name", fmt::format("the name '{}' is used twice", specs.back().name));
    }
  }
  if (specs.empty()) {
    root.broken(key, fmt::format("there must be at least one [[{}]]", key));
  }
  return specs;
}

Dimension parse_dimension(const std::string& name, const toml::table& table, Problem& problem) {
  Fields fields(table, fmt::format("dimension '{}'", name), problem);
  const std::int64_t lowest = name == kBatch ? 1 : 0;
  Dimension dimension;
  dimension.min = fields.integer("min", 1);
  dimension.max = fields.integer("max", 0);
  dimension.buckets = fields.integers("buckets");
  if (dimension.min < lowest) {
    fields.broken("min", fmt::format("min must be at least {}", lowest));
  }
  if (dimension.max < 0 || (dimension.max != 0 && dimension.max < dimension.min)) {
    fields.broken("max", "max must be at least min, or 0 for no limit");
  }
  const auto& buckets = dimension.buckets;
  if (std::adjacent_find(buckets.begin(), buckets.end(), std::greater_equal<>()) != buckets.end()) {
    fields.broken("buckets", "buckets must ascend");
  }
  if (!buckets.empty() && (buckets.front() < std::max<std::int64_t>(dimension.min, 1) ||
                           dimension.max == 0 || buckets.back() != dimension.max)) {
    fields.broken("buckets", "buckets must begin at min or above it and end at max");
  }
  fields.no_others();
  return dimension;
}

std::set<std::string> dimension_names(const std::vector<TensorSpec>& tensors) {
  std::set<std::string> names;
  for (const TensorSpec& spec : tensors) {
    for (const Dim& dim : spec.shape) {
      if (const auto* name = std::get_if<std::string>(&dim)) {
        names.insert(*name);
      }
    }
  }
  return names;
}

void parse_dimensions(Fields& root, Manifest& manifest, Problem& problem) {
  std::set<std::string> used = dimension_names(manifest.inputs);
  used.merge(dimension_names(manifest.outputs));
  for (const std::string& name : used) {
    manifest.dimensions[name] = {};
  }
  if (const toml::table* dimensions = root.table("dimensions")) {
    for (const auto& [key, node] : *dimensions) {
      const std::string name(key.str());
      Fields fields(*dimensions, "dimensions", problem);
      if (!used.contains(name)) {
        fields.broken(name, fmt::format("no input or output has a dimension '{}'", name));
      } else if (!node.is_table()) {
        fields.broken(name, fmt::format("'{}' must be a table such as {{ max = 32 }}", name));
      } else {
        manifest.dimensions[name] = parse_dimension(name, *node.as_table(), problem);
      }
    }
  }
  if (used.contains(std::string(kBatch)) && manifest.dimensions[std::string(kBatch)].max == 0) {
    root.broken("dimensions", "the dimension 'batch' needs a max: batch = { max = 32 }");
  }
}

Accuracy parse_accuracy(const toml::table& table, const std::string& what, Problem& problem) {
  Fields fields(table, what + ": accuracy", problem);
  Accuracy accuracy;
  accuracy.measure = fields.required_text("measure");
  accuracy.value = fields.number("value", 0);
  accuracy.reference = fields.number("reference", 0);
  accuracy.on = fields.text("on");
  for (const std::string_view key : {"value", "reference"}) {
    if (!table.contains(key)) {
      fields.broken(key, fmt::format("{} is missing", key));
    }
  }
  if (!std::isfinite(accuracy.value) || !std::isfinite(accuracy.reference)) {
    fields.broken("value", "value and reference must be finite numbers");
  }
  fields.no_others();
  return accuracy;
}

std::string json_of(const toml::table& table) {
  std::ostringstream text;
  text << toml::json_formatter(table);
  return nlohmann::json::parse(text.str(), nullptr, false).dump();
}

Precision parse_precision(const std::string& name, const toml::table& table, Problem& problem) {
  const std::string what = fmt::format("precision '{}'", name);
  Fields fields(table, what, problem);
  Precision precision;
  precision.engine = fields.required_text("engine");
  precision.file = fields.text("file");
  if (!stays_inside(precision.file)) {
    fields.broken("file", "file must be a path inside the version's folder");
  }
  if (const toml::table* accuracy = fields.table("accuracy")) {
    precision.accuracy = parse_accuracy(*accuracy, what, problem);
  }
  if (const toml::table* options = fields.table("options")) {
    precision.options = json_of(*options);
  }
  fields.no_others();
  return precision;
}

void parse_precisions(Fields& root, Manifest& manifest, Problem& problem) {
  if (const toml::table* precisions = root.table("precision")) {
    for (const auto& [key, node] : *precisions) {
      const std::string name(key.str());
      if (const toml::table* table = node.as_table()) {
        manifest.precisions[name] = parse_precision(name, *table, problem);
      } else {
        Fields(*precisions, "precision", problem)
            .broken(name, fmt::format("'{}' must be a table with an engine", name));
      }
    }
  }
  if (manifest.precisions.empty()) {
    root.broken("precision", "there must be at least one [precision.NAME]");
  }
}

Coverage parse_coverage(const toml::table& table, Problem& problem) {
  Fields fields(table, "coverage", problem);
  Coverage coverage;
  coverage.engine = fields.text("engine");
  coverage.operators = fields.integer("operators", 0);
  coverage.operators_taken = fields.integer("operators_taken", 0);
  coverage.arithmetic = fields.integer("arithmetic", 0);
  coverage.arithmetic_taken = fields.integer("arithmetic_taken", 0);
  coverage.subgraphs = fields.integer("subgraphs", 0);
  coverage.not_taken = fields.texts("not_taken");
  if (coverage.operators_taken < 0 || coverage.operators_taken > coverage.operators) {
    fields.broken("operators_taken", "operators_taken must be from 0 to operators");
  }
  if (coverage.arithmetic_taken < 0 || coverage.arithmetic_taken > coverage.arithmetic) {
    fields.broken("arithmetic_taken", "arithmetic_taken must be from 0 to arithmetic");
  }
  fields.no_others();
  return coverage;
}

Size parse_size(const toml::table& table, Problem& problem) {
  Fields fields(table, "size", problem);
  Size size;
  size.parameters = fields.integer("parameters", 0);
  size.parameter_bytes = fields.integer("parameter_bytes", 0);
  size.flops = fields.number("flops", 0);
  size.shape = fields.text("shape");
  if (size.parameters < 0 || size.parameter_bytes < 0 || !(size.flops >= 0) ||
      !std::isfinite(size.flops)) {
    fields.broken("parameters", "parameters, parameter_bytes and flops must not be negative");
  }
  fields.no_others();
  return size;
}

/// Rows can only be cut apart again where the batch comes first everywhere.
void check_batch(const Manifest& manifest, Fields& root) {
  for (const auto* tensors : {&manifest.inputs, &manifest.outputs}) {
    for (const TensorSpec& spec : *tensors) {
      const Dim batch{std::string(kBatch)};
      const auto at = std::find(spec.shape.begin(), spec.shape.end(), batch);
      if (at != spec.shape.end() && at != spec.shape.begin()) {
        root.broken("", fmt::format("'{}': the dimension 'batch' can only come first", spec.name));
      }
      if (max_batch(manifest) > 0 && (spec.shape.empty() || spec.shape.front() != batch)) {
        root.broken(
            "", fmt::format("output '{}' must begin with 'batch', as the inputs do", spec.name));
      }
    }
  }
}

Manifest parse_root(const toml::table& table, Problem& problem) {
  Fields root(table, "", problem);
  Manifest manifest;
  if (const std::int64_t format = root.integer("format", kFormat); format != kFormat) {
    root.broken("format", fmt::format("format {} is not known to this corelane, which reads {}",
                                      format, kFormat));
  }
  manifest.name = root.required_text("name");
  if (!is_model_name(manifest.name)) {
    root.broken("name",
                "name must be 1 to 128 of A-Z a-z 0-9 . _ - and not begin with a full stop");
  }
  manifest.version = root.integer("version", 1);
  if (manifest.version < 1) {
    root.broken("version", "version must be at least 1");
  }
  manifest.task = root.text("task");
  manifest.load_at_start = root.boolean("load_at_start", true);
  manifest.inputs = parse_tensors(root, "input", Side::kInput, problem);
  manifest.outputs = parse_tensors(root, "output", Side::kOutput, problem);
  parse_dimensions(root, manifest, problem);
  check_batch(manifest, root);
  parse_precisions(root, manifest, problem);
  if (const toml::table* coverage = root.table("coverage")) {
    manifest.coverage = parse_coverage(*coverage, problem);
  }
  if (const toml::table* size = root.table("size")) {
    manifest.size = parse_size(*size, problem);
  }
  if (const toml::table* source = root.table("source")) {
    Fields fields(*source, "source", problem);
    manifest.source_sha256 = fields.text("sha256");
    manifest.source_options = fields.text("options");
    manifest.made_by = fields.text("made_by");
    fields.no_others();
  }
  root.no_others();
  return manifest;
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view toml, const std::string& where) {
  Problem problem(where);
  try {
    Manifest manifest = parse_root(toml::parse(toml, where), problem);
    if (!problem.found()) {
      return manifest;
    }
  } catch (const toml::parse_error& error) {
    problem.report(error.source().begin.line, std::string(error.description()));
  }
  return problem.error();
}

}  // namespace corelane::model
