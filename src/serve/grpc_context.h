#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/result.h"
#include "lane/arena.h"
#include "serve/http_counters.h"
#include "serve/infer_request.h"
#include "service/service.h"
#include "wire/grpc_infer.h"
#include "wire/grpc_response.h"

// gRPC's own types, which stay out of our headers.
namespace grpc {
class ByteBuffer;
class CallbackServerContext;
class Status;
}  // namespace grpc

namespace corelane::serve {

/// What an infer request over gRPC needs between its bytes and its answer. Kept from one to the
/// next, so that its memory is.
struct GrpcWork {
  explicit GrpcWork(lane::Arena& arena) : request(arena) {}
  InferRequest request;
  wire::GrpcInferParser parser;
  wire::GrpcResponseWriter writer;
  bool final_mark = false;  // of the request that was read last
};

/// The idle ones. Thread-safe.
class GrpcWorks {
 public:
  explicit GrpcWorks(lane::Arena& arena) : arena_(arena) {}
  std::unique_ptr<GrpcWork> take();
  void give_back(std::unique_ptr<GrpcWork> work);

 private:
  lane::Arena& arena_;
  Guarded<std::vector<std::unique_ptr<GrpcWork>>> idle_;
};

/// What all gRPC calls share. Thread-safe; what is borrowed outlives it.
struct GrpcContext {
  service::Service& service;
  const Clock& clock;
  HttpCounters& counters;
  GrpcWorks works;
  std::atomic<bool> ending{false};  // the server says that it is not ready
};

/// Clock::now() at a call's deadline; Nanos::max() where it has none.
Nanos deadline_of(const grpc::CallbackServerContext& call, const Clock& clock);

/// Reads the message straight into the arena and submits it; the sink answers. An error where it
/// never reached the service: then the sink will not be called.
Status submit_infer(GrpcContext& context, GrpcWork& work, const grpc::ByteBuffer& message,
                    Nanos deadline, service::ReplySink& sink);

/// The one slice that a message is sent in.
grpc::ByteBuffer to_buffer(const wire::EncodedMessageView& message);

grpc::Status to_status(const Error& error);

}  // namespace corelane::serve
