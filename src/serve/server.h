#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/pool.h"
#include "serve/grpc_server.h"
#include "serve/model_keeper.h"
#include "service/service.h"

namespace corelane::serve {

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8000;  // 0: any free one
  std::size_t net_threads = 1;
  std::optional<GrpcServerOptions> grpc{};  // nullopt: none
  ModelKeeper* keeper = nullptr;            // borrowed; null: models cannot be changed
};

/// A service behind HTTP and, where that is wanted, gRPC. Its net threads own the sockets and drive
/// the lanes: lane i belongs to thread i modulo their number. Thread-compatible. The service, the
/// pool and the clock are borrowed; destroy the server first.
class Server {
 public:
  /// Waits for the answers of all requests that clients have begun; call drain() before.
  virtual ~Server() = default;

  virtual std::uint16_t port() const = 0;
  /// nullopt: no gRPC.
  virtual std::optional<std::uint16_t> grpc_port() const = 0;

  /// Ready is false from now on; stops listening, closes idle connections, and returns when every
  /// request that had begun is answered, or after `limit`: false then.
  virtual bool drain(Nanos limit) = 0;

  /// Drives the lanes and listens when it returns. kIo when the address cannot be had.
  static Result<std::unique_ptr<Server>> start(service::Service& service, lane::LanePool& pool,
                                               const Clock& clock, const ServerOptions& options);
};

}  // namespace corelane::serve
