#pragma once

#include <memory>

#include "serve/grpc_context.h"
#include "serve/grpc_stream.h"

namespace grpc {
class Service;
}  // namespace grpc

namespace corelane::serve {

/// The protocol's GRPCInferenceService. What is borrowed outlives it.
std::unique_ptr<grpc::Service> make_inference_service(GrpcContext& context, GrpcStreams& streams);

/// grpc.health.v1.Health: Check tells for "" and "inference.GRPCInferenceService" what ServerReady
/// tells. Watch is not there; clients are told so by UNIMPLEMENTED and ask again by Check.
std::unique_ptr<grpc::Service> make_health_service(GrpcContext& context);

}  // namespace corelane::serve
