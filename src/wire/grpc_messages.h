#pragma once

#include <span>

#include "wire/v2_model.h"
#include "wire/v2_response.h"

// As protoc generates them from proto/inference.proto; include <inference.pb.h> to use what is
// returned.
namespace inference {
class ServerMetadataResponse;
class ModelMetadataResponse;
class ModelConfigResponse;
class ModelStatisticsResponse;
}  // namespace inference

namespace corelane::wire {

/// What the protocol tells of server and models: the values that REST writes as JSON, as messages.

inference::ServerMetadataResponse to_message(const ServerMetadata& metadata);
inference::ModelMetadataResponse to_message(const ModelMetadata& metadata);
inference::ModelConfigResponse to_message(const ModelConfig& config);
inference::ModelStatisticsResponse to_message(std::span<const ModelStatistics> statistics);

}  // namespace corelane::wire
