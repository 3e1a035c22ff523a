#pragma once

#include <cstdint>

#include "base/units.h"

namespace corelane::load {

/// Where a request's time went, as far as the target tells; zero where it does not.
struct Split {
  Nanos queue{};    // accepted, not yet with a lane
  Nanos gather{};   // inputs stacked and padded
  Nanos compute{};  // the engine
  Nanos write{};    // outputs cut and written
  Nanos lane{};     // this request's share, by rows, of the time its batch kept the lane
  bool known = false;
};

/// One request from the client's side, by the Clock that the load runs on.
struct Sample {
  Nanos scheduled{};  // when it should have been sent; in a closed loop the moment it was
  Nanos sent{};
  Nanos done{};
  std::int64_t items = 0;
  bool ok = false;
  Split split = {};
};

/// What is kept about a request: from the schedule, not from the send.
inline Nanos latency(const Sample& sample) { return sample.done - sample.scheduled; }

}  // namespace corelane::load
