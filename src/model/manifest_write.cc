#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/manifest.h"
#include "tensor/dtype.h"

// The format's page is docs/formats/manifest.md.

namespace corelane::model {
namespace {

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// A key as it is where TOML takes it bare, in quotes elsewhere.
std::string key(std::string_view name) {
  constexpr std::string_view kBare =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  const bool bare = !name.empty() && name.find_first_not_of(kBare) == std::string_view::npos;
  return bare ? std::string(name) : toml_string(name);
}

/// A number that reads back the same: 17 for 17.0, since integers are read as numbers too.
std::string number(double value) {
  constexpr double kAllIntegersUpTo = 9007199254740992.0;  // 2^53
  if (std::abs(value) <= kAllIntegersUpTo && value == std::trunc(value)) {
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
  return fmt::format("{}", value);
}

template <typename List, typename Write>
std::string listed(const List& list, Write write) {
  std::string out = "[";
  for (const auto& item : list) {
    out += (out.size() > 1 ? ", " : "") + write(item);
  }
  return out + "]";
}

std::string toml_value(const nlohmann::json& value) {
  if (value.is_string()) {
    return toml_string(value.get<std::string>());
  }
  if (value.is_array()) {
    return listed(value, toml_value);
  }
  if (value.is_object()) {
    std::string out;
    for (const auto& [name, item] : value.items()) {
      out += (out.empty() ? "" : ", ") + key(name) + " = " + toml_value(item);
    }
    return "{ " + out + " }";
  }
  return value.dump();  // numbers, true and false are written alike
}

std::string dim_text(const Dim& dim) {
  if (const auto* name = std::get_if<std::string>(&dim)) {
    return toml_string(*name);
  }
  return fmt::format("{}", std::get<std::int64_t>(dim));
}

class Writer {
 public:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void write_head(const Manifest& manifest, Writer& out) {
  out.line(
      "# One version of a model. corelane wrote this file; what it says may be changed by hand.");
  out.line("# `corelane help models` explains the folder.");
  out.line("format = 1");
  out.line("name = {}", toml_string(manifest.name));
  out.line("version = {}", manifest.version);
  if (!manifest.task.empty()) {
    out.line("task = {}", toml_string(manifest.task));
  }
  if (!manifest.load_at_start) {
    out.line("load_at_start = false  # only an explicit load brings it up");
  }
}

void write_tensors(std::string_view kind, const std::vector<TensorSpec>& tensors, Writer& out) {
  for (const TensorSpec& spec : tensors) {
    out.line("\n[[{}]]", kind);
    out.line("name = {}", toml_string(spec.name));
    out.line("type = {}", toml_string(tensor::name_of(spec.type)));
    out.line("shape = {}", listed(spec.shape, dim_text));
    if (spec.pad != 0) {
      out.line("pad = {}  # what a shorter one is filled up with", number(spec.pad));
    }
    if (!spec.labels.empty()) {
      out.line("labels = {}  # the names of its classes, one a line", toml_string(spec.labels));
    }
  }
}

std::string dimension_text(const Dimension& dimension) {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& value) {
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", name, value);
  };
  if (dimension.min != 1) {
    add("min", fmt::format("{}", dimension.min));
  }
  if (dimension.max != 0) {
    add("max", fmt::format("{}", dimension.max));
  }
  if (!dimension.buckets.empty()) {
    add("buckets", listed(dimension.buckets, [](auto size) { return fmt::format("{}", size); }));
  }
  return out.empty() ? "{}" : "{ " + out + " }";
}

void write_dimensions(const Manifest& manifest, Writer& out) {
  if (manifest.dimensions.empty()) {
    return;
  }
  out.line(
      "\n# What varies. No max: any size. Buckets are the sizes that are padded to, if given.");
  out.line("[dimensions]");
  for (const auto& [name, limits] : manifest.dimensions) {
    out.line("{} = {}", key(name), dimension_text(limits));
  }
}

void write_precisions(const Manifest& manifest, Writer& out) {
  for (const auto& [name, precision] : manifest.precisions) {
    out.line("\n[precision.{}]", key(name));
    out.line("engine = {}", toml_string(precision.engine));
    if (!precision.file.empty()) {
      out.line("file = {}", toml_string(precision.file));
    }
    if (precision.accuracy) {
      const Accuracy& accuracy = *precision.accuracy;
      out.line("accuracy = {{ measure = {}, value = {}, reference = {}, on = {} }}",
               toml_string(accuracy.measure), number(accuracy.value), number(accuracy.reference),
               toml_string(accuracy.on));
    }
    const auto options = nlohmann::json::parse(precision.options, nullptr, false);
    if (options.is_object() && !options.empty()) {
      out.line("options = {}", toml_value(options));
    }
  }
}

void write_facts(const Manifest& manifest, Writer& out) {
  if (manifest.size) {
    out.line("\n[size]");
    out.line("parameters = {}", manifest.size->parameters);
    out.line("parameter_bytes = {}", manifest.size->parameter_bytes);
    out.line("flops = {}  # of one run at this shape; multiply and add count as two",
             number(manifest.size->flops));
    out.line("shape = {}", toml_string(manifest.size->shape));
  }
  if (manifest.coverage) {
    const Coverage& coverage = *manifest.coverage;
    out.line("\n# Operators of the source, and how many of them the engine takes.");
    out.line("[coverage]");
    out.line("engine = {}", toml_string(coverage.engine));
    out.line("operators = {}", coverage.operators);
    out.line("operators_taken = {}", coverage.operators_taken);
    out.line("arithmetic = {}", coverage.arithmetic);
    out.line("arithmetic_taken = {}", coverage.arithmetic_taken);
    out.line("subgraphs = {}", coverage.subgraphs);
    out.line("not_taken = {}", listed(coverage.not_taken, toml_string));
  }
  if (!manifest.source_sha256.empty() || !manifest.source_options.empty() ||
      !manifest.made_by.empty()) {
    out.line("\n[source]");
    out.line("sha256 = {}", toml_string(manifest.source_sha256));
    out.line("options = {}", toml_string(manifest.source_options));
    out.line("made_by = {}", toml_string(manifest.made_by));
  }
}

}  // namespace

std::string write_manifest(const Manifest& manifest) {
  Writer out;
  write_head(manifest, out);
  write_tensors("input", manifest.inputs, out);
  write_tensors("output", manifest.outputs, out);
  write_dimensions(manifest, out);
  write_precisions(manifest, out);
  write_facts(manifest, out);
  return out.take();
}

}  // namespace corelane::model
