#include "load/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace corelane::load {
namespace {

using tensor::DType;

template <typename T>
void append(std::vector<std::byte>& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// Rounds to nearest, ties to even: the upper half of a float32 is a bfloat16.
std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

/// Rounds to nearest, ties to even; larger values become infinity.
std::uint16_t fp16_bits(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double magnitude = std::abs(value);
  if (magnitude >= 65520) return static_cast<std::uint16_t>(sign | 0x7C00);
  // The exponent of the last place: of normal numbers, and at least that of subnormal ones.
  const int place = std::max(magnitude > 0 ? std::ilogb(magnitude) : -15, -14) - 10;
  const double steps = std::nearbyint(std::ldexp(magnitude, -place));  // at most 2048
  // Adding the steps to the exponent lets a carry out of the fraction raise it.
  const int exponent = place + 10 + 14;
  return static_cast<std::uint16_t>(sign | ((exponent << 10) + static_cast<int>(steps)));
}

void append_text(std::vector<std::byte>& bytes, double value) {
  const std::string digits = std::to_string(static_cast<long long>(value));
  append(bytes, static_cast<std::uint32_t>(digits.size()));
  const std::size_t at = bytes.size();
  bytes.resize(at + digits.size());
  std::memcpy(bytes.data() + at, digits.data(), digits.size());
}

}  // namespace

bool is_integer(DType type) { return type <= DType::kInt64 || type == DType::kBytes; }

void append_element(std::vector<std::byte>& bytes, DType type, double value) {
  switch (type) {
    case DType::kBool:
      return append(bytes, static_cast<std::uint8_t>(value != 0));
    case DType::kUint8:
      return append(bytes, static_cast<std::uint8_t>(value));
    case DType::kUint16:
      return append(bytes, static_cast<std::uint16_t>(value));
    case DType::kUint32:
      return append(bytes, static_cast<std::uint32_t>(value));
    case DType::kUint64:
      return append(bytes, static_cast<std::uint64_t>(value));
    case DType::kInt8:
      return append(bytes, static_cast<std::int8_t>(value));
    case DType::kInt16:
      return append(bytes, static_cast<std::int16_t>(value));
    case DType::kInt32:
      return append(bytes, static_cast<std::int32_t>(value));
    case DType::kInt64:
      return append(bytes, static_cast<std::int64_t>(value));
    case DType::kFp16:
      return append(bytes, fp16_bits(value));
    case DType::kFp32:
      return append(bytes, static_cast<float>(value));
    case DType::kFp64:
      return append(bytes, value);
    case DType::kBytes:
      return append_text(bytes, value);
    case DType::kBf16:
      return append(bytes, bf16_bits(static_cast<float>(value)));
  }
}

}  // namespace corelane::load
