#include "tensor/padding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "base/check.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::tensor {
namespace {

/// The first axis (not 0, along which a part is always unbroken) behind which part and whole agree.
std::size_t unbroken_from(const Shape& whole, const Shape& part) {
  std::size_t axis = part.rank();
  while (axis > 1 && part[axis - 1] == whole[axis - 1]) {
    --axis;
  }
  return std::max<std::size_t>(axis, 1) - 1;
}

std::int64_t product(std::span<const std::int64_t> dims) {
  std::int64_t product = 1;
  for (const std::int64_t size : dims) {
    product *= size;
  }
  return product;
}

/// Calls use(element of the whole, element of the part, elements) for each unbroken run, in order.
template <typename Use>
void for_each_run(const Shape& whole, const Shape& part, std::int64_t row, Use&& use) {
  if (part.rank() == 0) {
    use(0, 0, 1);
    return;
  }
  const std::size_t axis = unbroken_from(whole, part);
  const std::int64_t run = product(part.dims().subspan(axis));
  const std::int64_t runs = product(part.dims().first(axis));
  if (run == 0) {
    return;
  }
  std::array<std::int64_t, kMaxRank> index{};
  for (std::int64_t number = 0; number < runs; ++number) {
    std::int64_t place = 0;
    for (std::size_t k = 0; k < whole.rank(); ++k) {
      place = place * whole[k] + index[k] + (k == 0 ? row : 0);
    }
    use(place, number * run, run);
    for (std::size_t k = axis; k-- > 0;) {
      if (++index[k] < part[k]) {
        break;
      }
      index[k] = 0;
    }
  }
}

template <typename T>
void fill_as(std::span<std::byte> elements, T value) {
  if (std::ranges::all_of(std::as_bytes(std::span(&value, 1)),
                          [](std::byte byte) { return byte == std::byte{0}; })) {
    std::memset(elements.data(), 0, elements.size());
    return;
  }
  for (std::size_t at = 0; at < elements.size(); at += sizeof(T)) {
    std::memcpy(elements.data() + at, &value, sizeof(T));
  }
}

template <typename T>
T to_integer(double value) {
  if (std::isnan(value)) {
    return 0;
  }
  const double rounded = std::nearbyint(value);
  // 2^63 and 2^64 - 1 are not doubles; the comparison with what is one above them is exact.
  if (rounded >= std::ldexp(1.0, std::numeric_limits<T>::digits)) {
    return std::numeric_limits<T>::max();
  }
  if (rounded <= static_cast<double>(std::numeric_limits<T>::lowest())) {
    return std::numeric_limits<T>::lowest();
  }
  return static_cast<T>(rounded);
}

/// Rounds to a binary format of 16 bits with `fraction` bits after the point, ties to even. The
/// double keeps enough bits that rounding once is exact.
std::uint16_t to_16_bits(double value, int fraction, int largest_exponent) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const int bias = largest_exponent;
  const auto infinity = static_cast<std::uint16_t>((2 * bias + 1) << fraction);
  if (std::isnan(value)) {
    return static_cast<std::uint16_t>(sign | infinity | (1 << (fraction - 1)));
  }
  const double magnitude = std::abs(value);
  if (std::isinf(magnitude)) {
    return sign | infinity;
  }
  const int exponent = magnitude == 0 ? -bias : std::max(std::ilogb(magnitude), 1 - bias);
  // In units of the last place; 2^fraction of them or more where the number is normal. A carry
  // runs into the exponent, as it should.
  const auto units =
      static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, fraction - exponent)));
  const std::uint32_t bits =
      magnitude == 0 ? 0 : (static_cast<std::uint32_t>(exponent + bias - 1) << fraction) + units;
  return static_cast<std::uint16_t>(sign | std::min<std::uint32_t>(bits, infinity));
}

}  // namespace

