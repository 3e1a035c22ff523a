#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "bench/experiments.h"
#include "bench/plan.h"
#include "bench/result.h"
#include "bench/session.h"
#include "store/store.h"

namespace corelane::bench {

/// Where things are on this machine, and who asks.
struct SetupOptions {
  std::filesystem::path models;      // the repository; not needed for a server
  std::filesystem::path executable;  // becomes the workers
  std::filesystem::path engines;     // folder of the plug-ins
  std::string version;               // of corelane
  std::function<bool()> stop_asked = [] { return false; };
};

/// A study that can begin.
struct StudySetup {
  ExperimentList list;
  Machine machine;
  std::unique_ptr<SessionOpener> opener;
  std::vector<std::string> warnings;  // about models and lanes
};

/// Finds the plan's models (in the repository, or by asking the plan's server), cuts this machine
/// into the plan's lanes and lists the experiments. Starts nothing. Errors name what was not found
/// and what there is. The clock is borrowed.
Result<StudySetup> set_up_study(const Plan& plan, const SetupOptions& options, const Clock& clock);

/// The plan as it was read and the files it names, under the study's folder, so that the results
/// can be made again from what lies beside them.
Status keep_plan(const Plan& plan, std::string_view toml, const std::filesystem::path& plan_folder,
                 store::Store& store);

}  // namespace corelane::bench
