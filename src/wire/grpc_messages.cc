#include "wire/grpc_messages.h"

#include <inference.pb.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "tensor/dtype.h"
#include "wire/v2_model.h"
#include "wire/v2_response.h"

namespace corelane::wire {
namespace {

void add_tensor(inference::ModelMetadataResponse::TensorMetadata& to, const TensorMetadata& from) {
  to.set_name(from.name);
  to.set_datatype(std::string(name_of(from.dtype)));
  for (const std::int64_t size : from.shape) to.add_shape(size);
}

inference::DataType config_type(tensor::DType dtype) {
  inference::DataType type = inference::TYPE_INVALID;
  inference::DataType_Parse(config_type_name(dtype), &type);
  return type;
}

void set(inference::StatisticDuration& to, const DurationStatistics& from) {
  to.set_count(from.count);
  to.set_ns(static_cast<std::uint64_t>(std::max<std::int64_t>(from.total.count(), 0)));
}

void add_batch(inference::InferBatchStatistics& to, const BatchStatistics& from) {
  to.set_batch_size(static_cast<std::uint64_t>(from.batch_size));
  set(*to.mutable_compute_input(), from.compute_input);
  set(*to.mutable_compute_infer(), from.compute_infer);
  set(*to.mutable_compute_output(), from.compute_output);
}

void add_model(inference::ModelStatistics& to, const ModelStatistics& from) {
  to.set_name(from.name);
  to.set_version(std::to_string(from.version));
  to.set_last_inference(static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(from.last_inference).count()));
  to.set_inference_count(from.inference_count);
  to.set_execution_count(from.execution_count);
  inference::InferStatistics& steps = *to.mutable_inference_stats();
  set(*steps.mutable_success(), from.success);
  set(*steps.mutable_fail(), from.fail);
  set(*steps.mutable_queue(), from.queue);
  set(*steps.mutable_compute_input(), from.compute_input);
  set(*steps.mutable_compute_infer(), from.compute_infer);
  set(*steps.mutable_compute_output(), from.compute_output);
  set(*steps.mutable_cache_hit(), {});  // nothing is cached
  set(*steps.mutable_cache_miss(), {});
  for (const BatchStatistics& batch : from.batches) add_batch(*to.add_batch_stats(), batch);
  for (const MemoryUsage& usage : from.memory) {
    inference::MemoryUsage& memory = *to.add_memory_usage();
    memory.set_type(usage.type);
    memory.set_id(usage.id);
    memory.set_byte_size(usage.size.count);
  }
}

}  // namespace

inference::ServerMetadataResponse to_message(const ServerMetadata& metadata) {
  inference::ServerMetadataResponse message;
  message.set_name(metadata.name);
  message.set_version(metadata.version);
  for (const std::string& extension : metadata.extensions) message.add_extensions(extension);
  return message;
}

inference::ModelMetadataResponse to_message(const ModelMetadata& metadata) {
  inference::ModelMetadataResponse message;
  message.set_name(metadata.name);
  message.set_platform(metadata.platform);
  for (const std::string& version : metadata.versions) message.add_versions(version);
  for (const TensorMetadata& input : metadata.inputs) add_tensor(*message.add_inputs(), input);
  for (const TensorMetadata& output : metadata.outputs) add_tensor(*message.add_outputs(), output);
  return message;
}

inference::ModelConfigResponse to_message(const ModelConfig& config) {
  inference::ModelConfigResponse message;
  inference::ModelConfig& to = *message.mutable_config();
  to.set_name(config.name);
  to.set_platform(config.platform);
  to.set_backend(config.backend);
  for (const std::int64_t version : config.versions) {
    to.mutable_version_policy()->mutable_specific()->add_versions(version);
  }
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  to.set_max_batch_size(static_cast<std::int32_t>(std::min(config.max_batch_size, kLargest)));
  if (config.max_batch_size > 0) to.mutable_dynamic_batching();
  for (const ConfigTensor& input : config.inputs) {
    inference::ModelInput& tensor = *to.add_input();
    tensor.set_name(input.name);
    tensor.set_data_type(config_type(input.dtype));
    for (const std::int64_t dim : input.dims) tensor.add_dims(dim);
  }
  for (const ConfigTensor& output : config.outputs) {
    inference::ModelOutput& tensor = *to.add_output();
    tensor.set_name(output.name);
    tensor.set_data_type(config_type(output.dtype));
    tensor.set_label_filename(output.label_filename);
    for (const std::int64_t dim : output.dims) tensor.add_dims(dim);
  }
  for (const auto& [key, value] : config.parameters) {
    (*to.mutable_parameters())[key].set_string_value(value);
  }
  return message;
}

inference::ModelStatisticsResponse to_message(std::span<const ModelStatistics> statistics) {
  inference::ModelStatisticsResponse message;
  for (const ModelStatistics& model : statistics) add_model(*message.add_model_stats(), model);
  return message;
}

}  // namespace corelane::wire
