#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/cpu_budget.h"

namespace corelane::device {

/// What a measurement on this machine has to say about it.
struct MachineFacts {
  std::string cpu;  // "AMD EPYC 9R14"; "" where the system does not say
  /// Those of the CPU's features that decide how fast a model runs, sorted: "amx_bf16", "avx512f".
  std::vector<std::string> cpu_flags;
  std::int64_t cores = 0;          // logical CPUs that this process may use
  double cpu_quota = 0;            // 0: none
  std::uint64_t memory_bytes = 0;  // that this process may use
  std::string governor;            // "performance"; "" where the system does not say
  std::string kernel;              // "6.1.0-18-amd64"
};

MachineFacts machine_facts(const CpuBudget& budget);

struct CpuInfo {
  std::string model;
  std::vector<std::string> flags;
};

/// From the text of /proc/cpuinfo, of x86 or ARM: the first CPU that is described.
CpuInfo parse_cpuinfo(std::string_view text);

}  // namespace corelane::device
