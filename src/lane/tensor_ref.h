#pragma once

#include <cstdint>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::lane {

/// A request's tensor by its place in the arena. A plain value: this is what travels to a worker.
struct TensorRef {
  tensor::DType dtype = tensor::DType::kFp32;
  tensor::Shape shape;
  std::uint64_t offset = 0;  // from the start of the arena
  std::uint64_t bytes = 0;
};

}  // namespace corelane::lane
