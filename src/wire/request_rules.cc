#include "wire/request_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::wire {
namespace {

/// Parameters that the protocol has and this server does not.
bool unserved_parameter(std::string_view key) {
  return key == "sequence_id" || key == "sequence_start" || key == "sequence_end" ||
         key.starts_with("shared_memory_");
}

}  // namespace

std::string to_string(const PlaceView& place) {
  if (place.kind == "request") return "request";
  if (place.name.empty()) return fmt::format("{} #{}", place.kind, place.index);
  return fmt::format("{} '{}'", place.kind, place.name.substr(0, kMaxQuoted));
}

Error fault(const PlaceView& place, std::string_view what) {
  return invalid_argument(fmt::format("{}: {}", to_string(place), what));
}

Status refuse_parameter(const PlaceView& place, std::string_view key) {
  if (unserved_parameter(key)) {
    return unsupported(
        fmt::format("{}: parameter '{}' is not supported by this server", to_string(place), key));
  }
  return fault(place, fmt::format("parameter '{}' is not known", key.substr(0, kMaxQuoted)));
}

Result<tensor::DType> datatype_from(const PlaceView& place, std::string_view name) {
  if (const auto dtype = tensor::dtype_from_name(name)) return *dtype;
  return fault(place,
               fmt::format("datatype '{}' is not one of BOOL, UINT8, UINT16, UINT32, UINT64, "
                           "INT8, INT16, INT32, INT64, FP16, BF16, FP32, FP64, BYTES",
                           name.substr(0, kMaxQuoted)));
}

Result<std::optional<std::uint64_t>> tensor_size(const PlaceView& place, tensor::DType dtype,
                                                 const tensor::Shape& shape) {
  const auto elements = shape.elements();
  std::uint64_t size = 0;
  if (!elements ||
      __builtin_mul_overflow(static_cast<std::uint64_t>(*elements),
                             std::max<std::uint64_t>(tensor::size_of(dtype), 1), &size)) {
    return fault(place, fmt::format("shape {} has too many elements", to_string(shape)));
  }
  if (dtype == tensor::DType::kBytes) return std::optional<std::uint64_t>();
  return std::optional(size);
}

Result<Nanos> timeout_from(const PlaceView& place, std::uint64_t micros) {
  if (micros > static_cast<std::uint64_t>(Nanos::max().count()) / 1000) {
    return fault(place, fmt::format("timeout of {} microseconds is too long", micros));
  }
  return Nanos(std::chrono::microseconds(micros));
}

}  // namespace corelane::wire
