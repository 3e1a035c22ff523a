// Raw requests: whatever the model's shape and the body's length, the tensor that comes out is
// whole.
#include "wire/raw_input.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "infer_checks.h"
#include "tensor/dtype.h"
#include "wire/v2_infer.h"

namespace {

class HeapMemory final : public corelane::wire::DecodeMemory {
 public:
  corelane::Result<std::span<std::byte>> allocate(std::size_t size) override {
    blocks_.push_back(std::make_unique<std::byte[]>(size));
    return std::span(blocks_.back().get(), size);
  }

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

}  // namespace

/// Bytes: datatype, rank, that many dimensions (255: varies), then the body.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using corelane::tensor::DType;
  constexpr std::size_t kHead = 2;
  constexpr std::size_t kRanks = 10;
  if (size < kHead) return 0;
  const auto dtype = static_cast<DType>(1 + data[0] % 14);
  const std::size_t rank = data[1] % kRanks;
  if (size < kHead + rank) return 0;
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::uint8_t dim = data[kHead + i];
    dims.push_back(dim == 0xFF ? -1 : dim == 0xFE ? std::int64_t{1} << 40 : dim);
  }
  const auto body = std::as_bytes(std::span(data + kHead + rank, size - kHead - rank));
  HeapMemory memory;
  const auto input =
      corelane::wire::raw_input(body, {.name = "x", .dtype = dtype, .dims = dims}, memory);
  if (!input) {
    corelane::check(!input.error().message.empty(), "an error says something");
    return 0;
  }
  corelane::fuzz::check_input(*input);
  return 0;
}
