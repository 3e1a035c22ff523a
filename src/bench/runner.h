#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "bench/experiments.h"
#include "bench/result.h"
#include "bench/session.h"
#include "load/closed_loop.h"
#include "store/store.h"

namespace corelane::bench {

/// Is told how a study goes, from the thread that runs it.
class StudyWatcher {
 public:
  virtual ~StudyWatcher() = default;
  /// An experiment was measured before and is not measured again.
  virtual void found(const ExperimentResult& result) = 0;
  virtual void running(const PlannedExperiment& planned, const load::Progress& progress) = 0;
  virtual void measured(const ExperimentResult& result) = 0;
  /// An experiment could not be run at all; nothing is kept of it.
  virtual void failed(const PlannedExperiment& planned, const Error& error) = 0;
};

struct StudyOptions {
  std::string study;
  load::LoadLimits limits = {};
  Machine machine = {};
  bool again = false;  // measure also what has been measured before
  std::function<bool()> stop_asked = [] { return false; };
};

struct StudyOutcome {
  std::vector<ExperimentResult> results;  // those found and those measured, in the list's order
  std::size_t measured = 0;
  std::size_t failed = 0;
  bool stopped = false;  // before the end
};

/// Runs what of the list has no result in the store yet, and keeps each result under
/// "<study>/<id>.json" with its samples beside it the moment it is there. What was running when the
/// stop was asked for is dropped. An experiment that cannot run is reported and passed over; where
/// its session cannot be opened, so are those that share it. Fails only where the store does.
Result<StudyOutcome> run_study(std::span<const PlannedExperiment> list, const StudyOptions& options,
                               SessionOpener& opener, store::Store& store, const Clock& clock,
                               StudyWatcher& watcher);

/// The samples of a run as text: docs/formats/result.md.
std::string write_samples(const load::LoadRun& run);

/// "2026-11-30T21:40:14Z" from the time since 1970.
std::string utc_time(Nanos since_epoch);

}  // namespace corelane::bench
