#include "wire/raw_input.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "wire/v2_infer.h"

namespace corelane::wire {
namespace {

/// One element of strings, of the shape [1] or a rank of ones.
Result<InferInputView> raw_string(std::span<const std::byte> body, InferInputView tensor,
                                  DecodeMemory& memory) {
  if (tensor.shape.elements() != 1) {
    return invalid_argument("a raw request can carry one string, so its shape must be [1]");
  }
  if (body.size() > std::numeric_limits<std::uint32_t>::max()) {
    return invalid_argument(fmt::format("a string of {} bytes is too long", body.size()));
  }
  const auto length = static_cast<std::uint32_t>(body.size());
  auto given = memory.allocate(sizeof length + body.size());
  if (!given) return given.error();
  std::memcpy(given->data(), &length, sizeof length);
  if (!body.empty()) std::memcpy(given->data() + sizeof length, body.data(), body.size());
  tensor.data = given->first(sizeof length + body.size());
  return tensor;
}

}  // namespace

Result<InferInputView> raw_input(std::span<const std::byte> body, const RawInputView& input,
                                 DecodeMemory& memory) {
  if (input.dims.size() > tensor::kMaxRank) return invalid_argument("it has too many dimensions");
  InferInputView tensor{.name = input.name, .dtype = input.dtype};
  std::array<std::int64_t, tensor::kMaxRank> dims{};
  std::optional<std::size_t> varying;
  for (std::size_t i = 0; i < input.dims.size(); ++i) {
    dims[i] = input.dims[i] < 0 ? 1 : input.dims[i];
    if (input.dims[i] >= 0) continue;
    if (varying) {
      return invalid_argument(
          "more than one of its dimensions varies, so a raw request cannot say "
          "its shape");
    }
    varying = i;
  }
  tensor.shape = *tensor::Shape::from(std::span(dims).first(input.dims.size()));
  if (input.dtype == tensor::DType::kBytes) return raw_string(body, tensor, memory);

  const auto fixed = tensor.shape.elements();
  std::uint64_t unit = 0;
  if (!fixed ||
      __builtin_mul_overflow(static_cast<std::uint64_t>(*fixed), size_of(input.dtype), &unit)) {
    return invalid_argument("its shape has too many elements");
  }
  if (varying && unit > 0 && body.size() % unit == 0) {
    tensor.shape.set(*varying, static_cast<std::int64_t>(body.size() / unit));
  } else if (body.size() != unit) {
    return invalid_argument(fmt::format("a raw request of {} bytes is not {} of {}{}", body.size(),
                                        to_string(tensor.shape), name_of(input.dtype),
                                        varying ? " or a multiple" : ""));
  }
  tensor.data = body;
  return tensor;
}

}  // namespace corelane::wire
