#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "engine/engine_abi.h"

namespace corelane::engine::probe {

/// Memory of one output; it keeps its capacity from one infer to the next.
using Buffer = std::vector<std::byte>;

/// All return a tensor whose data is in `buffer`.
cl_tensor copy_of(const cl_tensor& input, Buffer& buffer);
cl_tensor not_numbers(Buffer& buffer);
cl_tensor zeros(std::size_t bytes, Buffer& buffer);
/// a + b, integers wrapping. kInvalidArgument unless both have one numeric type (8 to 64 bit
/// integers, FP32, FP64) and one shape.
Result<cl_tensor> sum_of(const cl_tensor& a, const cl_tensor& b, Buffer& buffer);

/// Whether an element of a numeric tensor equals `value`; false for other types.
bool has_value(const cl_tensor& tensor, double value);

/// The largest element of an FP32 tensor as a time between 0 and 60 s.
Result<Nanos> seconds_in(const cl_tensor& tensor);

}  // namespace corelane::engine::probe
