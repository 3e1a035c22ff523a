#pragma once

#include <cstddef>
#include <span>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::tensor {

/// A tensor in somebody else's memory: row-major, little-endian, no padding between elements.
/// Borrowed: valid as long as the owner of the bytes says.
struct TensorView {
  DType dtype = DType::kFp32;
  Shape shape;
  std::span<const std::byte> bytes;
};

}  // namespace corelane::tensor
