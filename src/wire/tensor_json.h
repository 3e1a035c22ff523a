#pragma once

#include <string>

#include "base/result.h"
#include "tensor/view.h"

namespace corelane::wire {

/// Appends a tensor's elements as one flat JSON array: numbers as append_json_number() writes them,
/// kBool as true and false, kBytes as strings. kInvalidArgument when bytes are not UTF-8,
/// kInternal when the bytes do not fit the shape.
Status append_tensor_json(std::string& out, const tensor::TensorView& tensor);

}  // namespace corelane::wire
