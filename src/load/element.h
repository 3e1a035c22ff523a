#pragma once

#include <cstddef>
#include <vector>

#include "tensor/dtype.h"

namespace corelane::load {

bool is_integer(tensor::DType type);

/// Appends one element of that value, in the memory form of tensors (tensor/view.h): rounded to the
/// nearest that the type has; booleans are `value != 0`; texts are the value's digits.
/// Precondition for integers: the value lies in the type's range.
void append_element(std::vector<std::byte>& bytes, tensor::DType type, double value);

}  // namespace corelane::load
