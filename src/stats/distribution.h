#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace corelane::stats {

/// What happened to the requests of a window. sent == ok + failed + unfinished, always.
struct Counts {
  std::int64_t sent = 0;
  std::int64_t ok = 0;
  std::int64_t failed = 0;
  std::int64_t unfinished = 0;  // sent in the window, answered after it

  friend bool operator==(const Counts&, const Counts&) = default;
};

inline bool adds_up(const Counts& counts) {
  return counts.sent == counts.ok + counts.failed + counts.unfinished;
}

/// Exact over all values, in their unit (milliseconds in results). All zero without values.
struct Distribution {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  double min = 0;
  double max = 0;

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

/// Nearest rank: the smallest value that at least `percent` per cent of all values do not exceed.
/// Preconditions: `sorted` ascending and not empty, 0 < percent <= 100.
double percentile(std::span<const double> sorted, double percent);

/// In any order; sorts its copy.
Distribution summarise(std::vector<double> values);

}  // namespace corelane::stats
