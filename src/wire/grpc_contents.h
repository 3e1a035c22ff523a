#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "wire/v2_infer.h"

namespace corelane::wire {

/// A tensor's typed contents (the message InferTensorContents) -> its bytes, in memory from
/// `memory`; empty for an empty tensor. The field must be the datatype's, hold as many elements as
/// the shape has, and each must be in the datatype's range. Errors name field, element and value.
Result<std::span<const std::byte>> decode_contents(std::span<const std::byte> contents,
                                                   tensor::DType dtype, const tensor::Shape& shape,
                                                   DecodeMemory& memory);

}  // namespace corelane::wire
