#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "lane/lane.h"

namespace corelane::service {

/// Counts of durations up to fixed limits, from 50 us to 30 s, and their sum. Adding is a few
/// comparisons and no allocation. Thread-compatible.
class Histogram {
 public:
  static constexpr std::array<double, 18> kLimits{0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025,
                                                  0.005,   0.01,   0.025,   0.05,   0.1,   0.25,
                                                  0.5,     1,      2.5,     5,      10,    30};

  void add(Nanos duration);

  /// counts()[i]: durations in (kLimits[i-1], kLimits[i]] seconds; the last one: longer ones.
  const std::array<std::uint64_t, kLimits.size() + 1>& counts() const { return counts_; }
  std::uint64_t count() const { return count_; }
  Nanos sum() const { return sum_; }

 private:
  std::array<std::uint64_t, kLimits.size() + 1> counts_{};
  std::uint64_t count_ = 0;
  Nanos sum_{};
};

/// Sums of the three steps of a run in its worker. Each count() is one run, or one request with all
/// of its run's time. Thread-compatible.
class StepTimes {
 public:
  void add(const lane::BatchTiming& timing, std::uint64_t times = 1);

  std::uint64_t count() const { return count_; }
  Nanos input() const { return input_; }      // from received until gathered and padded
  Nanos compute() const { return compute_; }  // the engine's
  Nanos output() const { return output_; }    // until cut and written

 private:
  std::uint64_t count_ = 0;
  Nanos input_{};
  Nanos compute_{};
  Nanos output_{};
};

inline constexpr std::size_t kErrorCodes = static_cast<std::size_t>(ErrorCode::kInternal) + 1;

/// A lane that is up and has loaded a version.
struct HeldByLane {
  std::size_t lane = 0;
  std::string report;  // what its engine says it loaded (JSON)
};

/// What one version has done since the start, over all times that it was loaded. accepted ==
/// succeeded + failed + waiting + running.
struct VersionStats {
  std::string model;
  std::int64_t version = 0;
  std::uint64_t accepted = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;                          // accepted, but answered with an error
  std::array<std::uint64_t, kErrorCodes> refused{};  // not accepted, by ErrorCode
  std::uint64_t items = 0;                           // rows of succeeded requests
  std::uint64_t batches = 0;                         // runs that succeeded
  std::uint64_t retried = 0;  // requests given to a lane again after their worker died
  std::uint64_t poison = 0;   // refused because their inputs had killed workers before
  std::size_t waiting = 0;
  std::size_t running = 0;
  std::vector<HeldByLane> held_by;  // now
  Histogram queue;                  // of each run request: accepted until dispatched
  Histogram compute;                // of each run: gathered until ran
  StepTimes steps;                  // of each succeeded request, whose run's time is all its own
  std::map<std::int64_t, StepTimes> steps_by_rows;  // of each run, by its rows
  Nanos success_time{};  // of succeeded requests: accepted until their outputs were written
  Nanos failure_time{};  // of failed ones: accepted until given up
  Nanos last_run{};      // when the last one that succeeded ended, by Clock::now(); 0: none has
};

struct LaneStats {
  std::string name;  // "cpu:0"
  bool up = false;
  int pid = 0;                 // of the worker, while up
  std::uint64_t restarts = 0;  // workers that came up after the first one
  std::uint64_t batches = 0;
  Nanos busy{};  // with batches that have ended
};

struct ServiceStats {
  std::vector<VersionStats> versions{};
  std::vector<LaneStats> lanes{};
};

}  // namespace corelane::service
