#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::device {

/// The text of a small file; nullopt when it cannot be read. Tests pass a table of texts.
using ReadText = std::function<std::optional<std::string>(const std::filesystem::path&)>;

std::optional<std::string> read_text(const std::filesystem::path& file);

/// What the control groups above this process leave it: the tightest limit on the way from its own
/// group to the root.
struct CgroupLimits {
  std::optional<double> cpu_quota;  // CPUs' worth of time
  std::optional<std::vector<int>> cpuset;
  std::optional<std::uint64_t> memory;  // bytes
};

/// Reads /proc/self/cgroup, /proc/self/mountinfo and the files of the groups they name; version 1,
/// version 2 and hosts with both. What cannot be read or understood sets no limit.
CgroupLimits read_cgroup_limits(const ReadText& read);

/// The directories with a controller's files for this process, its own group first, then its
/// parents. An empty controller means version 2.
std::vector<std::filesystem::path> cgroup_directories(std::string_view cgroup,
                                                      std::string_view mountinfo,
                                                      std::string_view controller);

/// cpu.max of version 2: "150000 100000" is 1.5, "max 100000" is no limit.
std::optional<double> parse_cpu_max(std::string_view text);

/// cpu.cfs_quota_us and cpu.cfs_period_us of version 1; a quota of -1 is no limit.
std::optional<double> parse_cfs_quota(std::string_view quota, std::string_view period);

/// memory.max ("max" or a number) and memory.limit_in_bytes (a huge number for none).
std::optional<std::uint64_t> parse_memory_limit(std::string_view text);

}  // namespace corelane::device
