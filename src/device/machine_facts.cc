#include "device/machine_facts.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "device/cgroup.h"
#include "device/cpu_budget.h"

namespace corelane::device {
namespace {

constexpr std::array<std::string_view, 21> kDeciding = {
    "amx_bf16", "amx_fp16",    "amx_int8",    "amx_tile",    "asimddp",  "asimdhp", "avx",
    "avx2",     "avx512_bf16", "avx512_fp16", "avx512_vnni", "avx512bw", "avx512f", "avx512vl",
    "avx_vnni", "bf16",        "f16c",        "fma",         "i8mm",     "sve",     "sve2"};

std::string first_line_of(const char* path) {
  const std::string text = read_text(path).value_or("");
  return text.substr(0, text.find('\n'));
}

/// Of the machine, or of the control group if that is less.
std::uint64_t usable_memory() {
  struct sysinfo system{};
  if (sysinfo(&system) != 0) return 0;
  const std::uint64_t all = static_cast<std::uint64_t>(system.totalram) * system.mem_unit;
  return std::min(all, read_cgroup_limits(read_text).memory.value_or(all));
}

}  // namespace

CpuInfo parse_cpuinfo(std::string_view text) {
  CpuInfo info;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    std::istringstream words(line.substr(colon + 1));
    if (name == "model name" && info.model.empty()) {
      std::getline(words >> std::ws, info.model);
    }
    if ((name == "flags" || name == "Features") && info.flags.empty()) {
      for (std::string flag; words >> flag;) {
        if (std::ranges::binary_search(kDeciding, flag)) info.flags.push_back(flag);
      }
    }
  }
  std::ranges::sort(info.flags);
  return info;
}

MachineFacts machine_facts(const CpuBudget& budget) {
  MachineFacts facts;
  CpuInfo cpu = parse_cpuinfo(read_text("/proc/cpuinfo").value_or(""));
  facts.cpu = std::move(cpu.model);
  facts.cpu_flags = std::move(cpu.flags);
  facts.cores = static_cast<std::int64_t>(budget.usable.size());
  facts.cpu_quota = budget.quota;
  facts.memory_bytes = usable_memory();
  facts.governor = first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  utsname system{};
  if (uname(&system) == 0) facts.kernel = system.release;
  return facts;
}

}  // namespace corelane::device
