#pragma once

#include <span>
#include <string>

#include "base/clock.h"

namespace corelane::lane {

/// A worker process from its arguments (those of worker_options.h) to its end; returns the exit
/// status. Two threads: the calling one runs batches, the other obeys the control socket. The
/// process ends when it is told to stop, and at once when the server goes.
int run_worker(std::span<const std::string> arguments, const Clock& clock);

}  // namespace corelane::lane
