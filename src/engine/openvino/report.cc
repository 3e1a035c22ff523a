#include "engine/openvino/report.h"

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <openvino/core/model.hpp>
#include <openvino/runtime/properties.hpp>
#include <string>

namespace corelane::engine::openvino {
namespace {

using Counts = std::map<std::string, std::int64_t>;

std::string text_of(const ov::Node& node, const std::string& key) {
  const auto& info = node.get_rt_info();
  const auto found = info.find(key);
  return found == info.end() ? "unknown" : found->second.as<std::string>();
}

bool computes(const std::string& layer) {
  return layer != "Const" && layer != "Input" && layer != "Output";
}

}  // namespace

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string report_on(const ov::CompiledModel& model, std::uint64_t memory_bytes) {
  Counts precisions;
  Counts layers;
  for (const auto& node : model.get_runtime_model()->get_ops()) {
    const std::string layer = text_of(*node, "layerType");
    if (!computes(layer)) continue;
    ++layers[layer];
    ++precisions[text_of(*node, "runtimePrecision")];
  }
  const nlohmann::json report{
      {"device", "cpu"},
      {"precision", precisions},
      {"layers", layers},
      {"threads", model.get_property(ov::inference_num_threads)},
      {"precision_hint", model.get_property(ov::hint::inference_precision).to_string()},
      {"memory_bytes", memory_bytes},
  };
  return report.dump();
}

}  // namespace corelane::engine::openvino
