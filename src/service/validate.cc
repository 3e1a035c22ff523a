#include "service/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "lane/arena.h"
#include "lane/tensor_ref.h"
#include "schedule/cost.h"
#include "service/service.h"
#include "service/signature.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::service {
namespace {

template <typename Named>
std::string names_of(const std::vector<Named>& all) {
  std::string list;
  for (const Named& one : all) {
    if (!list.empty()) list += ", ";
    if constexpr (std::is_same_v<Named, std::string>) {
      list += one;
    } else {
      list += one.name;
    }
  }
  return list;
}

Status check_bytes_elements(const InputRule& rule, std::span<const std::byte> bytes,
                            std::int64_t elements) {
  std::size_t at = 0;
  for (std::int64_t i = 0; i < elements; ++i) {
    std::uint32_t length = 0;
    if (bytes.size() - at < sizeof length) {
      return invalid_argument(
          fmt::format("input '{}': its {} bytes end within the length of element {} of {}",
                      rule.name, bytes.size(), i, elements));
    }
    std::memcpy(&length, bytes.data() + at, sizeof length);
    at += sizeof length;
    if (bytes.size() - at < length) {
      return invalid_argument(fmt::format("input '{}': element {} says {} bytes where {} are left",
                                          rule.name, i, length, bytes.size() - at));
    }
    at += length;
  }
  if (at == bytes.size()) return {};
  return invalid_argument(fmt::format("input '{}': {} bytes are left over after {} elements",
                                      rule.name, bytes.size() - at, elements));
}

Status check_content(const Request& request, const InputRule& rule, const lane::TensorRef& tensor) {
  const std::optional<std::int64_t> elements = tensor.shape.elements();
  if (!elements) {
    return invalid_argument(fmt::format("input '{}': shape {} has more elements than can be",
                                        rule.name, to_string(tensor.shape)));
  }
  if (rule.type == tensor::DType::kBytes) {
    return check_bytes_elements(rule, bytes_of(request, tensor), *elements);
  }
  std::uint64_t needed = 0;
  const bool overflows = __builtin_mul_overflow(static_cast<std::uint64_t>(*elements),
                                                tensor::size_of(rule.type), &needed);
  if (!overflows && needed == tensor.bytes) return {};
  return invalid_argument(
      fmt::format("input '{}': {} bytes where shape {} of {} takes {}", rule.name, tensor.bytes,
                  to_string(tensor.shape), name_of(rule.type),
                  overflows ? "more than 64 bits can say" : std::to_string(needed)));
}

/// The sizes that named dimensions have in this request, and who said so first.
struct DimSizes {
  std::array<std::int64_t, schedule::kMaxDims> size{};
  std::array<const InputRule*, schedule::kMaxDims> said_by{};
};

Status check_dim(const InputRule& rule, const lane::TensorRef& tensor, std::size_t axis,
                 const Signature& signature, DimSizes& sizes) {
  const std::uint32_t index = rule.axes[axis].dim;
  const DimRule& dim = signature.dims[index];
  const std::int64_t size = tensor.shape[axis];
  if (dim.max > 0 && size > dim.max) {
    return invalid_argument(fmt::format("input '{}': shape {} exceeds {} <= {} of {}", rule.name,
                                        to_string(tensor.shape), dim.name, dim.max,
                                        signature.label));
  }
  if (size < dim.min) {
    return invalid_argument(fmt::format("input '{}': shape {} is below {} >= {} of {}", rule.name,
                                        to_string(tensor.shape), dim.name, dim.min,
                                        signature.label));
  }
  if (sizes.said_by[index] == nullptr) {
    sizes.said_by[index] = &rule;
    sizes.size[index] = size;
  } else if (sizes.size[index] != size) {
    return invalid_argument(fmt::format("input '{}': shape {} has {} = {} where input '{}' has {}",
                                        rule.name, to_string(tensor.shape), dim.name, size,
                                        sizes.said_by[index]->name, sizes.size[index]));
  }
  return {};
}

Status check_shape(const InputRule& rule, const lane::TensorRef& tensor, const Signature& signature,
                   DimSizes& sizes) {
  if (tensor.dtype != rule.type) {
    return invalid_argument(fmt::format("input '{}': datatype {} where {} takes {}", rule.name,
                                        name_of(tensor.dtype), signature.label,
                                        name_of(rule.type)));
  }
  if (tensor.shape.rank() != rule.axes.size()) {
    return invalid_argument(fmt::format("input '{}': shape {} has rank {} where {} takes {}",
                                        rule.name, to_string(tensor.shape), tensor.shape.rank(),
                                        signature.label, rule.written_shape));
  }
  for (std::size_t axis = 0; axis < rule.axes.size(); ++axis) {
    const Axis& expected = rule.axes[axis];
    if (expected.dim != Axis::kNoDim) {
      if (auto status = check_dim(rule, tensor, axis, signature, sizes); !status) return status;
    } else if (expected.fixed >= 0 && expected.fixed != tensor.shape[axis]) {
      return invalid_argument(fmt::format("input '{}': shape {} where {} takes {}", rule.name,
                                          to_string(tensor.shape), signature.label,
                                          rule.written_shape));
    }
  }
  return {};
}

Result<const NamedTensor*> find_input(const Request& request, const InputRule& rule,
                                      const Signature& signature) {
  const NamedTensor* found = nullptr;
  for (const NamedTensor& input : request.inputs) {
    if (input.name != rule.name) continue;
    if (found != nullptr) {
      return invalid_argument(fmt::format("input '{}' is given twice", rule.name));
    }
    found = &input;
  }
  if (found != nullptr) return found;
  return invalid_argument(fmt::format("input '{}' is missing; {} takes {}", rule.name,
                                      signature.label, names_of(signature.inputs)));
}

Status refuse_unknown_inputs(const Request& request, const Signature& signature) {
  for (const NamedTensor& input : request.inputs) {
    const bool known = std::any_of(signature.inputs.begin(), signature.inputs.end(),
                                   [&](const InputRule& rule) { return rule.name == input.name; });
    if (known) continue;
    return invalid_argument(fmt::format("input '{}' is none of {}, which takes {}", input.name,
                                        signature.label, names_of(signature.inputs)));
  }
  return {};
}

Result<std::vector<std::uint32_t>> pick_outputs(const Request& request,
                                                const Signature& signature) {
  std::vector<std::uint32_t> picked;
  if (request.outputs.empty()) {
    picked.resize(signature.outputs.size());
    for (std::uint32_t i = 0; i < picked.size(); ++i) picked[i] = i;
    return picked;
  }
  for (const std::string& name : request.outputs) {
    const auto found = std::find(signature.outputs.begin(), signature.outputs.end(), name);
    if (found == signature.outputs.end()) {
      return invalid_argument(fmt::format("output '{}' is none of {}, which gives {}", name,
                                          signature.label, names_of(signature.outputs)));
    }
    const auto index = static_cast<std::uint32_t>(found - signature.outputs.begin());
    if (std::find(picked.begin(), picked.end(), index) != picked.end()) {
      return invalid_argument(fmt::format("output '{}' is asked for twice", name));
    }
    picked.push_back(index);
  }
  return picked;
}

}  // namespace

