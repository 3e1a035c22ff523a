#include "lane/control_socket.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "lane/control_messages.h"
#include "lane/shared_memory.h"

namespace corelane::lane {

Result<std::pair<ControlSocket, ControlSocket>> ControlSocket::make_pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return errno_error("making a control socket", errno);
  }
  return std::pair(ControlSocket(FileDescriptor(ends[0])), ControlSocket(FileDescriptor(ends[1])));
}

Status ControlSocket::send(std::string_view message, Wait wait) const {
  const int flags = MSG_NOSIGNAL | (wait == Wait::kNo ? MSG_DONTWAIT : 0);
  for (;;) {
    if (::send(fd(), message.data(), message.size(), flags) >= 0) {
      return {};
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return unavailable("the other end of the control socket does not read");
    }
    if (errno == EPIPE || errno == ECONNRESET) {
      return unavailable("the other end of the control socket has gone");
    }
    if (errno != EINTR) {
      return errno_error("sending a control message", errno);
    }
  }
}

Result<std::optional<std::string>> ControlSocket::receive(Wait wait) const {
  std::string message(kMostMessageBytes, '\0');
  const int flags = MSG_TRUNC | (wait == Wait::kNo ? MSG_DONTWAIT : 0);
  for (;;) {
    const ssize_t size = recv(fd(), message.data(), message.size(), flags);
    if (size > static_cast<ssize_t>(message.size())) {
      return internal_error("a control message that is too long");
    }
    if (size > 0) {
      message.resize(static_cast<std::size_t>(size));
      return std::optional(std::move(message));
    }
    if (size == 0 || errno == ECONNRESET) {
      return unavailable("the other end of the control socket has gone");
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return std::optional<std::string>();
    }
    if (errno != EINTR) {
      return errno_error("receiving a control message", errno);
    }
  }
}

}  // namespace corelane::lane
