#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "lane/shared_memory.h"

namespace corelane::lane {

/// One end of a connection that carries whole messages (SOCK_SEQPACKET). Thread-safe: a message is
/// one system call.
class ControlSocket {
 public:
  explicit ControlSocket(FileDescriptor fd) : fd_(std::move(fd)) {}

  static Result<std::pair<ControlSocket, ControlSocket>> make_pair();

  int fd() const { return fd_.get(); }

  enum class Wait { kNo, kYes };

  /// kUnavailable: the other side has gone, or (kNo only) does not read.
  Status send(std::string_view message, Wait wait) const;

  /// nullopt: nothing there (kNo only). kUnavailable: the other side has gone. kInternal: a message
  /// longer than any may be.
  Result<std::optional<std::string>> receive(Wait wait) const;

 private:
  FileDescriptor fd_;
};

}  // namespace corelane::lane
