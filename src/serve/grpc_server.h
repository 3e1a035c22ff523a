#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/arena.h"
#include "serve/http_counters.h"
#include "service/service.h"

namespace corelane::serve {

struct GrpcServerOptions {
  std::string address = "127.0.0.1";  // numeric, IPv4 or IPv6
  std::uint16_t port = 8001;          // 0: any free one
  /// A larger request is refused with RESOURCE_EXHAUSTED.
  Bytes max_request{.count = std::uint64_t{1} << 30};
};

/// The v2 protocol over gRPC, and grpc.health.v1. gRPC's own threads read requests and submit them;
/// the threads that drive the lanes answer. Thread-compatible.
class GrpcServer {
 public:
  /// Cuts off all calls; requests that the service has accepted must still be answered, into the
  /// void, for this to return.
  virtual ~GrpcServer() = default;

  virtual std::uint16_t port() const = 0;

  /// Ready is false from now on; accepts no more calls, lets unary calls be answered and each
  /// stream what it has read, and returns when all have ended, or after `limit`: false then.
  virtual bool drain(Nanos limit) = 0;

  /// Listens. What is borrowed outlives the server. kIo when the address cannot be had.
  static Result<std::unique_ptr<GrpcServer>> start(service::Service& service, lane::Arena& arena,
                                                   const Clock& clock, HttpCounters& counters,
                                                   const GrpcServerOptions& options);
};

}  // namespace corelane::serve
