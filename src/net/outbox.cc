#include "net/outbox.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>

namespace corelane::net {
namespace {

using Piece = std::span<const std::byte>;

constexpr std::size_t kCopyUpTo = 16 << 10;  // one buffer is cheaper than gathering below this
constexpr std::size_t kMaxGathered = 64;

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

std::size_t total(std::span<const Piece> pieces) {
  std::size_t sum = 0;
  for (const Piece& piece : pieces) sum += piece.size();
  return sum;
}

}  // namespace

Outbox::Sent Outbox::send(int socket, std::span<const Piece> pieces) {
  const std::size_t body = total(pieces);
  if (body > kCopyUpTo && pieces.size() < kMaxGathered) return send_gathered(socket, pieces);
  for (const Piece& piece : pieces) buffer_.append(piece);
  return flush(socket);
}

Outbox::Sent Outbox::flush(int socket) {
  while (!buffer_.empty()) {
    const auto bytes = buffer_.unread();
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) return would_block(errno) ? Sent::kPart : Sent::kFailed;
    buffer_.consume(static_cast<std::size_t>(sent));
  }
  buffer_.reset(kKeep);
  return Sent::kAll;
}

Outbox::Sent Outbox::send_gathered(int socket, std::span<const Piece> pieces) {
  std::array<iovec, kMaxGathered> vectors;
  std::size_t count = 0;
  const auto add = [&](Piece piece) {
    vectors[count++] = {const_cast<std::byte*>(piece.data()), piece.size()};
  };
  add(buffer_.unread());
  for (const Piece& piece : pieces) add(piece);
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = count;
  const ssize_t result = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  if (result < 0 && !would_block(errno)) return Sent::kFailed;

  std::size_t sent = result < 0 ? 0 : static_cast<std::size_t>(result);
  const std::size_t of_head = std::min(sent, buffer_.size());
  buffer_.consume(of_head);
  sent -= of_head;
  for (const Piece& piece : pieces) {
    const std::size_t skipped = std::min(sent, piece.size());
    sent -= skipped;
    buffer_.append(piece.subspan(skipped));
  }
  return buffer_.empty() ? Sent::kAll : Sent::kPart;
}

}  // namespace corelane::net
