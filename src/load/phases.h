#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/units.h"

namespace corelane::load {

/// When a run warms up, measures and ends.
struct LoadLimits {
  Nanos warmup = std::chrono::seconds(2);       // at least
  Nanos max_warmup = std::chrono::seconds(20);  // measuring begins then, settled or not
  Nanos window = std::chrono::seconds(10);      // at least
  std::int64_t min_requests = 20;               // answered in the window, at least
  Nanos max_window = std::chrono::seconds(60);  // the window closes then, whatever is missing
};

/// Whether the latencies (in the order of their ends) have stopped getting shorter: the median of
/// the last `group` is no more than 5 % below that of the `group` before. False with fewer than two
/// groups. Precondition: group > 0.
bool has_settled(std::span<const Nanos> latencies, std::size_t group);

/// Warm-up has lasted and latencies have settled, or it has lasted too long.
bool warmed_up(const LoadLimits& limits, Nanos elapsed, bool settled);

/// The window may close.
bool measured_enough(const LoadLimits& limits, Nanos elapsed, std::int64_t answered);

}  // namespace corelane::load
