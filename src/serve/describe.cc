#include "serve/describe.h"

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/units.h"
#include "model/manifest.h"
#include "service/service.h"
#include "service/stats.h"
#include "wire/v2_model.h"
#include "wire/v2_response.h"

namespace corelane::serve {
namespace {

std::vector<std::int64_t> sizes_of(const model::TensorSpec& spec) {
  std::vector<std::int64_t> sizes;
  for (const model::Dim& dim : spec.shape) {
    const auto* size = std::get_if<std::int64_t>(&dim);
    sizes.push_back(size != nullptr ? *size : -1);
  }
  return sizes;
}

std::vector<wire::TensorMetadata> describe(const std::vector<model::TensorSpec>& specs) {
  std::vector<wire::TensorMetadata> tensors;
  tensors.reserve(specs.size());
  for (const model::TensorSpec& spec : specs) {
    tensors.push_back({.name = spec.name, .dtype = spec.type, .shape = sizes_of(spec)});
  }
  return tensors;
}

std::vector<wire::ConfigTensor> describe(const std::vector<model::TensorSpec>& specs,
                                         std::int64_t max_batch) {
  std::vector<wire::ConfigTensor> tensors;
  for (const model::TensorSpec& spec : specs) {
    std::vector<std::int64_t> dims = sizes_of(spec);
    if (max_batch > 0) dims.erase(dims.begin());
    tensors.push_back(
        {.name = spec.name, .dtype = spec.type, .dims = dims, .label_filename = spec.labels});
  }
  return tensors;
}

/// The name of the precision that the version is served in.
std::string served_precision(const model::Manifest& manifest,
                             std::span<const service::ServedModel> served) {
  for (const service::ServedModel& model : served) {
    if (model.name == manifest.name && model.version == manifest.version) return model.precision;
  }
  return "";
}

std::string engine_of(const model::Manifest& manifest, const std::string& precision) {
  const auto found = manifest.precisions.find(precision);
  return found == manifest.precisions.end() ? "" : found->second.engine;
}

std::vector<std::int64_t> served_versions(const std::string& name,
                                          std::span<const service::ServedModel> served) {
  std::vector<std::int64_t> versions;
  for (const service::ServedModel& model : served) {
    if (model.name == name) versions.push_back(model.version);
  }
  return versions;
}

/// What an engine's report says of memory; nullopt where it says nothing.
std::optional<wire::MemoryUsage> memory_of(const service::HeldByLane& held) {
  simdjson::dom::parser parser;
  simdjson::dom::element report;
  std::uint64_t size = 0;
  if (parser.parse(held.report).get(report) != simdjson::SUCCESS ||
      report["memory_bytes"].get(size) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  std::string_view device;
  if (report["device"].get(device) != simdjson::SUCCESS) device = "cpu";
  std::string type;
  for (const char c : device) type += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return wire::MemoryUsage{
      .type = type, .id = static_cast<std::int64_t>(held.lane), .size = {.count = size}};
}

}  // namespace

wire::ModelMetadata describe_metadata(const model::Manifest& manifest,
                                      std::span<const service::ServedModel> served) {
  wire::ModelMetadata metadata{.name = manifest.name,
                               .versions = {},
                               .platform = engine_of(manifest, served_precision(manifest, served)),
                               .inputs = describe(manifest.inputs),
                               .outputs = describe(manifest.outputs)};
  for (const std::int64_t version : served_versions(manifest.name, served)) {
    metadata.versions.push_back(std::to_string(version));
  }
  return metadata;
}

wire::ModelConfig describe_config(const model::Manifest& manifest,
                                  std::span<const service::ServedModel> served) {
  const std::string precision = served_precision(manifest, served);
  const std::string engine = engine_of(manifest, precision);
  const std::int64_t max_batch = model::max_batch(manifest);
  return {.name = manifest.name,
          .platform = engine,
          .backend = engine,
          .versions = served_versions(manifest.name, served),
          .max_batch_size = max_batch,
          .inputs = describe(manifest.inputs, max_batch),
          .outputs = describe(manifest.outputs, max_batch),
          .parameters = {{"precision", precision}}};
}

wire::ModelStatistics describe_statistics(const service::VersionStats& version, Nanos boot) {
  const std::uint64_t count = version.steps.count();
  wire::ModelStatistics statistics{
      .name = version.model,
      .version = version.version,
      .last_inference = version.last_run == Nanos{} ? Nanos{} : version.last_run + boot,
      .inference_count = version.items,
      .execution_count = version.batches,
      .success = {.count = version.succeeded, .total = version.success_time},
      .fail = {.count = version.failed, .total = version.failure_time},
      .queue = {.count = version.queue.count(), .total = version.queue.sum()},
      .compute_input = {.count = count, .total = version.steps.input()},
      .compute_infer = {.count = count, .total = version.steps.compute()},
      .compute_output = {.count = count, .total = version.steps.output()},
      .batches = {},
      .memory = {}};
  for (const auto& [rows, steps] : version.steps_by_rows) {
    statistics.batches.push_back(
        {.batch_size = rows,
         .compute_input = {.count = steps.count(), .total = steps.input()},
         .compute_infer = {.count = steps.count(), .total = steps.compute()},
         .compute_output = {.count = steps.count(), .total = steps.output()}});
  }
  for (const service::HeldByLane& held : version.held_by) {
    if (auto memory = memory_of(held)) statistics.memory.push_back(*std::move(memory));
  }
  return statistics;
}

std::vector<wire::ModelStatistics> describe_statistics(const service::ServiceStats& stats,
                                                       std::string_view model,
                                                       std::optional<std::int64_t> version,
                                                       Nanos boot) {
  std::vector<wire::ModelStatistics> all;
  for (const service::VersionStats& each : stats.versions) {
    if (!model.empty() && each.model != model) continue;
    if (version && each.version != *version) continue;
    all.push_back(describe_statistics(each, boot));
  }
  return all;
}

}  // namespace corelane::serve
