#include "device/topology.h"

#include <hwloc.h>
#include <hwloc/bitmap.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace corelane::device {
namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<hwloc_topology, Destroy>;

std::vector<int> cpus_of(hwloc_const_cpuset_t set) {
  std::vector<int> cpus;
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) {
    cpus.push_back(cpu);
  }
  return cpus;
}

PhysicalCore core_of(hwloc_topology_t topology, hwloc_obj_t object) {
  PhysicalCore core{.cpus = cpus_of(object->cpuset)};
  if (const hwloc_obj_t package =
          hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, object)) {
    core.package = static_cast<int>(package->logical_index);
  }
  core.numa_node = std::max(0, hwloc_bitmap_first(object->nodeset));
  return core;
}

Result<Topology> load(const std::string* synthetic) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) {
    return internal_error("hwloc cannot be initialised");
  }
  const Handle handle(raw);
  if (synthetic != nullptr && hwloc_topology_set_synthetic(raw, synthetic->c_str()) != 0) {
    return invalid_argument("hwloc does not understand the machine '" + *synthetic + "'");
  }
  if (hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
      hwloc_topology_load(raw) != 0) {
    return internal_error("hwloc cannot read this machine's topology");
  }
  // Some virtual machines show CPUs without cores; each is taken as one.
  const bool has_cores = hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  Topology topology;
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(raw, type, object)) != nullptr) {
    topology.cores.push_back(core_of(raw, object));
  }
  std::erase_if(topology.cores, [](const PhysicalCore& core) { return core.cpus.empty(); });
  std::ranges::sort(topology.cores, {}, [](const PhysicalCore& core) { return core.cpus.front(); });
  if (topology.cores.empty()) {
    return internal_error("hwloc finds no CPU on this machine");
  }
  return topology;
}

}  // namespace

Result<Topology> read_topology() { return load(nullptr); }

Result<Topology> synthetic_topology(const std::string& description) { return load(&description); }

}  // namespace corelane::device
