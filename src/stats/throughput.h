#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/units.h"

namespace corelane::stats {

/// One request: it was under way from `from` to `to` and was worth `items` (0 where it failed).
struct Work {
  Nanos from{};
  Nanos to{};
  double items = 0;
};

struct Interval {
  double low = 0;
  double high = 0;
};

struct Throughput {
  double per_second = 0;
  std::optional<Interval> interval;  // 95 %; none with fewer than three slices
  /// Rate of the second half against the first, less one: -0.2 is a fifth slower. None where the
  /// halves do not differ by more than the noise between slices.
  std::optional<double> drift;
};

/// Work done per second within each of `slices` equal parts of [opened, closed). A request that
/// reaches over an edge counts on each side by its share of time there: nothing is lost or rounded
/// at edges, so a window of eight long batches is as unbiased as one of eight thousand.
/// Preconditions: slices > 0, opened < closed.
std::vector<double> slice_rates(std::span<const Work> work, Nanos opened, Nanos closed,
                                std::size_t slices);

/// Throughput of the window. A slice is at least as long as the longest requests last (their 95th
/// percentile), so that one request does not decide several slices, and there are at most twenty.
/// The interval is Student's over the slices. Precondition: opened < closed.
Throughput throughput(std::span<const Work> work, Nanos opened, Nanos closed);

}  // namespace corelane::stats
