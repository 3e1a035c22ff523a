#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "load/window.h"

namespace corelane::bench {

/// What a verdict depends on besides the measurement itself.
struct VerdictContext {
  std::int64_t min_requests = 1;
  std::int64_t concurrency = 1;
  double generator_cores = 0;
  double machine_cores = 0;      // usable here; 0: the target runs elsewhere
  std::string first_error = {};  // of a failed request
};

/// Why a measurement may not be trusted, as sentences; empty when it is valid:
///   - fewer requests were answered than asked for;
///   - requests failed;
///   - the load generator was busy for more than half of its time, or took more than a third of the
///     machine that it shares with what it measures;
///   - the second half of the window was faster or slower than the first by more than 10 %, and by
///     more than the noise explains.
std::vector<std::string> reasons_against(const load::Measurement& measured,
                                         const VerdictContext& context);

}  // namespace corelane::bench
