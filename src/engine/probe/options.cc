#include "engine/probe/options.h"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/units.h"

namespace corelane::engine::probe {
namespace {

constexpr std::array<std::pair<std::string_view, Behaviour>, 9> kBehaviours{{
    {"identity", Behaviour::kIdentity},
    {"add", Behaviour::kAdd},
    {"sleep", Behaviour::kSleep},
    {"fail", Behaviour::kFail},
    {"crash", Behaviour::kCrash},
    {"hang", Behaviour::kHang},
    {"nan", Behaviour::kNan},
    {"large", Behaviour::kLarge},
    {"fail_load", Behaviour::kFailLoad},
}};

constexpr double kMaxMicros = 60e6;
constexpr double kMaxBytes = 4294967296.0;

Error wrong(const std::string& key, const std::string& rule) {
  return invalid_argument("option '" + key + "' " + rule);
}

Status read_behaviour(const nlohmann::json& value, Options& options) {
  if (value.is_string()) {
    const auto& name = value.get_ref<const std::string&>();
    for (const auto& [known, behaviour] : kBehaviours) {
      if (name == known) {
        options.behaviour = behaviour;
        return {};
      }
    }
  }
  std::string all;
  for (const auto& entry : kBehaviours) all += (all.empty() ? "" : ", ") + std::string(entry.first);
  return wrong("behaviour", "must be one of " + all);
}

Result<double> read_number(const std::string& key, const nlohmann::json& value, double max) {
  if (!value.is_number()) return wrong(key, "must be a number");
  const double number = value.get<double>();
  if (!(number >= 0 && number <= max)) {
    return wrong(key, "must be between 0 and " + std::to_string(static_cast<std::uint64_t>(max)));
  }
  return number;
}

Status read_option(const std::string& key, const nlohmann::json& value, Options& options) {
  if (key == "behaviour") return read_behaviour(value, options);
  if (key == "crash_on_value") {
    if (!value.is_number()) return wrong(key, "must be a number");
    options.crash_on_value = value.get<double>();
    return {};
  }
  if (key == "bytes") {
    const auto number = read_number(key, value, kMaxBytes);
    if (!number) return number.error();
    options.bytes = static_cast<std::uint64_t>(*number);
    return {};
  }
  if (key == "fixed_microseconds" || key == "microseconds_per_item") {
    const auto number = read_number(key, value, kMaxMicros);
    if (!number) return number.error();
    (key == "fixed_microseconds" ? options.fixed : options.per_item) = from_seconds(*number / 1e6);
    return {};
  }
  return wrong(key, "is not known to the probe engine");
}

}  // namespace

Result<Options> parse_options(std::string_view json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return invalid_argument("options must be a JSON object");
  Options options;
  for (const auto& [key, value] : parsed.items()) {
    if (Status status = read_option(key, value, options); !status) return status.error();
  }
  return options;
}

}  // namespace corelane::engine::probe
