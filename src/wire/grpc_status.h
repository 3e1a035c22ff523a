#pragma once

#include "base/result.h"

namespace corelane::wire {

/// The gRPC status code (grpc::StatusCode as a number) for an error: the same names as over HTTP,
/// so every fault of a client is INVALID_ARGUMENT, never INTERNAL.
int grpc_status(ErrorCode code);

}  // namespace corelane::wire
