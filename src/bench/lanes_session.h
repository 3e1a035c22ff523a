#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "bench/session.h"
#include "device/cpu_budget.h"
#include "model/repository.h"

namespace corelane::bench {

struct LanesOptions {
  std::filesystem::path executable;                         // becomes the workers
  std::filesystem::path engines;                            // folder of the plug-ins
  std::vector<model::Version> versions;                     // what the experiments name
  device::CpuBudget budget;                                 // what the lane plans are read with
  std::function<bool()> stop_asked = [] { return false; };  // while models load
};

/// Sessions on this machine's lanes: worker processes with one model each, a thread that drives
/// them, no network. The clock is borrowed.
std::unique_ptr<SessionOpener> open_lanes(LanesOptions options, const Clock& clock);

/// The version of that name and number.
Result<const model::Version*> find_version(std::span<const model::Version> versions,
                                           const Experiment& experiment);

}  // namespace corelane::bench
