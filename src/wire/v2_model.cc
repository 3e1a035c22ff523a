#include "wire/v2_model.h"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.h"
#include "wire/json_text.h"

namespace corelane::wire {
namespace {

void append_member(std::string& out, std::string_view name, std::string_view text) {
  out += ",\"";
  out += name;
  out += "\":";
  append_json_string(out, text);
}

void append_tensors(std::string& out, std::string_view name,
                    const std::vector<ConfigTensor>& tensors) {
  out += ",\"";
  out += name;
  out += "\":[";
  for (const ConfigTensor& tensor : tensors) {
    if (&tensor != &tensors.front()) out += ',';
    out += R"({"name":)";
    append_json_string(out, tensor.name);
    append_member(out, "data_type", config_type_name(tensor.dtype));
    out += R"(,"dims":)";
    append_json_array(out, tensor.dims);
    if (!tensor.label_filename.empty()) {
      append_member(out, "label_filename", tensor.label_filename);
    }
    out += '}';
  }
  out += ']';
}

void append_parameters(std::string& out, const ModelConfig& config) {
  out += R"(,"parameters":{)";
  bool first = true;
  for (const auto& [key, value] : config.parameters) {
    if (!first) out += ',';
    first = false;
    append_json_string(out, key);
    out += R"(:{"string_value":)";
    append_json_string(out, value);
    out += '}';
  }
  out += '}';
}

struct NamedDuration {
  std::string_view name;
  DurationStatistics duration;
};

void append_durations(std::string& out, std::span<const NamedDuration> durations) {
  for (const NamedDuration& each : durations) {
    if (&each != &durations.front()) out += ',';
    append_json_string(out, each.name);
    out += R"(:{"count":)";
    append_json_number(out, each.duration.count);
    out += R"(,"ns":)";
    append_json_number(out, std::int64_t{each.duration.total.count()});
    out += '}';
  }
}

void append_batches(std::string& out, const std::vector<BatchStatistics>& batches) {
  for (const BatchStatistics& batch : batches) {
    if (&batch != &batches.front()) out += ',';
    out += R"({"batch_size":)";
    append_json_number(out, batch.batch_size);
    out += ',';
    const NamedDuration durations[] = {{"compute_input", batch.compute_input},
                                       {"compute_infer", batch.compute_infer},
                                       {"compute_output", batch.compute_output}};
    append_durations(out, durations);
    out += '}';
  }
}

void append_memory(std::string& out, const std::vector<MemoryUsage>& memory) {
  for (const MemoryUsage& usage : memory) {
    if (&usage != &memory.front()) out += ',';
    out += R"({"type":)";
    append_json_string(out, usage.type);
    out += R"(,"id":)";
    append_json_number(out, usage.id);
    out += R"(,"byte_size":)";
    append_json_number(out, usage.size.count);
    out += '}';
  }
}

void append_statistics(std::string& out, const ModelStatistics& model) {
  out += R"({"name":)";
  append_json_string(out, model.name);
  append_member(out, "version", std::to_string(model.version));
  out += R"(,"last_inference":)";
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(model.last_inference);
  append_json_number(out, std::int64_t{millis.count()});
  out += R"(,"inference_count":)";
  append_json_number(out, model.inference_count);
  out += R"(,"execution_count":)";
  append_json_number(out, model.execution_count);
  out += R"(,"inference_stats":{)";
  const NamedDuration durations[] = {{"success", model.success},
                                     {"fail", model.fail},
                                     {"queue", model.queue},
                                     {"compute_input", model.compute_input},
                                     {"compute_infer", model.compute_infer},
                                     {"compute_output", model.compute_output},
                                     {"cache_hit", {}},  // nothing is cached
                                     {"cache_miss", {}}};
  append_durations(out, durations);
  out += R"(},"response_stats":{},"batch_stats":[)";
  append_batches(out, model.batches);
  out += R"(],"memory_usage":[)";
  append_memory(out, model.memory);
  out += "]}";
}

}  // namespace

std::string config_type_name(tensor::DType dtype) {
  if (dtype == tensor::DType::kBytes) return "TYPE_STRING";
  return "TYPE_" + std::string(name_of(dtype));
}

std::string write_model_config(const ModelConfig& config) {
  std::string out = R"({"name":)";
  append_json_string(out, config.name);
  append_member(out, "platform", config.platform);
  append_member(out, "backend", config.backend);
  out += R"(,"version_policy":{"specific":{"versions":)";
  append_json_array(out, config.versions);
  out += R"(}},"max_batch_size":)";
  append_json_number(out, config.max_batch_size);
  append_tensors(out, "input", config.inputs);
  append_tensors(out, "output", config.outputs);
  if (config.max_batch_size > 0) {
    out += R"(,"dynamic_batching":{"max_queue_delay_microseconds":0})";
  }
  append_parameters(out, config);
  out += '}';
  return out;
}

std::string write_model_statistics(std::span<const ModelStatistics> statistics) {
  std::string out = R"({"model_stats":[)";
  for (const ModelStatistics& model : statistics) {
    if (&model != &statistics.front()) out += ',';
    append_statistics(out, model);
  }
  out += "]}";
  return out;
}

}  // namespace corelane::wire
