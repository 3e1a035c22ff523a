#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tensor/view.h"

namespace corelane::wire {

/// How an output is to be turned into classes.
struct ClassificationWish {
  std::uint64_t count = 1;  // at most so many of each row
  bool batched = false;     // the first dimension is the batch; else all is one row
  std::span<const std::string> labels = {};  // by index; those beyond have none
};

/// The classification extension: the largest values of each row, the largest first and of equal
/// ones the one with the lower index, each as the text "value:index" or "value:index:label". NaN
/// comes after all numbers. The result is a kBytes tensor of the shape [rows, n] or, when not
/// batched, [n], whose bytes are in `memory` (its old content is lost). kInvalidArgument for values
/// that are not numbers, kInternal for a tensor that breaks its own shape.
Result<tensor::TensorView> classify(const tensor::TensorView& scores,
                                    const ClassificationWish& wish, std::vector<std::byte>& memory);

}  // namespace corelane::wire
