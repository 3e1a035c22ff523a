#include "wire/protobuf_reader.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace corelane::wire {
namespace {

template <typename Number>
std::optional<Number> take_fixed(std::span<const std::byte>& bytes) {
  Number number = 0;
  if (bytes.size() < sizeof number) return std::nullopt;
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes = bytes.subspan(sizeof number);
  return number;
}

}  // namespace

std::optional<std::uint64_t> take_varint(std::span<const std::byte>& bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = std::to_integer<std::uint64_t>(bytes[i]);
    if (i == 9 && byte > 1) return std::nullopt;
    number |= (byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      bytes = bytes.subspan(i + 1);
      return number;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> take_fixed64(std::span<const std::byte>& bytes) {
  return take_fixed<std::uint64_t>(bytes);
}

std::optional<std::uint32_t> take_fixed32(std::span<const std::byte>& bytes) {
  return take_fixed<std::uint32_t>(bytes);
}

std::optional<FieldView> ProtobufReader::fail() {
  broken_ = true;
  rest_ = {};
  return std::nullopt;
}

std::optional<FieldView> ProtobufReader::next() {
  if (rest_.empty()) return std::nullopt;
  const auto tag = take_varint(rest_);
  if (!tag || *tag >> 3 == 0 || *tag >> 32 != 0) return fail();
  FieldView field{.number = static_cast<std::uint32_t>(*tag >> 3),
                  .type = static_cast<WireType>(*tag & 7)};
  std::optional<std::uint64_t> value;
  switch (field.type) {
    case WireType::kVarint:
    case WireType::kBytes:
      value = take_varint(rest_);
      break;
    case WireType::kFixed64:
      value = take_fixed64(rest_);
      break;
    case WireType::kFixed32:
      value = take_fixed32(rest_);
      break;
  }
  if (!value) return fail();
  if (field.type != WireType::kBytes) {
    field.value = *value;
    return field;
  }
  if (*value > rest_.size()) return fail();
  field.bytes = rest_.first(static_cast<std::size_t>(*value));
  rest_ = rest_.subspan(field.bytes.size());
  return field;
}

}  // namespace corelane::wire
