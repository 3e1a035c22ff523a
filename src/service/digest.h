#pragma once

#include <cstdint>

#include "schedule/poison.h"
#include "service/job.h"

namespace corelane::service {

/// The size of a request's inputs.
std::uint64_t input_bytes(const Job& job);

/// The digest of a request's inputs for its version as it is loaded now: loaded anew it has others.
/// Reads all of the inputs, so it takes as long as they are.
schedule::InputDigest digest_of(const Job& job);

}  // namespace corelane::service
