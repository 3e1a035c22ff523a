#include "engine/openvino/settings.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <openvino/runtime/properties.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/engine_abi.h"

namespace corelane::engine::openvino {
namespace {

Result<ov::element::Type> precision_of(std::string_view name,
                                       const std::vector<std::string>& capabilities) {
  // The int8 parts of a quantised model are in its graph; what is left runs in f32.
  if (name == "f32" || name == "int8") return ov::element::f32;
  if (name != "bf16") {
    return unsupported("precision '" + std::string(name) + "'; it has f32, bf16 and int8");
  }
  if (std::ranges::find(capabilities, "BF16") == capabilities.end()) {
    return unsupported(
        "precision 'bf16' needs a CPU with avx512_bf16, avx_ne_convert or amx_bf16; this one has "
        "none of them");
  }
  return ov::element::bf16;
}

Result<ov::Any> property_of(const std::string& name, const nlohmann::json& value) {
  if (value.is_boolean()) return ov::Any(value.get<bool>());
  if (value.is_number_integer()) return ov::Any(std::to_string(value.get<std::int64_t>()));
  if (value.is_number()) return ov::Any(std::to_string(value.get<double>()));
  if (value.is_string()) return ov::Any(value.get<std::string>());
  return invalid_argument("options: property '" + name + "' must be text, a number or a boolean");
}

Status add_options(std::string_view json, ov::AnyMap& settings) {
  const auto parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return invalid_argument("options must be a JSON object");
  for (const auto& [key, value] : parsed.items()) {
    if (key != "properties" || !value.is_object()) {
      return invalid_argument("option '" + key +
                              "': this engine has one option, the object 'properties'");
    }
    for (const auto& [name, setting] : value.items()) {
      auto property = property_of(name, setting);
      if (!property) return std::move(property).error();
      settings[name] = *std::move(property);
    }
  }
  return {};
}

}  // namespace

Result<ov::AnyMap> settings_of(const cl_load_options& options,
                               const std::vector<std::string>& capabilities) {
  if (std::string_view(options.device) != "cpu") {
    return unsupported("device '" + std::string(options.device) + "'; this engine has cpu");
  }
  const auto precision = precision_of(options.precision, capabilities);
  if (!precision) return precision.error();
  // What is kept per input shape: docs/decisions/020-bounded-shape-caches.md has the figures.
  constexpr int kShapeCacheEntries = 256;
  ov::AnyMap settings{
      {"CPU_RUNTIME_CACHE_CAPACITY", std::to_string(kShapeCacheEntries)},
      ov::num_streams(ov::streams::Num(1)),
      ov::inference_num_threads(options.threads),
      ov::hint::inference_precision(*precision),
      ov::hint::enable_cpu_pinning(false),
      ov::hint::enable_hyper_threading(true),
      ov::hint::scheduling_core_type(ov::hint::SchedulingCoreType::ANY_CORE),
  };
  if (Status status = add_options(options.options, settings); !status) return status.error();
  return settings;
}

}  // namespace corelane::engine::openvino
