#include "engine/openvino/report.h"

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <openvino/core/model.hpp>
#include <openvino/runtime/properties.hpp>
#include <string>

#include "engine/plugin_report.h"

namespace corelane::engine::openvino {
namespace {

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
  PluginReport report{.threads = model.get_property(ov::inference_num_threads),
                      .memory_bytes = memory_bytes};
  std::map<std::string, std::int64_t> layers;
  for (const auto& node : model.get_runtime_model()->get_ops()) {
    const std::string layer = text_of(*node, "layerType");
    if (!computes(layer)) continue;
    ++layers[layer];
    ++report.precision[text_of(*node, "runtimePrecision")];
  }
  const auto hint = model.get_property(ov::hint::inference_precision).to_string();
  return report_json(report, {{"layers", layers}, {"precision_hint", hint}});
}

}  // namespace corelane::engine::openvino
