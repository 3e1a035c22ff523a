#pragma once

#include <memory>

#include "serve/grpc_context.h"

namespace grpc {
template <class Request, class Response>
class ServerBidiReactor;
}  // namespace grpc

namespace corelane::serve {

/// The open ModelStreamInfer calls. A stream's requests run side by side and are answered in their
/// order; while kMaxUnanswered wait for their answer no more is read. Thread-safe.
class GrpcStreams {
 public:
  static constexpr std::size_t kMaxUnanswered = 128;

  using Reactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

  /// The context is borrowed.
  static std::unique_ptr<GrpcStreams> create(GrpcContext& context);
  virtual ~GrpcStreams() = default;

  /// Serves one stream until its end.
  virtual Reactor* open(grpc::CallbackServerContext& call) = 0;

  /// From now on a stream ends with UNAVAILABLE as soon as what it has read is answered.
  virtual void end_all() = 0;
};

}  // namespace corelane::serve
