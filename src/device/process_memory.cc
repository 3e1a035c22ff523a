#include "device/process_memory.h"

#include <cstdint>
#include <fstream>
#include <span>
#include <string>

namespace corelane::device {

std::uint64_t proportional_memory(std::span<const int> pids) {
  std::uint64_t sum = 0;
  for (const int pid : pids) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/smaps_rollup");
    for (std::string word; in >> word;) {
      std::uint64_t kibibytes = 0;
      if (word == "Pss:" && in >> kibibytes) {
        sum += kibibytes * 1024;
        break;
      }
    }
  }
  return sum;
}

}  // namespace corelane::device
