#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "cli/compile_plan.h"
#include "model/manifest.h"
#include "tensor/dtype.h"

namespace corelane::cli {
namespace {

using nlohmann::json;

/// 30522 as "30,522".
std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::vector<model::TensorSpec> tensors_from(const json& values) {
  std::vector<model::TensorSpec> tensors;
  for (const json& value : values) {
    const std::string type = value.at("type");
    model::TensorSpec spec{.name = value.at("name"),
                           .type = tensor::dtype_from_name(type).value(),
                           .pad = value.value("pad", 0.0),
                           .labels = value.value("labels", "")};
    for (const json& dim : value.at("shape")) {
      spec.shape.push_back(dim.is_string() ? model::Dim(dim.get<std::string>())
                                           : model::Dim(dim.get<std::int64_t>()));
    }
    tensors.push_back(std::move(spec));
  }
  return tensors;
}

model::Coverage coverage_from(const json& value) {
  return {.engine = value.at("engine"),
          .operators = value.at("operators"),
          .operators_taken = value.at("operators_taken"),
          .arithmetic = value.at("arithmetic"),
          .arithmetic_taken = value.at("arithmetic_taken"),
          .subgraphs = value.at("subgraphs"),
          .not_taken = value.at("not_taken").get<std::vector<std::string>>()};
}

model::Manifest manifest_from(const json& value) {
  model::Manifest manifest;
  manifest.task = value.at("task");
  manifest.inputs = tensors_from(value.at("inputs"));
  manifest.outputs = tensors_from(value.at("outputs"));
  for (const auto& [name, limits] : value.at("dimensions").items()) {
    manifest.dimensions[name] = {.min = limits.at("min"),
                                 .max = limits.at("max"),
                                 .buckets = limits.at("buckets").get<std::vector<std::int64_t>>()};
  }
  for (const auto& [name, precision] : value.at("precisions").items()) {
    manifest.precisions[name] = {.engine = precision.at("engine"), .file = precision.at("file")};
  }
  manifest.coverage = coverage_from(value.at("coverage"));
  const json& size = value.at("size");
  manifest.size = model::Size{.parameters = size.at("parameters"),
                              .parameter_bytes = size.at("parameter_bytes"),
                              .flops = size.at("flops"),
                              .shape = size.at("shape")};
  manifest.made_by = value.at("made_by");
  return manifest;
}

std::string percent(std::int64_t part, std::int64_t whole) {
  // Rounded down, so that 100 % means all of them.
  return whole == 0 ? "100 %" : fmt::format("{} %", part * 100 / whole);
}

std::string tensors_text(const std::vector<model::TensorSpec>& tensors) {
  std::string text;
  for (const model::TensorSpec& spec : tensors) {
    std::string dims;
    for (const model::Dim& dim : spec.shape) {
      const auto* name = std::get_if<std::string>(&dim);
      dims += (dims.empty() ? "" : ",") +
              (name != nullptr ? *name : std::to_string(std::get<std::int64_t>(dim)));
    }
    text += fmt::format("{}{} {} [{}]", text.empty() ? "" : ", ", spec.name,
                        tensor::name_of(spec.type), dims);
  }
  return text;
}

/// 2.87e9 of "FLOP" as "2.87 GFLOP", 2.3e7 of " parameters" as "23.0 M parameters".
std::string scaled(double value, std::string_view of) {
  constexpr std::array kUnits = {"", "k", "M", "G", "T", "P"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  const int digits = unit == 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  const std::string_view space = unit == 0 && of.starts_with(' ') ? "" : " ";
  return fmt::format("{:.{}f}{}{}{}", value, digits, space, kUnits[unit], of);
}

}  // namespace

Result<Compiled> parse_compiled(const std::string& text) {
  try {
    const json value = json::parse(text);
    if (value.contains("error")) {
      return unsupported(value.at("error").get<std::string>());
    }
    Compiled compiled{.manifest = manifest_from(value), .layers = value.at("layers")};
    if (const json& tokenizer = value.at("tokenizer"); !tokenizer.is_null()) {
      compiled.tokenizer = tokenizer.at("kind");
      if (const std::int64_t tokens = tokenizer.at("tokens"); tokens > 0) {
        compiled.tokenizer += fmt::format(", {} tokens", grouped(tokens));
      }
      if (!tokenizer.at("converted").get<bool>()) {
        compiled.warning = fmt::format(
            "the tokenizer is copied but not converted, so texts cannot "
            "be sent to this model as they are: {}",
            tokenizer.at("why_not").get<std::string>());
      }
    }
    return compiled;
  } catch (const std::exception& error) {
    return internal_error(
        fmt::format("corelane_tools.compile gave no answer that can be read: {}", error.what()));
  }
}

std::string summary_text(const Compiled& compiled, const std::string& folder) {
  const model::Manifest& manifest = compiled.manifest;
  const model::Coverage coverage = manifest.coverage.value_or(model::Coverage{});
  const model::Size size = manifest.size.value_or(model::Size{});
  std::string text = fmt::format("{}/{}   ", manifest.name, manifest.version);
  if (compiled.layers > 0) {
    text += fmt::format("{} layers, ", compiled.layers);
  }
  text +=
      fmt::format("{}, {}, {} at {}\n", scaled(static_cast<double>(size.parameters), " parameters"),
                  scaled(static_cast<double>(size.parameter_bytes), "B"),
                  scaled(size.flops, "FLOP"), size.shape);
  text +=
      fmt::format("  operators   {} of {} on {} ({}), arithmetic {} of {}, {} subgraph{}\n",
                  coverage.operators_taken, coverage.operators, coverage.engine,
                  percent(coverage.operators_taken, coverage.operators), coverage.arithmetic_taken,
                  coverage.arithmetic, coverage.subgraphs, coverage.subgraphs == 1 ? "" : "s");
  for (const std::string& operator_uses : coverage.not_taken) {
    text += fmt::format("  not taken   {}\n", operator_uses);
  }
  text += fmt::format("  takes       {}\n", tensors_text(manifest.inputs));
  text += fmt::format("  gives       {}\n", tensors_text(manifest.outputs));
  text += "  precisions ";
  for (const auto& [name, precision] : manifest.precisions) {
    text += " " + name;
  }
  text += '\n';
  if (!compiled.tokenizer.empty()) {
    text += fmt::format("  tokenizer   {}\n", compiled.tokenizer);
  }
  if (!manifest.task.empty()) {
    text += fmt::format("  task        {}\n", manifest.task);
  }
  return text + fmt::format("-> {}\n", folder);
}

std::string summary_json(const model::Manifest& manifest, const std::string& folder,
                         Outcome outcome) {
  json value = {{"model", manifest.name},
                {"version", manifest.version},
                {"folder", folder},
                {"unchanged", outcome == Outcome::kUnchanged},
                {"task", manifest.task}};
  for (const auto& [name, precision] : manifest.precisions) {
    value["precisions"][name] = {{"engine", precision.engine}, {"file", precision.file}};
  }
  if (manifest.coverage) {
    const model::Coverage& coverage = *manifest.coverage;
    value["coverage"] = {{"engine", coverage.engine},
                         {"operators", coverage.operators},
                         {"operators_taken", coverage.operators_taken},
                         {"arithmetic", coverage.arithmetic},
                         {"arithmetic_taken", coverage.arithmetic_taken},
                         {"subgraphs", coverage.subgraphs},
                         {"not_taken", coverage.not_taken}};
  }
  if (manifest.size) {
    value["size"] = {{"parameters", manifest.size->parameters},
                     {"parameter_bytes", manifest.size->parameter_bytes},
                     {"flops", manifest.size->flops},
                     {"shape", manifest.size->shape}};
  }
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace corelane::cli
