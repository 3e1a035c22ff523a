#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "net/event_loop.h"
#include "net/http.h"

namespace corelane::net {

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // numeric, IPv4 or IPv6
  std::uint16_t port = 0;             // 0: any free one
  std::size_t max_connections = 4096;
  Bytes max_head{.count = std::uint64_t{64} << 10};  // request line and headers
  std::size_t max_headers = 128;
  Bytes max_body{.count = std::uint64_t{1} << 30};
  Nanos idle_timeout = std::chrono::seconds(120);  // between requests
  Nanos head_timeout = std::chrono::seconds(10);  // from a request's first byte to its headers' end
  /// A body must be read, and an answer taken, within this and its length at slowest_rate.
  Nanos transfer_timeout = std::chrono::seconds(30);
  Bytes slowest_rate{.count = std::uint64_t{64} << 10};  // per second
};

/// An HTTP/1.1 server: keep-alive, pipelined requests answered in order, chunked request bodies,
/// Expect: 100-continue. Malformed requests, ones over a limit and slow ones are answered with a
/// JSON error and closed. Connections are spread over the net threads as they come.
class HttpServer {
 public:
  /// Closes all connections at once; a handler that still owes answers must give them, into the
  /// void, for this to return. The net threads must still run.
  virtual ~HttpServer() = default;

  virtual std::uint16_t port() const = 0;

  /// Stops accepting, closes idle connections, lets every request that has begun be read, served
  /// and answered (with "Connection: close"), at most for `limit`; then closes what is left.
  /// Blocks; not from a net thread. True when nothing had to be cut off.
  virtual bool drain(Nanos limit) = 0;

  /// Listens. The threads, handler and clock are borrowed and outlive the server. kIo when the
  /// address cannot be had.
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options,
                                                   Handler& handler, NetThreads& threads);
};

}  // namespace corelane::net
