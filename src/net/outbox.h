#pragma once

#include <cstddef>
#include <span>

#include "net/byte_buffer.h"

namespace corelane::net {

/// What a socket still has to send. Thread-compatible.
class Outbox {
 public:
  enum class Sent { kAll, kPart, kFailed };

  /// Bytes put here go out in front of the next send().
  ByteBuffer& head() { return buffer_; }

  /// Offers head and pieces to the non-blocking socket in one call. What it does not take is
  /// copied; flush() sends it. kFailed: the other side is gone.
  Sent send(int socket, std::span<const std::span<const std::byte>> pieces);
  Sent flush(int socket);
  std::size_t waiting() const { return buffer_.size(); }
  void forget() { buffer_.reset(kKeep); }

 private:
  static constexpr std::size_t kKeep = 256 << 10;
  Sent send_gathered(int socket, std::span<const std::span<const std::byte>> pieces);
  ByteBuffer buffer_;
};

}  // namespace corelane::net
