#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "load/phases.h"
#include "load/sample.h"
#include "load/target.h"

namespace corelane::load {

/// What a run looks like from outside while it goes on.
struct Progress {
  bool warming_up = true;
  Nanos elapsed{};            // of the phase
  std::int64_t answered = 0;  // in the phase
  std::int64_t failed = 0;
};

/// Called a few times a second from the thread that runs the load; false ends the run at once.
using Watch = std::function<bool(const Progress&)>;

/// All that happened, for measure() (window.h) to judge.
struct LoadRun {
  std::vector<Sample> samples = {};  // those of the warm-up too, in the order in which they ended
  Nanos started{};
  Nanos opened{};  // the window is [opened, closed)
  Nanos closed{};
  std::int64_t clients = 0;
  double generator_cores = 0;    // CPU time of the client threads over the window's length
  std::string first_error = {};  // of a failed request; "" without
  bool interrupted = false;      // by the watch: there may be no window
};

/// A closed loop: one thread for each target, each with one request under way at all times. The
/// phases follow `limits`; the window also closes when a recorder is full or when nothing but
/// failures comes back. Returns when all requests under way have ended, so it lasts as long as a
/// target's own timeout may. Precondition: at least one target.
LoadRun run_closed_loop(std::span<Target* const> targets, const LoadLimits& limits,
                        const Clock& clock, const Watch& watch);

}  // namespace corelane::load
