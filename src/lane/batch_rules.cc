#include "lane/batch_rules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "lane/channel_layout.h"
#include "model/manifest.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::lane {
namespace {

std::size_t index_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  const auto index = static_cast<std::size_t>(found - names.begin());
  if (found == names.end()) {
    names.push_back(name);
  }
  return index;
}

TensorRule make_rule(const model::TensorSpec& spec, std::vector<std::string>& dimensions) {
  TensorRule rule{
      .name = spec.name, .type = spec.type, .axes = {}, .pad = spec.pad, .rows_first = false};
  for (const model::Dim& dim : spec.shape) {
    if (const auto* name = std::get_if<std::string>(&dim)) {
      rule.rows_first = rule.rows_first || (rule.axes.empty() && *name == model::kBatch);
      rule.axes.push_back({.dimension = index_of(dimensions, *name)});
    } else {
      rule.axes.push_back({.fixed = std::get<std::int64_t>(dim)});
    }
  }
  return rule;
}

Error wrong(const TensorRule& rule, const std::string& how) {
  return invalid_argument("input '" + rule.name + "': " + how);
}

std::string shape_text(const WireTensor& tensor) {
  const auto shape = tensor::Shape::from({tensor.dims, std::min<std::size_t>(tensor.rank, 8)});
  return shape ? to_string(*shape) : "a negative shape";
}

/// Checks one input and notes the sizes of its named dimensions.
Status take_input(const BatchRules& rules, const TensorRule& rule, const WireTensor& tensor,
                  std::span<std::int64_t> sizes) {
  if (tensor.dtype != static_cast<std::uint32_t>(rule.type)) {
    return wrong(rule, "its type is not " + std::string(name_of(rule.type)));
  }
  if (tensor.rank != rule.axes.size()) {
    return wrong(rule, "shape " + shape_text(tensor) + " has not the model's " +
                           std::to_string(rule.axes.size()) + " dimensions");
  }
  for (std::size_t k = 0; k < rule.axes.size(); ++k) {
    const AxisRule& axis = rule.axes[k];
    const std::int64_t size = tensor.dims[k];
    if (axis.dimension == AxisRule::kFixed) {
      if (size != axis.fixed) {
        return wrong(rule, "shape " + shape_text(tensor) + " must have " +
                               std::to_string(axis.fixed) + " in place " + std::to_string(k));
      }
    } else if (sizes[axis.dimension] == BatchSizes::kUnused) {
      sizes[axis.dimension] = size;
    } else if (sizes[axis.dimension] != size) {
      return wrong(rule, rules.dimensions[axis.dimension] + " is " + std::to_string(size) + " in " +
                             shape_text(tensor) + " but " + std::to_string(sizes[axis.dimension]) +
                             " before");
    }
  }
  return {};
}

/// Raises what the caller wants padded, and notes whether anything is.
Status apply_padding(const BatchRules& rules, const BatchView& batch, BatchSizes& sizes) {
  for (std::size_t d = 0; d < sizes.whole.size(); ++d) {
    const std::int64_t wanted = d < batch.padded_to.size() ? batch.padded_to[d] : 0;
    if (sizes.whole[d] == BatchSizes::kUnused) {
      continue;
    }
    if (wanted != 0 && wanted < sizes.whole[d]) {
      return invalid_argument("padding " + rules.dimensions[d] + " to " + std::to_string(wanted) +
                              " where the batch has " + std::to_string(sizes.whole[d]));
    }
    if (wanted > sizes.whole[d]) {
      sizes.whole[d] = wanted;
      sizes.padded = true;
    }
  }
  for (std::size_t m = 0; m < batch.members; ++m) {
    for (std::size_t d = 0; d < sizes.whole.size(); ++d) {
      sizes.padded = sizes.padded || (d != rules.batch && sizes.of(m, d) != sizes.whole[d]);
    }
  }
  return {};
}

}  // namespace

