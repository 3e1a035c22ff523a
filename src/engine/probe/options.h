#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace corelane::engine::probe {

enum class Behaviour {
  kIdentity,  // output k is input k
  kAdd,       // one output: INPUT0 + INPUT1, of one numeric type and shape
  kSleep,     // INPUT0, FP32 [..]: sleeps its largest value in seconds, at most 60; then identity
  kFail,      // every infer is an error
  kCrash,     // every infer ends the process by SIGABRT
  kHang,      // infer never returns
  kNan,       // every output is FP32 [3]: NaN, Inf, -Inf
  kLarge,     // every output is UINT8 [bytes]
  kFailLoad,  // loading is an error
};

/// The manifest's options of a probe: {"behaviour": "identity", "fixed_microseconds": 100}.
struct Options {
  Behaviour behaviour = Behaviour::kIdentity;
  std::uint64_t bytes = 0;  // of each output of kLarge; at most 4 GiB
  Nanos fixed{};            // "fixed_microseconds": every infer takes that long, asleep,
  Nanos per_item{};         // "microseconds_per_item": and that much more for each row of INPUT0
  std::optional<double> crash_on_value;  // SIGABRT if any element of INPUT0 equals this
};

/// An unknown key or a value out of range is an error, so that a slip in a manifest is seen.
Result<Options> parse_options(std::string_view json);

}  // namespace corelane::engine::probe
