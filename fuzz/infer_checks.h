#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "tensor/dtype.h"
#include "wire/v2_infer.h"

namespace corelane::fuzz {

/// Memory for decoded tensors that holds a reader to its bound: no more than eight times what came.
class CheckedMemory final : public wire::DecodeMemory {
 public:
  explicit CheckedMemory(std::size_t received) : most_(8 * received) {}
  Result<std::span<std::byte>> allocate(std::size_t size) override {
    check(size > 0 && size <= most_, "what is allocated is bounded by what was sent");
    blocks_.push_back(std::make_unique<std::byte[]>(size));
    return std::span(blocks_.back().get(), size);
  }

 private:
  std::size_t most_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

/// What an input keeps to, whichever reader it comes from.
inline void check_input(const wire::InferInputView& input) {
  check(!input.name.empty(), "an input has a name");
  const auto elements = input.shape.elements();
  check(elements.has_value(), "an input's elements can be counted");
  if (input.dtype == tensor::DType::kBytes) {
    check(wire::check_bytes_elements(input.data, *elements).has_value(),
          "strings are whole and counted");
  } else {
    check(input.data.size() == static_cast<std::size_t>(*elements) * size_of(input.dtype),
          "an input's bytes are its shape's");
  }
}

}  // namespace corelane::fuzz
