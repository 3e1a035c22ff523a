#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace corelane::wire {

/// How a field is written. Groups are not read.
enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// One field of a Protocol Buffers message, as it stands in the message's bytes.
struct FieldView {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;                // of all types but kBytes
  std::span<const std::byte> bytes = {};  // of kBytes: a string, a message, packed numbers

  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

/// Reads a message's fields one after the other, in place and without memory of its own; nothing
/// outside the span is touched, whatever the bytes say. Thread-compatible.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::span<const std::byte> message) : rest_(message) {}

  /// nullopt at the end, and where the bytes are no field: broken() tells which.
  std::optional<FieldView> next();
  bool broken() const { return broken_; }

 private:
  std::optional<FieldView> fail();

  std::span<const std::byte> rest_;
  bool broken_ = false;
};

/// Takes numbers off the front; nullopt where there is no whole one, or a varint has more than 64
/// bits.
std::optional<std::uint64_t> take_varint(std::span<const std::byte>& bytes);
std::optional<std::uint64_t> take_fixed64(std::span<const std::byte>& bytes);
std::optional<std::uint32_t> take_fixed32(std::span<const std::byte>& bytes);

}  // namespace corelane::wire
