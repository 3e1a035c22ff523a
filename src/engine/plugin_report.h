#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>  // lint: heavy because only plug-ins' own sources include this
#include <string>

namespace corelane::engine {

/// What every engine's describe() tells; docs/formats/engine-abi.md has the fields.
struct PluginReport {
  std::map<std::string, std::int64_t> precision;  // operators by the type they run in
  int threads = 1;
  std::uint64_t memory_bytes = 0;
};

/// As JSON, with the keys that only one engine has. Header only, as plugin.h is.
inline std::string report_json(const PluginReport& report,
                               nlohmann::json more = nlohmann::json::object()) {
  more["device"] = "cpu";
  more["precision"] = report.precision;
  more["threads"] = report.threads;
  more["memory_bytes"] = report.memory_bytes;
  return more.dump();
}

}  // namespace corelane::engine
