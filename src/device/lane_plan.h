#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/cpu_budget.h"

namespace corelane::device {

/// The cores of one lane.
struct LaneCores {
  std::vector<int> cpus;  // logical CPUs that the worker is pinned to, ascending
  int threads = 1;        // compute threads: one for each physical core that the CPUs are on

  friend bool operator==(const LaneCores&, const LaneCores&) = default;
};

/// How a machine is cut into lanes. A lane's place in `lanes` is its id.
struct LanePlan {
  std::vector<LaneCores> lanes;
  /// Allowed, but likely not what was meant: siblings in different lanes, more cores than the quota
  /// lets run.
  std::vector<std::string> warnings;
};

/// More lanes than this are not made by `auto`: each holds its own models. Larger machines get
/// larger lanes.
inline constexpr int kMostAutoLanes = 16;

/// Makes a plan from its text:
///
///   cpu:0|cpu:1       a lane on CPU 0 and one on CPU 1 ("cpu:0|1" is the same)
///   cpu:0-1           one lane on both
///   cpu:0,2|cpu:1,3   two lanes of two
///   auto              lanes of one physical core each with all its siblings, as many as there are
///                     usable cores and as the CPU quota lets run, at most kMostAutoLanes, beyond
///                     which lanes get more cores each
///   auto:4            lanes of four physical cores; what remains is left to the server
///   all               one lane on all usable cores, or as many as the CPU quota lets run
///
/// Lanes of `auto` stay inside a NUMA node. Errors name the lane and the CPU, and say which CPUs
/// there are.
Result<LanePlan> make_lane_plan(std::string_view text, const CpuBudget& budget);

/// "cpu:0-1", and of a whole plan "cpu:0-1|cpu:2-3". make_lane_plan takes it back.
std::string to_string(const LaneCores& lane);
std::string to_string(const LanePlan& plan);

}  // namespace corelane::device
