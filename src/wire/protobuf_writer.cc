#include "wire/protobuf_writer.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "wire/protobuf_reader.h"

namespace corelane::wire {
namespace {

void append_tag(std::string& out, std::uint32_t field, WireType type) {
  append_varint(out, (std::uint64_t{field} << 3) | static_cast<std::uint64_t>(type));
}

std::size_t varint_size(std::uint64_t number) {
  return (static_cast<std::size_t>(std::bit_width(number | 1)) + 6) / 7;
}

}  // namespace

void append_varint(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

void append_bytes_head(std::string& out, std::uint32_t field, std::uint64_t size) {
  append_tag(out, field, WireType::kBytes);
  append_varint(out, size);
}

void append_bytes_field(std::string& out, std::uint32_t field, std::string_view bytes) {
  append_bytes_head(out, field, bytes.size());
  out += bytes;
}

void append_varint_field(std::string& out, std::uint32_t field, std::uint64_t number) {
  append_tag(out, field, WireType::kVarint);
  append_varint(out, number);
}

void append_sizes_field(std::string& out, std::uint32_t field,
                        std::span<const std::int64_t> numbers) {
  std::size_t size = 0;
  for (const std::int64_t number : numbers) size += varint_size(static_cast<std::uint64_t>(number));
  append_bytes_head(out, field, size);
  for (const std::int64_t number : numbers) append_varint(out, static_cast<std::uint64_t>(number));
}

}  // namespace corelane::wire
