#include "service/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"
#include "schedule/cost.h"
#include "tensor/dtype.h"

namespace corelane::service {
namespace {

std::string written(const std::vector<model::Dim>& shape) {
  std::string text = "[";
  for (const model::Dim& dim : shape) {
    if (text.size() > 1) text += ',';
    const auto* size = std::get_if<std::int64_t>(&dim);
    text += size != nullptr ? std::to_string(*size) : std::get<std::string>(dim);
  }
  return text + "]";
}

std::vector<DimRule> dim_rules(const model::Manifest& manifest) {
  std::set<std::string> names;
  for (const auto& [name, dimension] : manifest.dimensions) names.insert(name);
  for (const model::TensorSpec& input : manifest.inputs) {
    for (const model::Dim& dim : input.shape) {
      if (const auto* name = std::get_if<std::string>(&dim)) names.insert(*name);
    }
  }
  std::vector<DimRule> rules;
  for (const std::string& name : names) {
    const auto declared = manifest.dimensions.find(name);
    if (declared == manifest.dimensions.end()) {
      rules.push_back({.name = name});
    } else {
      rules.push_back({.name = name, .min = declared->second.min, .max = declared->second.max});
    }
  }
  return rules;
}

std::uint32_t index_of(const std::vector<DimRule>& dims, const std::string& name) {
  const auto found = std::find_if(dims.begin(), dims.end(),
                                  [&](const DimRule& rule) { return rule.name == name; });
  return static_cast<std::uint32_t>(found - dims.begin());
}

InputRule input_rule(const model::TensorSpec& spec, const std::vector<DimRule>& dims) {
  InputRule rule{.name = spec.name, .type = spec.type, .written_shape = written(spec.shape)};
  for (const model::Dim& dim : spec.shape) {
    Axis axis;
    if (const auto* size = std::get_if<std::int64_t>(&dim)) {
      axis.fixed = *size;
    } else {
      axis.dim = index_of(dims, std::get<std::string>(dim));
    }
    rule.axes.push_back(axis);
  }
  return rule;
}

bool has_unnamed_axis(const Signature& signature) {
  for (const InputRule& input : signature.inputs) {
    for (const Axis& axis : input.axes) {
      if (axis.fixed < 0 && axis.dim == Axis::kNoDim) return true;
    }
  }
  return false;
}

std::uint32_t paddable_dims(const model::Manifest& manifest, const Signature& signature) {
  std::uint32_t paddable = 0;
  for (std::size_t i = 0; i < signature.dims.size(); ++i) {
    const auto declared = manifest.dimensions.find(signature.dims[i].name);
    if (declared == manifest.dimensions.end() || declared->second.buckets.empty()) continue;
    if (i != signature.batch_dim) paddable |= 1U << i;
  }
  for (const InputRule& input : signature.inputs) {
    if (input.type != tensor::DType::kBytes) continue;
    for (const Axis& axis : input.axes) {
      if (axis.dim != Axis::kNoDim) paddable &= ~(1U << axis.dim);
    }
  }
  return paddable;
}

}  // namespace

Result<Signature> make_signature(const model::Manifest& manifest) {
  Signature signature{.label = fmt::format("{}@{}", manifest.name, manifest.version)};
  signature.dims = dim_rules(manifest);
  if (signature.dims.size() > schedule::kMaxDims) {
    return unsupported(fmt::format("{} has {} named dimensions; at most {} are served",
                                   signature.label, signature.dims.size(), schedule::kMaxDims));
  }
  for (const model::TensorSpec& input : manifest.inputs) {
    signature.inputs.push_back(input_rule(input, signature.dims));
  }
  for (const model::TensorSpec& output : manifest.outputs) {
    signature.outputs.push_back(output.name);
  }
  const std::int64_t max_rows = model::max_batch(manifest);
  if (max_rows == 0) return signature;
  signature.batch_dim = index_of(signature.dims, std::string(model::kBatch));
  signature.limits.max_rows = has_unnamed_axis(signature) ? 0 : max_rows;
  signature.limits.paddable = paddable_dims(manifest, signature);
  return signature;
}

}  // namespace corelane::service
