#include "device/cgroup.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace corelane::device {
namespace {

using Files = std::map<std::string, std::string>;

ReadText reader_of(const Files& files) {
  return [files](const std::filesystem::path& path) -> std::optional<std::string> {
    const auto found = files.find(path.string());
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
}

// systemd on a host with version 2 only.
const Files kVersion2{
    {"/proc/self/cgroup", "0::/system.slice/corelane.service\n"},
    {"/proc/self/mountinfo",
     "24 30 0:22 / /proc rw,nosuid,nodev,noexec,relatime shared:13 - proc proc rw\n"
     "29 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 "
     "rw,nsdelegate,memory_recursiveprot\n"},
    {"/sys/fs/cgroup/cpuset.cpus.effective", "0-7\n"},
    {"/sys/fs/cgroup/system.slice/cpu.max", "200000 100000\n"},
    {"/sys/fs/cgroup/system.slice/memory.max", "max\n"},
    {"/sys/fs/cgroup/system.slice/cpuset.cpus.effective", "0-7\n"},
    {"/sys/fs/cgroup/system.slice/corelane.service/cpu.max", "350000 100000\n"},
    {"/sys/fs/cgroup/system.slice/corelane.service/memory.max", "2147483648\n"},
    {"/sys/fs/cgroup/system.slice/corelane.service/cpuset.cpus.effective", "0-3\n"},
};

TEST(ReadCgroupLimits, TakesTheTightestOfAllParentsInVersion2) {
  const CgroupLimits limits = read_cgroup_limits(reader_of(kVersion2));
  EXPECT_EQ(limits.cpu_quota, 2.0) << "the slice allows less than the service";
  EXPECT_EQ(limits.memory, std::uint64_t{2} << 30);
  EXPECT_EQ(limits.cpuset, (std::vector{0, 1, 2, 3}));
}

TEST(ReadCgroupLimits, ReadsAContainerOfVersion2) {
  const CgroupLimits limits = read_cgroup_limits(reader_of({
      {"/proc/self/cgroup", "0::/\n"},
      {"/proc/self/mountinfo",
       "1544 1543 0:26 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw\n"},
      {"/sys/fs/cgroup/cpu.max", "150000 100000\n"},
      {"/sys/fs/cgroup/memory.max", "536870912\n"},
      {"/sys/fs/cgroup/cpuset.cpus.effective", "2-3\n"},
  }));
  EXPECT_EQ(limits.cpu_quota, 1.5);
  EXPECT_EQ(limits.memory, std::uint64_t{512} << 20);
  EXPECT_EQ(limits.cpuset, (std::vector{2, 3}));
}

// Docker on a host with version 1: the mounts show the container's own group at their top.
const Files kDockerVersion1{
    {"/proc/self/cgroup",
     "12:cpuset:/docker/4a5b\n"
     "8:memory:/docker/4a5b\n"
     "4:cpu,cpuacct:/docker/4a5b\n"
     "1:name=systemd:/docker/4a5b\n"
     "0::/system.slice/containerd.service\n"},
    {"/proc/self/mountinfo",
     "905 904 0:29 /docker/4a5b /sys/fs/cgroup/cpu,cpuacct ro,nosuid,relatime master:11 - cgroup "
     "cgroup rw,cpu,cpuacct\n"
     "910 904 0:33 /docker/4a5b /sys/fs/cgroup/memory ro,nosuid,relatime master:15 - cgroup cgroup "
     "rw,memory\n"
     "914 904 0:37 /docker/4a5b /sys/fs/cgroup/cpuset ro,nosuid,relatime master:19 - cgroup cgroup "
     "rw,cpuset\n"},
    {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n"},
    {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
    {"/sys/fs/cgroup/cpuset/cpuset.cpus", "0,4\n"},
};

TEST(ReadCgroupLimits, ReadsAContainerOfVersion1) {
  const CgroupLimits limits = read_cgroup_limits(reader_of(kDockerVersion1));
  EXPECT_EQ(limits.cpu_quota, 0.5);
  EXPECT_EQ(limits.memory, std::nullopt);
  EXPECT_EQ(limits.cpuset, (std::vector{0, 4}));
}

TEST(ReadCgroupLimits, ReadsAHostWithBothVersionsAndNoLimit) {
  const CgroupLimits limits = read_cgroup_limits(reader_of({
      {"/proc/self/cgroup", "4:memory:/a/b\n3:cpuset:/\n1:cpu:/\n0::/\n"},
      {"/proc/self/mountinfo",
       "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
       "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
       "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
       "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"},
      {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
      {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-1\n"},
      {"/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n"},
      {"/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n"},
  }));
  EXPECT_EQ(limits.cpu_quota, std::nullopt);
  EXPECT_EQ(limits.cpuset, (std::vector{0, 1}));
  EXPECT_EQ(limits.memory, std::uint64_t{1} << 30) << "the parent's limit holds";
}

TEST(ReadCgroupLimits, SetsNoLimitWhereNothingCanBeRead) {
  const CgroupLimits limits = read_cgroup_limits(reader_of({}));
  EXPECT_EQ(limits.cpu_quota, std::nullopt);
  EXPECT_EQ(limits.cpuset, std::nullopt);
  EXPECT_EQ(limits.memory, std::nullopt);
}

TEST(CgroupDirectories, StayInsideTheMountWhenThePathLeadsOutOfIt) {
  EXPECT_EQ(cgroup_directories("0::/../other\n", "1 2 0:3 / /cg rw - cgroup2 x rw\n", ""),
            std::vector<std::filesystem::path>{"/cg"});
}

TEST(ParseCpuMax, KnowsLimitsAndTheirAbsence) {
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1.5);
  for (const char* text : {"max 100000\n", "", "100000", "1 0", "x y", "-5 100000"}) {
    EXPECT_EQ(parse_cpu_max(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace corelane::device
