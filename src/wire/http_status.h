#pragma once

#include "base/result.h"

namespace corelane::wire {

/// The protocol's HTTP status for an error. Every fault of a client is 400, never 500.
int http_status(ErrorCode code);

}  // namespace corelane::wire