std::span<const std::byte> bytes_of(const Request& request, const lane::TensorRef& tensor) {
  if (tensor.bytes == 0) return {};
  for (const lane::ArenaBlock& block : request.storage) {
    if (tensor.offset < block.offset()) continue;
    const std::uint64_t at = tensor.offset - block.offset();
    if (at > block.bytes().size() || tensor.bytes > block.bytes().size() - at) continue;
    return block.bytes().subspan(at, tensor.bytes);
  }
  check(false, "a request's tensors lie in its storage");
  return {};
}

Result<Validated> validate(const Request& request, const Signature& signature) {
  Validated valid;
  DimSizes sizes;
  valid.inputs.reserve(signature.inputs.size());
  for (const InputRule& rule : signature.inputs) {
    auto input = find_input(request, rule, signature);
    if (!input) return std::move(input).error();
    const lane::TensorRef& tensor = (*input)->tensor;
    if (auto status = check_shape(rule, tensor, signature, sizes); !status) {
      return std::move(status).error();
    }
    if (auto status = check_content(request, rule, tensor); !status) {
      return std::move(status).error();
    }
    valid.inputs.push_back(tensor);
  }
  if (request.inputs.size() != signature.inputs.size()) {
    if (auto status = refuse_unknown_inputs(request, signature); !status) {
      return std::move(status).error();
    }
  }
  auto outputs = pick_outputs(request, signature);
  if (!outputs) return std::move(outputs).error();
  valid.outputs = *std::move(outputs);
  for (std::size_t i = 0; i < signature.dims.size(); ++i) {
    if (sizes.said_by[i] == nullptr) continue;
    if (i == signature.batch_dim) {
      valid.rows = sizes.size[i];
    } else {
      valid.sizes[i] = sizes.size[i];
    }
  }
  return valid;
}

}  // namespace corelane::service
