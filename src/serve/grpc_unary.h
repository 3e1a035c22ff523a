#pragma once

#include "serve/grpc_context.h"

namespace grpc {
class ServerUnaryReactor;
}  // namespace grpc

namespace corelane::serve {

/// Serves one ModelInfer: reads `request`, and writes `response` when the service has answered.
/// Both belong to the call. Never blocks.
grpc::ServerUnaryReactor* serve_unary_infer(GrpcContext& context, grpc::CallbackServerContext& call,
                                            const grpc::ByteBuffer& request,
                                            grpc::ByteBuffer& response);

}  // namespace corelane::serve
