#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "wire/v2_infer.h"

namespace corelane::wire::testing {

/// A request's body with the padding that InferParser needs behind it, and not a byte more.
class RequestBytes {
 public:
  RequestBytes() = default;
  explicit RequestBytes(std::string_view json, std::string_view binary = {})
      : size_(json.size() + binary.size()), bytes_(size_ + InferParser::kPadding) {
    const auto end = std::ranges::copy(std::as_bytes(std::span(json)), bytes_.begin()).out;
    std::ranges::copy(std::as_bytes(std::span(binary)), end);
  }
  std::span<const std::byte> body() const { return std::span(bytes_).first(size_); }

 private:
  std::size_t size_ = 0;
  std::vector<std::byte> bytes_;
};

/// Memory from the heap, each tensor in a block of exactly its size, kept until the end.
class HeapMemory final : public DecodeMemory {
 public:
  Result<std::span<std::byte>> allocate(std::size_t size) override {
    if (size > limit_) return Error{ErrorCode::kResourceExhausted, "out of test memory"};
    allocated_ += size;
    blocks_.push_back(std::make_unique<std::byte[]>(size));
    return std::span(blocks_.back().get(), size);
  }
  void limit(std::size_t largest) { limit_ = largest; }
  std::size_t allocated() const { return allocated_; }

 private:
  std::size_t limit_ = std::numeric_limits<std::size_t>::max();
  std::size_t allocated_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

}  // namespace corelane::wire::testing
