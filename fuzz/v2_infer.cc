// The infer request parser: whatever the bytes, it answers with a request that keeps its promises
// or with an error.
#include "wire/v2_infer.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "tensor/dtype.h"

namespace {

class CheckedMemory final : public corelane::wire::DecodeMemory {
 public:
  explicit CheckedMemory(std::size_t json_size) : most_(8 * json_size) {}
  corelane::Result<std::span<std::byte>> allocate(std::size_t size) override {
    corelane::check(size > 0 && size <= most_, "what is allocated is bounded by what was sent");
    blocks_.push_back(std::make_unique<std::byte[]>(size));
    return std::span(blocks_.back().get(), size);
  }

 private:
  std::size_t most_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

}  // namespace

/// The first two bytes say how long the JSON is; 0xFFFF: all of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using corelane::wire::InferParser;
  if (size < 2) return 0;
  std::uint16_t length = 0;
  std::memcpy(&length, data, sizeof length);
  const std::size_t body_size = size - sizeof length;
  const auto padded = std::make_unique<std::byte[]>(body_size + InferParser::kPadding);
  std::memcpy(padded.get(), data + sizeof length, body_size);

  CheckedMemory memory(body_size);
  InferParser parser;
  const auto request = parser.parse(
      {padded.get(), body_size},
      length == 0xFFFF ? std::optional<std::uint64_t>() : std::optional<std::uint64_t>(length),
      memory);
  if (!request) {
    corelane::check(!request.error().message.empty(), "an error says something");
    return 0;
  }
  for (const auto& input : request->inputs) {
    corelane::check(!input.name.empty(), "an input has a name");
    const auto elements = input.shape.elements();
    corelane::check(elements.has_value(), "an input's elements can be counted");
    if (input.dtype == corelane::tensor::DType::kBytes) {
      corelane::check(corelane::wire::check_bytes_elements(input.data, *elements).has_value(),
                      "strings are whole and counted");
    } else {
      corelane::check(
          input.data.size() == static_cast<std::size_t>(*elements) * size_of(input.dtype),
          "an input's bytes are its shape's");
    }
  }
  return 0;
}
