#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "model/manifest.h"
#include "service/service.h"
#include "service/stats.h"
#include "wire/v2_model.h"
#include "wire/v2_response.h"

namespace corelane::serve {

/// What is served, in the protocol's terms, whichever wire asks. Pure.

wire::ModelMetadata describe_metadata(const model::Manifest& manifest,
                                      std::span<const service::ServedModel> served);

/// Where inputs begin with the batch it is max_batch_size and not among the dims.
wire::ModelConfig describe_config(const model::Manifest& manifest,
                                  std::span<const service::ServedModel> served);

/// Times of a version; `boot` is Clock::since_epoch() - Clock::now() of about now.
wire::ModelStatistics describe_statistics(const service::VersionStats& version, Nanos boot);

/// Of all versions of `model` ("": of all models), or of one of them.
std::vector<wire::ModelStatistics> describe_statistics(const service::ServiceStats& stats,
                                                       std::string_view model,
                                                       std::optional<std::int64_t> version,
                                                       Nanos boot);

}  // namespace corelane::serve
