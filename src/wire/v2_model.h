#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "tensor/dtype.h"

namespace corelane::wire {

/// One tensor of a ModelConfig.
struct ConfigTensor {
  std::string name;
  tensor::DType dtype = tensor::DType::kFp32;
  std::vector<std::int64_t> dims;   // without the batch where max_batch_size > 0; -1: varies
  std::string label_filename = {};  // outputs only; empty: no labels
};

/// What the protocol's model configuration extension tells of a version, as far as it is known.
struct ModelConfig {
  std::string name;
  std::string platform;                // as in ModelMetadata
  std::string backend;                 // the engine
  std::vector<std::int64_t> versions;  // those that are served
  std::int64_t max_batch_size = 0;     // 0: the model takes no batches
  std::vector<ConfigTensor> inputs;
  std::vector<ConfigTensor> outputs;
  std::map<std::string, std::string> parameters;
};

/// The configuration's name of a data type: "TYPE_FP32", "TYPE_STRING".
std::string config_type_name(tensor::DType dtype);

/// JSON as Triton names and nests it.
std::string write_model_config(const ModelConfig& config);

/// How often something was done, and its time in all.
struct DurationStatistics {
  std::uint64_t count = 0;
  Nanos total{};
};

/// The runs of one batch size.
struct BatchStatistics {
  std::int64_t batch_size = 1;
  DurationStatistics compute_input;
  DurationStatistics compute_infer;
  DurationStatistics compute_output;
};

/// Memory that a version takes on a device.
struct MemoryUsage {
  std::string type;  // "CPU"
  std::int64_t id = 0;
  Bytes size;
};

/// What the protocol's statistics extension tells of a version. Counts are requests, but
/// inference_count is rows and execution_count is runs.
struct ModelStatistics {
  std::string name;
  std::int64_t version = 1;
  Nanos last_inference{};  // since 1970; 0: none yet
  std::uint64_t inference_count = 0;
  std::uint64_t execution_count = 0;
  DurationStatistics success;
  DurationStatistics fail;
  DurationStatistics queue;
  DurationStatistics compute_input;
  DurationStatistics compute_infer;
  DurationStatistics compute_output;
  std::vector<BatchStatistics> batches;
  std::vector<MemoryUsage> memory;
};

/// {"model_stats":[...]}
std::string write_model_statistics(std::span<const ModelStatistics> statistics);

}  // namespace corelane::wire