BatchRules make_batch_rules(const model::Manifest& manifest) {
  BatchRules rules;
  for (const auto& [name, dimension] : manifest.dimensions) {
    rules.dimensions.push_back(name);
  }
  for (const model::TensorSpec& spec : manifest.inputs) {
    rules.inputs.push_back(make_rule(spec, rules.dimensions));
  }
  for (const model::TensorSpec& spec : manifest.outputs) {
    rules.outputs.push_back(make_rule(spec, rules.dimensions));
  }
  const auto batch = std::ranges::find(rules.dimensions, model::kBatch);
  if (batch != rules.dimensions.end()) {
    rules.batch = static_cast<std::size_t>(batch - rules.dimensions.begin());
  }
  rules.stackable =
      !rules.inputs.empty() &&
      std::ranges::all_of(rules.inputs, [](const TensorRule& rule) { return rule.rows_first; });
  return rules;
}

Status resolve_sizes(const BatchRules& rules, const BatchView& batch, BatchSizes& sizes) {
  if (batch.members == 0) {
    return invalid_argument("a batch without a request");
  }
  if (batch.inputs_per_member != rules.inputs.size()) {
    return invalid_argument("a request has " + std::to_string(batch.inputs_per_member) +
                            " inputs, the model " + std::to_string(rules.inputs.size()));
  }
  if (batch.members > 1 && !rules.stackable) {
    return invalid_argument(
        "requests of this model cannot run together: not every input has the "
        "batch as its first dimension");
  }
  const std::size_t dimensions = rules.dimensions.size();
  sizes.padded = false;
  sizes.stacked = batch.members > 1;
  sizes.whole.assign(dimensions, BatchSizes::kUnused);
  sizes.member.assign(batch.members * dimensions, BatchSizes::kUnused);
  for (std::size_t m = 0; m < batch.members; ++m) {
    const std::span own = std::span(sizes.member).subspan(m * dimensions, dimensions);
    for (std::size_t k = 0; k < rules.inputs.size(); ++k) {
      auto taken =
          take_input(rules, rules.inputs[k], batch.tensors[m * batch.inputs_per_member + k], own);
      if (!taken) {
        return taken;
      }
    }
    for (std::size_t d = 0; d < dimensions; ++d) {
      sizes.whole[d] =
          m > 0 && d == rules.batch ? sizes.whole[d] + own[d] : std::max(sizes.whole[d], own[d]);
    }
  }
  return apply_padding(rules, batch, sizes);
}

tensor::Shape whole_shape(const TensorRule& rule, const BatchSizes& sizes) {
  std::array<std::int64_t, tensor::kMaxRank> dims{};
  for (std::size_t k = 0; k < rule.axes.size(); ++k) {
    const AxisRule& axis = rule.axes[k];
    dims[k] = axis.dimension == AxisRule::kFixed ? axis.fixed : sizes.whole[axis.dimension];
  }
  return *tensor::Shape::from(std::span(dims).first(rule.axes.size()));
}

Result<tensor::Shape> part_shape(const TensorRule& rule, const BatchSizes& sizes,
                                 const tensor::Shape& whole, std::size_t m) {
  if (!sizes.stacked && !sizes.padded) {
    return whole;
  }
  if (sizes.stacked && !rule.rows_first) {
    return unsupported("output '" + rule.name +
                       "' has no batch as its first dimension: requests cannot run together");
  }
  if (whole.rank() != rule.axes.size()) {
    return internal_error("output '" + rule.name + "': the engine gave shape " + to_string(whole) +
                          ", the manifest declares " + std::to_string(rule.axes.size()) +
                          " dimensions");
  }
  tensor::Shape part = whole;
  for (std::size_t k = 0; k < rule.axes.size(); ++k) {
    const std::size_t d = rule.axes[k].dimension;
    if (d == AxisRule::kFixed || sizes.whole[d] == BatchSizes::kUnused) {
      continue;
    }
    if (whole[k] != sizes.whole[d]) {
      return internal_error("output '" + rule.name + "': the engine gave shape " +
                            to_string(whole) + " where " + std::to_string(sizes.whole[d]) +
                            " was to be in place " + std::to_string(k));
    }
    part.set(k, sizes.of(m, d));
  }
  return part;
}

}  // namespace corelane::lane
