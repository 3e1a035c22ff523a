#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine_abi.h"

namespace corelane::engine::torch_script {

/// A tensor that reads `input` in place. kUnsupported for types that torch does not have.
Result<at::Tensor> tensor_over(const cl_tensor& input);

/// What a model returned as tensors in the order of `names`: a tensor, a tuple or list of tensors
/// (in their own order), or a dictionary by name. There may be more than names.
Result<std::vector<at::Tensor>> outputs_of(const c10::IValue& returned,
                                           std::span<const std::string> names);

/// `tensor` must be contiguous, on the CPU and stay alive as long as the result is used.
Result<cl_tensor> described(const at::Tensor& tensor);

}  // namespace corelane::engine::torch_script
