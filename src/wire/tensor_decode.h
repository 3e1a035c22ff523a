#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "wire/v2_infer.h"

namespace corelane::wire {

/// A tensor's JSON data -> its bytes. Thread-compatible, reuses its memory.
class TensorDecoder {
 public:
  TensorDecoder();
  ~TensorDecoder();

  /// `json`: the text of a JSON array, nested or flat, with InferParser::kPadding readable bytes
  /// behind it. The result lies in memory from `memory`, empty for an empty tensor. Errors name the
  /// element, its text and what the datatype takes.
  Result<std::span<const std::byte>> decode(std::string_view json, tensor::DType dtype,
                                            const tensor::Shape& shape, DecodeMemory& memory);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace corelane::wire
