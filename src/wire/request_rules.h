#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::wire {

/// What every reader of infer requests holds to, whichever wire they come by: the limits, and how a
/// fault is told.

inline constexpr std::size_t kMaxTensors = 1024;  // inputs, and outputs, of one request
inline constexpr std::size_t kMaxQuoted = 80;     // bytes of a client's text in a message

/// Where in a request something stands, for messages; made into text only when there is one.
struct PlaceView {
  std::string_view kind;       // "request", "input", "output"
  std::string_view name = {};  // empty: not known yet
  std::size_t index = 0;
};
std::string to_string(const PlaceView& place);

/// kInvalidArgument: "input 'x': what".
Error fault(const PlaceView& place, std::string_view what);

/// For a parameter that is not read here: kUnsupported where the protocol has it, kInvalidArgument
/// where it does not.
Status refuse_parameter(const PlaceView& place, std::string_view key);

Result<tensor::DType> datatype_from(const PlaceView& place, std::string_view name);

/// Bytes that such a tensor has; nullopt for kBytes. An error where they are too many to count.
Result<std::optional<std::uint64_t>> tensor_size(const PlaceView& place, tensor::DType dtype,
                                                 const tensor::Shape& shape);

/// The parameter `timeout`, which comes in microseconds.
Result<Nanos> timeout_from(const PlaceView& place, std::uint64_t micros);

}  // namespace corelane::wire
