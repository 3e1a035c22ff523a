#include "wire/half.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace corelane::wire {
namespace {

struct Format {
  int mantissa_bits;
  int exponent_bits;
};

constexpr Format kFp16{.mantissa_bits = 10, .exponent_bits = 5};
constexpr Format kBf16{.mantissa_bits = 7, .exponent_bits = 8};

/// Scales so that the last mantissa bit is worth 1, then lets the processor round to even.
std::uint16_t narrow(double number, const Format& format) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(number) ? 0x8000 : 0);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const auto infinity =
      static_cast<std::uint16_t>(((1 << format.exponent_bits) - 1) << format.mantissa_bits);
  if (std::isnan(number)) {
    return static_cast<std::uint16_t>(sign | infinity | (1 << (format.mantissa_bits - 1)));
  }
  const double magnitude = std::fabs(number);
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | infinity);
  if (magnitude == 0) return sign;

  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const double scaled = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  // A subnormal has no hidden bit, a carry out of the mantissa moves into the exponent: both come
  // out right by plain addition.
  const double bits = scaled + std::ldexp(exponent + bias - 1, format.mantissa_bits);
  return static_cast<std::uint16_t>(
      sign | (bits >= infinity ? infinity : static_cast<std::uint16_t>(bits)));
}

}  // namespace

std::uint16_t fp16_from(double number) { return narrow(number, kFp16); }
std::uint16_t bf16_from(double number) { return narrow(number, kBf16); }

float float_from_fp16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1FU;
  const std::uint32_t mantissa = bits & 0x3FFU;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 0x1F ? 0xFF : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace corelane::wire
