// The reader of gRPC's infer requests: whatever the bytes, it answers with a request that keeps its
// promises or with an error.
#include "wire/grpc_infer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "tensor/dtype.h"
#include "wire/v2_infer.h"

namespace {

class CheckedMemory final : public corelane::wire::DecodeMemory {
 public:
  explicit CheckedMemory(std::size_t message_size) : most_(8 * message_size) {}
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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  CheckedMemory memory(size);
  corelane::wire::GrpcInferParser parser;
  const auto parsed = parser.parse(std::as_bytes(std::span(data, size)), memory);
  if (!parsed) {
    corelane::check(!parsed.error().message.empty(), "an error says something");
    return 0;
  }
  corelane::check(!parsed->model.empty(), "a request names its model");
  for (const auto& input : parsed->request.inputs) {
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
