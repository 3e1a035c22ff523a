#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "load/closed_loop.h"
#include "stats/distribution.h"
#include "stats/throughput.h"

namespace corelane::load {

/// What a run's window says.
struct Measurement {
  /// Of the requests that were under way at any instant of the window: `sent` holds also those sent
  /// in the warm-up and answered in the window, `unfinished` those that the window's end cut off.
  stats::Counts counts;
  std::int64_t warmup_requests = 0;  // ended before the window opened
  std::int64_t items = 0;            // of the ok ones
  stats::Throughput items_per_second;
  stats::Distribution latency;                       // milliseconds, of the ok ones
  std::map<std::string, stats::Distribution> split;  // likewise, where the target told
  double lane_seconds = 0;  // the lanes' time within the window that went into these requests
};

/// Pure. Precondition: run.opened < run.closed.
Measurement measure(const LoadRun& run);

}  // namespace corelane::load
