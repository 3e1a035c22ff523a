#include "engine/torch/values.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine_abi.h"
#include "tensor/dtype.h"

namespace corelane::engine::torch_script {
namespace {

using tensor::DType;

struct TypePair {
  at::ScalarType type;
  DType dtype;
};

constexpr std::array<TypePair, 13> kTypes{{
    {at::ScalarType::Bool, DType::kBool},
    {at::ScalarType::Byte, DType::kUint8},
    {at::ScalarType::UInt16, DType::kUint16},
    {at::ScalarType::UInt32, DType::kUint32},
    {at::ScalarType::UInt64, DType::kUint64},
    {at::ScalarType::Char, DType::kInt8},
    {at::ScalarType::Short, DType::kInt16},
    {at::ScalarType::Int, DType::kInt32},
    {at::ScalarType::Long, DType::kInt64},
    {at::ScalarType::Half, DType::kFp16},
    {at::ScalarType::Float, DType::kFp32},
    {at::ScalarType::Double, DType::kFp64},
    {at::ScalarType::BFloat16, DType::kBf16},
}};

Error no_tensor(const std::string& what, const c10::IValue& value) {
  return unsupported(what + " is a " + value.tagKind() +
                     "; a model must return a tensor, a tuple or list of tensors, or a dictionary "
                     "of tensors");
}

Result<std::vector<at::Tensor>> from_dictionary(const c10::IValue& returned,
                                                std::span<const std::string> names) {
  std::vector<at::Tensor> tensors;
  const auto dictionary = returned.toGenericDict();
  for (const std::string& name : names) {
    const auto found = dictionary.find(name);
    if (found == dictionary.end()) {
      return invalid_argument("the dictionary that the model returned has no '" + name + "'");
    }
    const c10::IValue& value = found->value();
    if (!value.isTensor()) return no_tensor("output '" + name + "'", value);
    tensors.push_back(value.toTensor());
  }
  return tensors;
}

std::optional<std::vector<c10::IValue>> elements_of(const c10::IValue& returned) {
  if (returned.isTensor()) return std::vector{returned};
  if (returned.isTuple()) return returned.toTupleRef().elements().vec();
  if (!returned.isList()) return std::nullopt;
  const auto list = returned.toListRef();
  return std::vector<c10::IValue>(list.begin(), list.end());
}

}  // namespace

Result<at::Tensor> tensor_over(const cl_tensor& input) {
  const auto* found = std::ranges::find(kTypes, static_cast<DType>(input.dtype), &TypePair::dtype);
  if (found == kTypes.end()) return unsupported("torch has no tensors of this data type");
  return at::from_blob(input.data, at::IntArrayRef(input.dims, input.rank), found->type);
}

Result<std::vector<at::Tensor>> outputs_of(const c10::IValue& returned,
                                           std::span<const std::string> names) {
  if (returned.isGenericDict()) return from_dictionary(returned, names);
  const auto elements = elements_of(returned);
  if (!elements) return no_tensor("what the model returned", returned);
  if (elements->size() < names.size()) {
    return invalid_argument("the model returned " + std::to_string(elements->size()) +
                            " tensors, " + std::to_string(names.size()) + " are declared");
  }
  std::vector<at::Tensor> tensors;
  for (const std::string& name : names) {
    const c10::IValue& value = (*elements)[tensors.size()];
    if (!value.isTensor()) return no_tensor("output '" + name + "'", value);
    tensors.push_back(value.toTensor());
  }
  return tensors;
}

Result<cl_tensor> described(const at::Tensor& tensor) {
  const auto* found = std::ranges::find(kTypes, tensor.scalar_type(), &TypePair::type);
  if (found == kTypes.end()) {
    return unsupported(std::string("an output has elements of type ") +
                       at::toString(tensor.scalar_type()));
  }
  if (tensor.dim() > CL_MAX_RANK) return unsupported("an output has too many dimensions");
  cl_tensor result{};
  result.dtype = static_cast<std::uint32_t>(found->dtype);
  result.rank = static_cast<std::uint32_t>(tensor.dim());
  std::ranges::copy(tensor.sizes(), result.dims);
  result.data = tensor.data_ptr();
  result.bytes = tensor.nbytes();
  return result;
}

}  // namespace corelane::engine::torch_script
