#include "device/cgroup.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "device/cpu_list.h"

namespace corelane::device {
namespace {

// Version 1 writes the largest multiple of a page for "no limit".
constexpr std::uint64_t kNoMemoryLimit = std::uint64_t{1} << 62;

std::vector<std::string_view> words(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t start = std::min(text.find_first_not_of(separators), text.size());
    text.remove_prefix(start);
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) {
      found.push_back(text.substr(0, end));
    }
    text.remove_prefix(end);
  }
  return found;
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  const auto parts = words(text, " \t\n");
  std::int64_t value = 0;
  if (parts.size() != 1) {
    return std::nullopt;
  }
  const std::string_view digits = parts.front();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return value;
}

/// This process's path in the hierarchy of `controller`. A line is "4:cpu,cpuacct:/a/b", and
/// "0::/a/b" for version 2.
std::optional<std::string_view> path_in_hierarchy(std::string_view cgroup,
                                                  std::string_view controller) {
  for (const std::string_view line : words(cgroup, "\n")) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) {
      continue;
    }
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const auto names = words(controllers, ",");
    const bool wanted = controller.empty() ? controllers.empty() && line.starts_with("0:")
                                           : std::ranges::find(names, controller) != names.end();
    if (wanted) {
      return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

struct Mount {
  std::string_view root;   // the group that is visible at `point`
  std::string_view point;  // where
};

/// A line is "33 31 0:30 ROOT POINT OPTIONS [more...] - TYPE SOURCE SUPER_OPTIONS".
std::optional<Mount> mount_of(std::string_view mountinfo, std::string_view controller) {
  for (const std::string_view line : words(mountinfo, "\n")) {
    const auto fields = words(line, " ");
    const auto dash = std::ranges::find(fields, "-");
    if (fields.size() < 6 || std::distance(dash, fields.end()) < 4) {
      continue;
    }
    const std::string_view type = *std::next(dash);
    const auto options = words(*std::next(dash, 3), ",");
    const bool wanted =
        controller.empty()
            ? type == "cgroup2"
            : type == "cgroup" && std::ranges::find(options, controller) != options.end();
    if (wanted) {
      return Mount{.root = fields[3], .point = fields[4]};
    }
  }
  return std::nullopt;
}

template <typename T>
void tighten(std::optional<T>& limit, const std::optional<T>& other) {
  if (other && (!limit || *other < *limit)) {
    limit = other;
  }
}

/// The first of a group's files that can be read, looking in the group, then in its parents.
std::optional<std::string> nearest(const ReadText& read,
                                   const std::vector<std::filesystem::path>& directories,
                                   std::string_view file) {
  for (const auto& directory : directories) {
    if (auto text = read(directory / file); text && !words(*text, " \n").empty()) {
      return text;
    }
  }
  return std::nullopt;
}

template <typename Parse>
auto tightest(const ReadText& read, const std::vector<std::filesystem::path>& directories,
              std::string_view file, Parse parse) {
  decltype(parse(std::string_view(), directories.front())) limit;
  for (const auto& directory : directories) {
    if (const auto text = read(directory / file)) {
      tighten(limit, parse(std::string_view(*text), directory));
    }
  }
  return limit;
}

}  // namespace

std::optional<std::string> read_text(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) {
    return std::nullopt;
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<std::filesystem::path> cgroup_directories(std::string_view cgroup,
                                                      std::string_view mountinfo,
                                                      std::string_view controller) {
  const auto path = path_in_hierarchy(cgroup, controller);
  const auto mount = mount_of(mountinfo, controller);
  if (!path || !mount) {
    return {};
  }
  // In a container the mount shows a part of the hierarchy only; a path outside of it ("/../x") is
  // of no use, and the mount's own top is the nearest thing to it that can be seen.
  std::string_view below = *path;
  if (mount->root != "/") {
    below = below.starts_with(mount->root) ? below.substr(mount->root.size()) : "";
  }
  if (below.find("..") != std::string_view::npos) {
    below = "";
  }
  std::vector<std::filesystem::path> directories{std::filesystem::path(mount->point)};
  for (const std::string_view part : words(below, "/")) {
    directories.insert(directories.begin(), directories.front() / part);
  }
  return directories;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  const auto parts = words(text, " \n");
  if (parts.size() != 2) {
    return std::nullopt;
  }
  const auto quota = parse_number(parts[0]);
  const auto period = parse_number(parts[1]);
  if (!quota || !period || *quota <= 0 || *period <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<double> parse_cfs_quota(std::string_view quota, std::string_view period) {
  const auto time = parse_number(quota);
  const auto of = parse_number(period);
  if (!time || !of || *time <= 0 || *of <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(*time) / static_cast<double>(*of);
}

std::optional<std::uint64_t> parse_memory_limit(std::string_view text) {
  const auto bytes = parse_number(text);
  if (!bytes || *bytes < 0 || static_cast<std::uint64_t>(*bytes) >= kNoMemoryLimit) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*bytes);
}

CgroupLimits read_cgroup_limits(const ReadText& read) {
  const std::string cgroup = read("/proc/self/cgroup").value_or("");
  const std::string mountinfo = read("/proc/self/mountinfo").value_or("");
  const auto directories = [&](std::string_view controller) {
    return cgroup_directories(cgroup, mountinfo, controller);
  };
  const auto v2 = directories("");
  const auto as_is = [](auto parse) {
    return [parse](std::string_view text, const std::filesystem::path&) { return parse(text); };
  };

  CgroupLimits limits;
  if (!v2.empty()) {
    limits.cpu_quota = tightest(read, v2, "cpu.max", as_is(parse_cpu_max));
    limits.memory = tightest(read, v2, "memory.max", as_is(parse_memory_limit));
  }
  if (const auto cpu = directories("cpu"); !cpu.empty()) {
    tighten(limits.cpu_quota,
            tightest(read, cpu, "cpu.cfs_quota_us",
                     [&](std::string_view quota, const std::filesystem::path& directory) {
                       return parse_cfs_quota(quota,
                                              read(directory / "cpu.cfs_period_us").value_or(""));
                     }));
  }
  if (const auto memory = directories("memory"); !memory.empty()) {
    tighten(limits.memory,
            tightest(read, memory, "memory.limit_in_bytes", as_is(parse_memory_limit)));
  }
  auto cpuset = nearest(read, v2, "cpuset.cpus.effective");
  if (!cpuset) {
    const auto v1 = directories("cpuset");
    cpuset = nearest(read, v1, "cpuset.effective_cpus");
    if (!cpuset) {
      cpuset = nearest(read, v1, "cpuset.cpus");
    }
  }
  limits.cpuset = parse_cpu_list(cpuset.value_or(""));
  if (limits.cpuset && limits.cpuset->empty()) {
    limits.cpuset.reset();
  }
  return limits;
}

}  // namespace corelane::device
