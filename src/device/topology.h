#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace corelane::device {

/// A physical core: the logical CPUs on it (SMT siblings) share its arithmetic units.
struct PhysicalCore {
  std::vector<int> cpus;  // logical CPUs by the system's number, ascending
  int package = 0;
  int numa_node = 0;

  friend bool operator==(const PhysicalCore&, const PhysicalCore&) = default;
};

/// All online CPUs of a machine, whether this process may use them or not. Cores are in the order
/// of their first CPU.
struct Topology {
  std::vector<PhysicalCore> cores;
};

/// This machine, by hwloc.
Result<Topology> read_topology();

/// A machine described in hwloc's synthetic syntax, for tests and what-if plans:
/// "pack:2 numa:1 core:4 pu:2".
Result<Topology> synthetic_topology(const std::string& description);

}  // namespace corelane::device
