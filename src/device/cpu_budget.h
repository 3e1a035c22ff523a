#pragma once

#include <vector>

#include "base/result.h"
#include "device/topology.h"

namespace corelane::device {

/// What this process may really use of a machine.
struct CpuBudget {
  Topology topology;        // all there is
  std::vector<int> usable;  // logical CPUs left by affinity and cpuset, ascending
  double quota = 0;         // CPUs' worth of time that the cgroups allow; 0: no limit

  /// Physical cores with only their usable CPUs; cores without any are left out.
  std::vector<PhysicalCore> usable_cores() const;
};

/// By hwloc, sched_getaffinity and the cgroups of this process.
Result<CpuBudget> read_cpu_budget();

}  // namespace corelane::device
