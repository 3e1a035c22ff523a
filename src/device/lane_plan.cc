#include "device/lane_plan.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/cpu_budget.h"
#include "device/cpu_list.h"
#include "device/topology.h"

namespace corelane::device {
namespace {

constexpr std::string_view kDevice = "cpu:";
constexpr std::string_view kAuto = "auto";
constexpr std::string_view kAll = "all";

std::vector<int> all_cpus(const Topology& topology) {
  std::vector<int> cpus;
  for (const PhysicalCore& core : topology.cores) {
    cpus.insert(cpus.end(), core.cpus.begin(), core.cpus.end());
  }
  std::ranges::sort(cpus);
  return cpus;
}

int threads_for(const std::vector<int>& cpus, const Topology& topology) {
  return static_cast<int>(std::ranges::count_if(topology.cores, [&](const PhysicalCore& core) {
    return std::ranges::find_first_of(core.cpus, cpus) != core.cpus.end();
  }));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

Result<LaneCores> parse_lane(std::string_view text, const CpuBudget& budget) {
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && text.substr(0, colon + 1) != kDevice) {
    return unsupported("device '" + std::string(text.substr(0, colon)) +
                       "' is not known here; lanes are on cpu");
  }
  const std::string_view list =
      colon == std::string_view::npos ? text : text.substr(kDevice.size());
  auto cpus = parse_cpu_list(list);
  if (!cpus || cpus->empty()) {
    return invalid_argument("'" + std::string(list) +
                            "' is not a list of CPUs; write 0 or 0-3 or 0,2, each CPU once");
  }
  const std::vector<int> present = all_cpus(budget.topology);
  for (const int cpu : *cpus) {
    if (!std::ranges::binary_search(present, cpu)) {
      return invalid_argument("CPU " + std::to_string(cpu) + " does not exist; this machine has " +
                              to_cpu_list(present));
    }
    if (!std::ranges::binary_search(budget.usable, cpu)) {
      return invalid_argument("CPU " + std::to_string(cpu) +
                              " may not be used by this process; its affinity and cpuset leave " +
                              to_cpu_list(budget.usable));
    }
  }
  const int threads = threads_for(*cpus, budget.topology);
  return LaneCores{.cpus = *std::move(cpus), .threads = threads};
}

std::vector<std::string> warnings_about(const std::vector<LaneCores>& lanes,
                                        const CpuBudget& budget) {
  std::vector<std::string> warnings;
  int threads = 0;
  for (const LaneCores& lane : lanes) {
    threads += lane.threads;
  }
  if (budget.quota > 0 && threads > budget.quota) {
    std::string quota = std::to_string(budget.quota);
    quota.erase(quota.find('.') + 2);
    warnings.push_back("the lanes run " + std::to_string(threads) +
                       " threads, but the CPU quota of this process is " + quota +
                       " CPUs: they will be throttled");
  }
  for (const PhysicalCore& core : budget.topology.cores) {
    const auto holders = std::ranges::count_if(lanes, [&](const LaneCores& lane) {
      return std::ranges::find_first_of(lane.cpus, core.cpus) != lane.cpus.end();
    });
    if (holders > 1) {
      warnings.push_back("CPUs " + to_cpu_list(core.cpus) +
                         " are one physical core but in different lanes: they slow each other");
    }
  }
  return warnings;
}

Result<LanePlan> parse_by_hand(std::string_view text, const CpuBudget& budget) {
  LanePlan plan;
  std::map<int, std::size_t> taken;
  for (const std::string_view part : split(text, '|')) {
    const std::size_t number = plan.lanes.size() + 1;
    auto lane = parse_lane(part, budget);
    if (!lane) {
      return in_context(std::move(lane), "lane " + std::to_string(number));
    }
    for (const int cpu : lane->cpus) {
      if (const auto [place, fresh] = taken.emplace(cpu, number); !fresh) {
        return invalid_argument("CPU " + std::to_string(cpu) + " is in lanes " +
                                std::to_string(place->second) + " and " + std::to_string(number));
      }
    }
    plan.lanes.push_back(*std::move(lane));
  }
  plan.warnings = warnings_about(plan.lanes, budget);
  return plan;
}

/// Cuts each NUMA node's cores into lanes of `size`, node by node, until `most` cores are given
/// out.
std::vector<LaneCores> cut(const std::vector<PhysicalCore>& cores, std::size_t size,
                           std::size_t most) {
  std::map<int, std::vector<PhysicalCore>> nodes;
  for (const PhysicalCore& core : cores) {
    nodes[core.numa_node].push_back(core);
  }
  std::vector<LaneCores> lanes;
  std::size_t given = 0;
  for (const auto& [node, members] : nodes) {
    for (std::size_t i = 0; i + size <= members.size() && given + size <= most; i += size) {
      LaneCores lane{.cpus = {}, .threads = static_cast<int>(size)};
      for (std::size_t k = i; k < i + size; ++k) {
        lane.cpus.insert(lane.cpus.end(), members[k].cpus.begin(), members[k].cpus.end());
      }
      std::ranges::sort(lane.cpus);
      lanes.push_back(std::move(lane));
      given += size;
    }
  }
  return lanes;
}

std::size_t cores_that_run(const std::vector<PhysicalCore>& cores, const CpuBudget& budget) {
  if (budget.quota <= 0) return cores.size();
  return std::clamp<std::size_t>(static_cast<std::size_t>(budget.quota), 1, cores.size());
}

Result<LanePlan> plan_automatically(std::optional<std::size_t> size, const CpuBudget& budget) {
  const std::vector<PhysicalCore> cores = budget.usable_cores();
  const std::size_t most = cores_that_run(cores, budget);
  std::size_t each = size.value_or((most + kMostAutoLanes - 1) / kMostAutoLanes);
  LanePlan plan{.lanes = cut(cores, each, most), .warnings = {}};
  while (plan.lanes.empty() && !size && each > 1) {
    plan.lanes = cut(cores, --each, most);  // NUMA nodes smaller than the lanes would be
  }
  if (plan.lanes.empty()) {
    return invalid_argument("no lane of " + std::to_string(each) +
                            " cores fits: this process may use " + std::to_string(most) +
                            " cores, and a lane stays inside a NUMA node");
  }
  return plan;
}

LanePlan plan_one_lane(const CpuBudget& budget) {
  std::vector<PhysicalCore> cores = budget.usable_cores();
  cores.resize(cores_that_run(cores, budget));
  LaneCores lane{.cpus = {}, .threads = static_cast<int>(cores.size())};
  for (const PhysicalCore& core : cores) {
    lane.cpus.insert(lane.cpus.end(), core.cpus.begin(), core.cpus.end());
  }
  std::ranges::sort(lane.cpus);
  return {.lanes = {std::move(lane)}, .warnings = {}};
}

Result<LanePlan> parse(std::string_view text, const CpuBudget& budget) {
  if (text == kAll) {
    return plan_one_lane(budget);
  }
  if (text == kAuto) {
    return plan_automatically(std::nullopt, budget);
  }
  if (text.starts_with("auto:")) {
    const std::string_view digits = text.substr(kAuto.size() + 1);
    const auto size = parse_cpu_list(digits);
    if (!size || size->size() != 1 || size->front() < 1) {
      return invalid_argument("'" + std::string(digits) +
                              "' is not a number of cores; write auto:2");
    }
    return plan_automatically(static_cast<std::size_t>(size->front()), budget);
  }
  return parse_by_hand(text, budget);
}

}  // namespace

Result<LanePlan> make_lane_plan(std::string_view text, const CpuBudget& budget) {
  auto plan = parse(text, budget);
  if (!plan) {
    return in_context(std::move(plan), "lane plan '" + std::string(text) + "'");
  }
  return plan;
}

std::string to_string(const LaneCores& lane) {
  return std::string(kDevice) + to_cpu_list(lane.cpus);
}

std::string to_string(const LanePlan& plan) {
  std::string text;
  for (const LaneCores& lane : plan.lanes) {
    text += (text.empty() ? "" : "|") + to_string(lane);
  }
  return text;
}

}  // namespace corelane::device
