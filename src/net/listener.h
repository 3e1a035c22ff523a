#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace corelane::net {

/// A listening, non-blocking TCP socket; closed when destroyed. Thread-compatible.
class Listener {
 public:
  static Result<Listener> open(const std::string& address, std::uint16_t port);
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&& other) noexcept;
  ~Listener();

  int fd() const { return fd_; }
  std::uint16_t port() const { return port_; }
  /// A connected, non-blocking socket without Nagle's delay; a negative errno when there is none.
  int accept() const;

 private:
  Listener(int fd, std::uint16_t port) : fd_(fd), port_(port) {}
  int fd_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace corelane::net
