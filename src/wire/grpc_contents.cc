#include "wire/grpc_contents.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "wire/protobuf_reader.h"
#include "wire/v2_infer.h"

namespace corelane::wire {
namespace {

using tensor::DType;

struct ContentsField {
  std::string_view name;
  WireType encoding = WireType::kBytes;  // of one element
};

/// By field number - 1.
constexpr std::array<ContentsField, 8> kFields{{{"bool_contents", WireType::kVarint},
                                                {"int_contents", WireType::kVarint},
                                                {"int64_contents", WireType::kVarint},
                                                {"uint_contents", WireType::kVarint},
                                                {"uint64_contents", WireType::kVarint},
                                                {"fp32_contents", WireType::kFixed32},
                                                {"fp64_contents", WireType::kFixed64},
                                                {"bytes_contents", WireType::kBytes}}};

/// The number of the field that the datatype comes in; 0: none.
std::uint32_t field_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return 1;
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
      return 2;
    case DType::kInt64:
      return 3;
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
      return 4;
    case DType::kUint64:
      return 5;
    case DType::kFp32:
      return 6;
    case DType::kFp64:
      return 7;
    case DType::kBytes:
      return 8;
    case DType::kFp16:
    case DType::kBf16:
      return 0;
  }
  return 0;
}

std::optional<std::uint64_t> take_number(std::span<const std::byte>& bytes, WireType encoding) {
  if (encoding == WireType::kFixed32) return take_fixed32(bytes);
  if (encoding == WireType::kFixed64) return take_fixed64(bytes);
  return take_varint(bytes);
}

/// Calls use(bits) for each number of a field, packed or on its own; false where the bytes are no
/// numbers of that encoding or where use() is false.
template <typename Use>
bool for_each_number(const FieldView& field, WireType encoding, Use&& use) {
  if (field.type == encoding) return use(field.value);
  if (field.type != WireType::kBytes) return false;
  for (auto rest = field.bytes; !rest.empty();) {
    const auto number = take_number(rest, encoding);
    if (!number || !use(*number)) return false;
  }
  return true;
}

Error broken_contents() { return invalid_argument("its contents are not a valid message"); }

/// What the contents hold, once they are known to be one field's.
struct Extent {
  std::uint64_t elements = 0;
  std::size_t string_bytes = 0;  // of kBytes, as they are stored
};

Status measure_field(const FieldView& field, WireType encoding, Extent& extent) {
  if (encoding != WireType::kBytes) {
    const bool whole = for_each_number(field, encoding, [&](std::uint64_t) {
      ++extent.elements;
      return true;
    });
    if (!whole) return broken_contents();
    return {};
  }
  if (field.type != WireType::kBytes) return broken_contents();
  if (field.bytes.size() > UINT32_MAX) {
    return invalid_argument(
        fmt::format("a string of {} bytes is longer than 32 bits can say", field.bytes.size()));
  }
  ++extent.elements;
  extent.string_bytes += sizeof(std::uint32_t) + field.bytes.size();
  return {};
}

Result<Extent> measure(std::span<const std::byte> contents, DType dtype) {
  const std::uint32_t wanted = field_of(dtype);
  Extent extent;
  ProtobufReader reader(contents);
  while (const auto field = reader.next()) {
    if (field->number > kFields.size()) return broken_contents();
    if (field->number != wanted) {
      return invalid_argument(fmt::format("it has {}, but {} comes in {}",
                                          kFields[field->number - 1].name, name_of(dtype),
                                          kFields[wanted - 1].name));
    }
    Status measured = measure_field(*field, kFields[wanted - 1].encoding, extent);
    if (!measured) return std::move(measured).error();
  }
  if (reader.broken()) return broken_contents();
  return extent;
}

/// The number that the bits of a field stand for; nullopt where it is none of Stored.
template <typename Stored>
std::optional<Stored> number_from(std::uint64_t bits) {
  if constexpr (std::is_same_v<Stored, bool>) {
    return bits <= 1 ? std::optional(bits == 1) : std::nullopt;
  } else if constexpr (std::is_same_v<Stored, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::is_same_v<Stored, double>) {
    return std::bit_cast<double>(bits);
  } else if constexpr (std::is_signed_v<Stored>) {
    const auto number = static_cast<std::int64_t>(bits);
    return std::in_range<Stored>(number) ? std::optional(static_cast<Stored>(number))
                                         : std::nullopt;
  } else {
    return std::in_range<Stored>(bits) ? std::optional(static_cast<Stored>(bits)) : std::nullopt;
  }
}

