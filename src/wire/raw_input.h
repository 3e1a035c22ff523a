#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "wire/v2_infer.h"

namespace corelane::wire {

/// The tensor that a raw request's body is. Points into the body, or for kBytes into `memory`,
/// where it has got its length.
Result<InferInputView> raw_input(std::span<const std::byte> body, const RawInputView& input,
                                 DecodeMemory& memory);

}  // namespace corelane::wire
