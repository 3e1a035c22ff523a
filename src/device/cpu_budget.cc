#include "device/cpu_budget.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/cgroup.h"
#include "device/topology.h"

namespace corelane::device {
namespace {

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

Result<std::vector<int>> read_affinity() {
  // The kernel refuses a mask shorter than its own, whose length it does not tell.
  for (int cpus = 1024; cpus <= 65536; cpus *= 2) {
    const std::unique_ptr<cpu_set_t, FreeSet> set(CPU_ALLOC(cpus));
    const std::size_t size = CPU_ALLOC_SIZE(cpus);
    if (sched_getaffinity(0, size, set.get()) == 0) {
      std::vector<int> allowed;
      for (int cpu = 0; cpu < cpus; ++cpu) {
        if (CPU_ISSET_S(cpu, size, set.get())) {
          allowed.push_back(cpu);
        }
      }
      return allowed;
    }
    if (errno != EINVAL) {
      break;
    }
  }
  return errno_error("reading this process's CPU affinity", errno);
}

}  // namespace

std::vector<PhysicalCore> CpuBudget::usable_cores() const {
  std::vector<PhysicalCore> cores = topology.cores;
  for (PhysicalCore& core : cores) {
    std::erase_if(core.cpus, [&](int cpu) { return !std::ranges::binary_search(usable, cpu); });
  }
  std::erase_if(cores, [](const PhysicalCore& core) { return core.cpus.empty(); });
  return cores;
}

Result<CpuBudget> read_cpu_budget() {
  auto topology = read_topology();
  if (!topology) {
    return std::move(topology).error();
  }
  auto usable = read_affinity();
  if (!usable) {
    return std::move(usable).error();
  }
  const CgroupLimits limits = read_cgroup_limits(read_text);
  if (limits.cpuset) {
    std::erase_if(*usable,
                  [&](int cpu) { return !std::ranges::binary_search(*limits.cpuset, cpu); });
  }
  if (usable->empty()) {
    return internal_error("the affinity and the cpuset of this process have no CPU in common");
  }
  return CpuBudget{.topology = *std::move(topology),
                   .usable = *std::move(usable),
                   .quota = limits.cpu_quota.value_or(0)};
}

}  // namespace corelane::device