bool part_fits(const Shape& whole, const Shape& part, std::int64_t row) {
  if (whole.rank() != part.rank() || row < 0) {
    return false;
  }
  if (part.rank() == 0) {
    return row == 0;
  }
  for (std::size_t axis = 1; axis < part.rank(); ++axis) {
    if (part[axis] > whole[axis]) {
      return false;
    }
  }
  return part[0] <= whole[0] && row <= whole[0] - part[0];
}

bool is_contiguous(const Shape& whole, const Shape& part) {
  return part.rank() == 0 || unbroken_from(whole, part) == 0 || part.elements() == 0;
}

void paste(std::span<std::byte> whole, const Shape& whole_shape, std::span<const std::byte> part,
           const Shape& part_shape, std::int64_t row, DType type) {
  check(part_fits(whole_shape, part_shape, row), "a part that is pasted fits");
  const std::size_t size = size_of(type);
  for_each_run(whole_shape, part_shape, row,
               [&](std::int64_t to, std::int64_t from, std::int64_t elements) {
                 std::memcpy(whole.data() + static_cast<std::size_t>(to) * size,
                             part.data() + static_cast<std::size_t>(from) * size,
                             static_cast<std::size_t>(elements) * size);
               });
}

void cut(std::span<std::byte> part, const Shape& part_shape, std::span<const std::byte> whole,
         const Shape& whole_shape, std::int64_t row, DType type) {
  check(part_fits(whole_shape, part_shape, row), "a part that is cut out fits");
  const std::size_t size = size_of(type);
  for_each_run(whole_shape, part_shape, row,
               [&](std::int64_t from, std::int64_t to, std::int64_t elements) {
                 std::memcpy(part.data() + static_cast<std::size_t>(to) * size,
                             whole.data() + static_cast<std::size_t>(from) * size,
                             static_cast<std::size_t>(elements) * size);
               });
}

void fill(std::span<std::byte> elements, DType type, double value) {
  if (elements.empty()) {
    return;  // there may be no memory, which memset must not be given
  }
  switch (type) {
    case DType::kBool:
      return fill_as(elements, static_cast<std::uint8_t>(value != 0 ? 1 : 0));
    case DType::kUint8:
      return fill_as(elements, to_integer<std::uint8_t>(value));
    case DType::kUint16:
      return fill_as(elements, to_integer<std::uint16_t>(value));
    case DType::kUint32:
      return fill_as(elements, to_integer<std::uint32_t>(value));
    case DType::kUint64:
      return fill_as(elements, to_integer<std::uint64_t>(value));
    case DType::kInt8:
      return fill_as(elements, to_integer<std::int8_t>(value));
    case DType::kInt16:
      return fill_as(elements, to_integer<std::int16_t>(value));
    case DType::kInt32:
      return fill_as(elements, to_integer<std::int32_t>(value));
    case DType::kInt64:
      return fill_as(elements, to_integer<std::int64_t>(value));
    case DType::kFp16:
      return fill_as(elements, to_16_bits(value, 10, 15));
    case DType::kBf16:
      return fill_as(elements, to_16_bits(value, 7, 127));
    case DType::kFp32:
      return fill_as(elements, static_cast<float>(value));
    case DType::kFp64:
      return fill_as(elements, value);
    case DType::kBytes:
      break;
  }
  check(false, "BYTES elements have no value to fill with");
}

std::optional<std::size_t> bytes_elements_end(std::span<const std::byte> tensor,
                                              std::int64_t count) {
  std::size_t end = 0;
  for (std::int64_t element = 0; element < count; ++element) {
    std::uint32_t length = 0;
    if (tensor.size() - end < sizeof(length)) {
      return std::nullopt;
    }
    std::memcpy(&length, tensor.data() + end, sizeof(length));
    end += sizeof(length);
    if (tensor.size() - end < length) {
      return std::nullopt;
    }
    end += length;
  }
  return end;
}

}  // namespace corelane::tensor
