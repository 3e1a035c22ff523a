#pragma once

#include <cstdint>

namespace corelane::wire {

/// The 16-bit floating types. Rounding is to nearest, ties to even, from the double itself and not
/// by way of a float (which could round twice). What is too large becomes infinity.
std::uint16_t fp16_from(double number);
std::uint16_t bf16_from(double number);
float float_from_fp16(std::uint16_t bits);
float float_from_bf16(std::uint16_t bits);

/// Largest finite value plus half a step: from here on rounding gives infinity.
inline constexpr double kFp16Overflow = 65520.0;
inline constexpr double kBf16Overflow = 0x1.FFp127;

}  // namespace corelane::wire
