#include "engine/probe/behaviours.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include "base/result.h"
#include "base/units.h"
#include "engine/engine_abi.h"
#include "tensor/dtype.h"

namespace corelane::engine::probe {
namespace {

using tensor::DType;

template <typename T>
std::span<const T> elements(const cl_tensor& tensor) {
  return {static_cast<const T*>(tensor.data), tensor.bytes / sizeof(T)};
}

/// use(T{}) with the element's C++ type; `otherwise` for types without arithmetic.
template <typename Use, typename Otherwise>
auto with_type(std::uint32_t dtype, Use&& use, Otherwise otherwise) {
  switch (static_cast<DType>(dtype)) {
    case DType::kUint8:
      return use(std::uint8_t{});
    case DType::kUint16:
      return use(std::uint16_t{});
    case DType::kUint32:
      return use(std::uint32_t{});
    case DType::kUint64:
      return use(std::uint64_t{});
    case DType::kInt8:
      return use(std::int8_t{});
    case DType::kInt16:
      return use(std::int16_t{});
    case DType::kInt32:
      return use(std::int32_t{});
    case DType::kInt64:
      return use(std::int64_t{});
    case DType::kFp32:
      return use(float{});
    case DType::kFp64:
      return use(double{});
    default:
      return otherwise;
  }
}

template <typename T>
T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

bool same_shape(const cl_tensor& a, const cl_tensor& b) {
  return a.rank == b.rank && std::equal(a.dims, a.dims + a.rank, b.dims);
}

cl_tensor placed_in(cl_tensor tensor, Buffer& buffer) {
  tensor.data = buffer.data();
  tensor.bytes = buffer.size();
  return tensor;
}

}  // namespace

cl_tensor copy_of(const cl_tensor& input, Buffer& buffer) {
  const auto bytes = elements<std::byte>(input);
  buffer.assign(bytes.begin(), bytes.end());
  return placed_in(input, buffer);
}

cl_tensor not_numbers(Buffer& buffer) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float values[] = {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity};
  buffer.resize(sizeof values);
  std::memcpy(buffer.data(), values, sizeof values);
  cl_tensor result{};
  result.dtype = static_cast<std::uint32_t>(DType::kFp32);
  result.rank = 1;
  result.dims[0] = std::ssize(values);
  return placed_in(result, buffer);
}

cl_tensor zeros(std::size_t bytes, Buffer& buffer) {
  buffer.assign(bytes, std::byte{0});
  cl_tensor result{};
  result.dtype = static_cast<std::uint32_t>(DType::kUint8);
  result.rank = 1;
  result.dims[0] = static_cast<std::int64_t>(bytes);
  return placed_in(result, buffer);
}

Result<cl_tensor> sum_of(const cl_tensor& a, const cl_tensor& b, Buffer& buffer) {
  if (a.dtype != b.dtype) return invalid_argument("the two inputs have different data types");
  if (!same_shape(a, b)) return invalid_argument("the two inputs have different shapes");
  return with_type(
      a.dtype,
      [&](auto type) -> Result<cl_tensor> {
        using T = decltype(type);
        buffer.resize(a.bytes);
        const auto left = elements<T>(a);
        const auto right = elements<T>(b);
        std::transform(left.begin(), left.end(), right.begin(), reinterpret_cast<T*>(buffer.data()),
                       plus<T>);
        return placed_in(a, buffer);
      },
      Result<cl_tensor>(invalid_argument("inputs of this data type cannot be added")));
}

bool has_value(const cl_tensor& tensor, double value) {
  return with_type(
      tensor.dtype,
      [&](auto type) {
        return std::ranges::any_of(elements<decltype(type)>(tensor),
                                   [&](auto x) { return static_cast<double>(x) == value; });
      },
      false);
}

Result<Nanos> seconds_in(const cl_tensor& tensor) {
  const auto values = elements<float>(tensor);
  if (tensor.dtype != static_cast<std::uint32_t>(DType::kFp32) || values.empty()) {
    return invalid_argument("INPUT0 must be FP32 and hold the seconds to sleep");
  }
  float longest = 0;
  for (const float value : values) longest = std::max(longest, value);  // NaN never wins
  return from_seconds(std::min(longest, 60.0F));
}

}  // namespace corelane::engine::probe
