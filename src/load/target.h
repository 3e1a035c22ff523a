#pragma once

#include <cstdint>

#include "base/result.h"
#include "load/sample.h"

namespace corelane::load {

struct Answer {
  std::int64_t items = 0;
  Split split = {};
};

/// What one client thread drives: a connection to a server, a place at the lanes, or a fake
/// (load/testing/). Everything that can be made before the clock starts has been: send() takes the
/// next of the prepared inputs, sends it and blocks for the answer.
class Target {
 public:
  virtual ~Target() = default;
  /// `turn` counts this client's requests from 0 and picks the input. An error is a failed request,
  /// after which the next one may be sent. Called by one thread at a time.
  virtual Result<Answer> send(std::uint64_t turn) = 0;
};

}  // namespace corelane::load