template <typename Stored>
Status store_numbers(std::span<const std::byte> contents, DType dtype, std::span<std::byte> to) {
  const ContentsField& wanted = kFields[field_of(dtype) - 1];
  std::size_t index = 0;
  std::uint64_t bits = 0;
  const auto store = [&](std::uint64_t number) {
    bits = number;
    const auto stored = number_from<Stored>(number);
    if (!stored) return false;
    std::memcpy(to.data() + index * sizeof(Stored), &*stored, sizeof(Stored));
    ++index;
    return true;
  };
  ProtobufReader reader(contents);
  while (const auto field = reader.next()) {
    if (for_each_number(*field, wanted.encoding, store)) continue;
    const auto value = std::is_signed_v<Stored> ? std::to_string(static_cast<std::int64_t>(bits))
                                                : std::to_string(bits);
    return invalid_argument(fmt::format("{} element {} is {}, which is out of {}'s range",
                                        wanted.name, index, value, name_of(dtype)));
  }
  return {};
}

void store_strings(std::span<const std::byte> contents, std::span<std::byte> to) {
  ProtobufReader reader(contents);
  while (const auto field = reader.next()) {
    const auto length = static_cast<std::uint32_t>(field->bytes.size());
    std::memcpy(to.data(), &length, sizeof length);
    if (length > 0) std::memcpy(to.data() + sizeof length, field->bytes.data(), length);
    to = to.subspan(sizeof length + length);
  }
}

Status store(std::span<const std::byte> contents, DType dtype, std::span<std::byte> to) {
  switch (dtype) {
    case DType::kBool:
      return store_numbers<bool>(contents, dtype, to);
    case DType::kUint8:
      return store_numbers<std::uint8_t>(contents, dtype, to);
    case DType::kUint16:
      return store_numbers<std::uint16_t>(contents, dtype, to);
    case DType::kUint32:
      return store_numbers<std::uint32_t>(contents, dtype, to);
    case DType::kUint64:
      return store_numbers<std::uint64_t>(contents, dtype, to);
    case DType::kInt8:
      return store_numbers<std::int8_t>(contents, dtype, to);
    case DType::kInt16:
      return store_numbers<std::int16_t>(contents, dtype, to);
    case DType::kInt32:
      return store_numbers<std::int32_t>(contents, dtype, to);
    case DType::kInt64:
      return store_numbers<std::int64_t>(contents, dtype, to);
    case DType::kFp32:
      return store_numbers<float>(contents, dtype, to);
    case DType::kFp64:
      return store_numbers<double>(contents, dtype, to);
    case DType::kBytes:
      store_strings(contents, to);
      return {};
    case DType::kFp16:
    case DType::kBf16:
      break;
  }
  return internal_error("such contents have no field");
}

}  // namespace

Result<std::span<const std::byte>> decode_contents(std::span<const std::byte> contents, DType dtype,
                                                   const tensor::Shape& shape,
                                                   DecodeMemory& memory) {
  if (field_of(dtype) == 0) {
    return invalid_argument(
        fmt::format("{} can only be sent in raw_input_contents", name_of(dtype)));
  }
  auto extent = measure(contents, dtype);
  if (!extent) return std::move(extent).error();
  const auto elements = shape.elements();
  if (!elements || extent->elements != static_cast<std::uint64_t>(*elements)) {
    return invalid_argument(fmt::format("{} has {} elements, but shape {} has {}",
                                        kFields[field_of(dtype) - 1].name, extent->elements,
                                        to_string(shape), elements.value_or(-1)));
  }
  const std::size_t size = dtype == DType::kBytes
                               ? extent->string_bytes
                               : static_cast<std::size_t>(extent->elements) * size_of(dtype);
  if (size == 0) return std::span<const std::byte>();
  auto given = memory.allocate(size);
  if (!given) return std::move(given).error();
  const std::span<std::byte> to = given->first(size);
  if (Status stored = store(contents, dtype, to); !stored) return std::move(stored).error();
  return std::span<const std::byte>(to);
}

}  // namespace corelane::wire
