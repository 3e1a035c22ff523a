#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace corelane::wire {

/// Append parts of a Protocol Buffers message.
void append_varint(std::string& out, std::uint64_t number);
/// What stands before a field of `size` bytes: a string, a message, packed numbers.
void append_bytes_head(std::string& out, std::uint32_t field, std::uint64_t size);
void append_bytes_field(std::string& out, std::uint32_t field, std::string_view bytes);
void append_varint_field(std::string& out, std::uint32_t field, std::uint64_t number);
/// Packed, as proto3 has it; none below 0.
void append_sizes_field(std::string& out, std::uint32_t field,
                        std::span<const std::int64_t> numbers);

}  // namespace corelane::wire
