#include "device/lane_plan.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "device/cpu_budget.h"
#include "device/cpu_list.h"
#include "device/topology.h"

namespace corelane::device {
namespace {

/// `cores` physical cores of two siblings each (n and n + cores), all usable.
CpuBudget smt_machine(int cores) {
  CpuBudget budget;
  for (int core = 0; core < cores; ++core) {
    budget.topology.cores.push_back({.cpus = {core, core + cores}});
  }
  budget.usable.resize(2 * static_cast<std::size_t>(cores));
  std::iota(budget.usable.begin(), budget.usable.end(), 0);
  return budget;
}

CpuBudget plain_machine(int cores) {
  CpuBudget budget;
  for (int core = 0; core < cores; ++core) {
    budget.topology.cores.push_back({.cpus = {core}});
    budget.usable.push_back(core);
  }
  return budget;
}

std::string planned(const std::string& text, const CpuBudget& budget) {
  const auto plan = make_lane_plan(text, budget);
  return plan ? to_string(*plan) : plan.error().message;
}

TEST(CpuList, ReadsAndWritesTheKernelsForm) {
  EXPECT_EQ(parse_cpu_list("0-3,8\n"), (std::vector{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list(""), std::vector<int>());
  EXPECT_EQ(to_cpu_list(std::vector{0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

TEST(CpuList, RefusesWhatIsNoList) {
  for (const char* text : {"a", "1-", "-1", "3-1", "1,,2", "1,", ",1", "0,0", "0-2,1", "1 2",
                           "99999999999", "0-70000"}) {
    EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
  }
}

TEST(MakeLanePlan, TakesPlansWrittenByHandAndPrintsThemBack) {
  const CpuBudget machine = plain_machine(4);
  EXPECT_EQ(planned("cpu:0|cpu:1", machine), "cpu:0|cpu:1");
  EXPECT_EQ(planned("cpu:0|1", machine), "cpu:0|cpu:1");
  EXPECT_EQ(planned("cpu:0-1", machine), "cpu:0-1");
  EXPECT_EQ(planned("cpu:0,2|cpu:1,3", machine), "cpu:0,2|cpu:1,3");
  EXPECT_EQ(planned("cpu:3,1-2", machine), "cpu:1-3");
}

TEST(MakeLanePlan, SaysWhichLaneAndWhichCpuIsWrong) {
  CpuBudget machine = plain_machine(4);
  machine.usable = {0, 1, 2};
  EXPECT_EQ(planned("cpu:0|cpu:9", machine),
            "lane plan 'cpu:0|cpu:9': lane 2: CPU 9 does not exist; this machine has 0-3");
  EXPECT_EQ(planned("cpu:3", machine),
            "lane plan 'cpu:3': lane 1: CPU 3 may not be used by this process; its affinity and "
            "cpuset leave 0-2");
  EXPECT_EQ(planned("cpu:0-1|cpu:1", machine),
            "lane plan 'cpu:0-1|cpu:1': CPU 1 is in lanes 1 and 2");
  EXPECT_EQ(planned("cuda:0", machine),
            "lane plan 'cuda:0': lane 1: device 'cuda' is not known here; lanes are on cpu");
  EXPECT_EQ(planned("cpu:0|", machine),
            "lane plan 'cpu:0|': lane 2: '' is not a list of CPUs; write 0 or 0-3 or 0,2, each CPU "
            "once");
  EXPECT_EQ(planned("auto:0", machine),
            "lane plan 'auto:0': '0' is not a number of cores; write auto:2");
}

TEST(MakeLanePlan, CountsOneThreadForEachPhysicalCore) {
  const auto plan = make_lane_plan("cpu:0,4|cpu:1-2|cpu:3", smt_machine(4));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->lanes[0].threads, 1);
  EXPECT_EQ(plan->lanes[1].threads, 2);
  EXPECT_EQ(plan->lanes[2].threads, 1);
}

TEST(MakeLanePlan, WarnsOfSiblingsInDifferentLanesAndOfAQuotaBelowTheThreads) {
  CpuBudget machine = smt_machine(2);
  machine.quota = 1.5;
  const auto plan = make_lane_plan("cpu:0|cpu:2", machine);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->warnings.size(), 2U);
  EXPECT_EQ(plan->warnings[0],
            "the lanes run 2 threads, but the CPU quota of this process is 1.5 CPUs: they will be "
            "throttled");
  EXPECT_EQ(plan->warnings[1],
            "CPUs 0,2 are one physical core but in different lanes: they slow each other");
  EXPECT_TRUE(make_lane_plan("cpu:0,2", machine)->warnings.empty());
}

TEST(MakeLanePlan, AutoKeepsSiblingsTogetherAndLanesInsideTheQuota) {
  EXPECT_EQ(planned("auto", plain_machine(2)), "cpu:0|cpu:1");
  EXPECT_EQ(planned("auto", smt_machine(2)), "cpu:0,2|cpu:1,3");
  CpuBudget limited = plain_machine(8);
  limited.quota = 2.5;
  EXPECT_EQ(planned("auto", limited), "cpu:0|cpu:1");
  limited.quota = 0.5;
  EXPECT_EQ(planned("auto", limited), "cpu:0");
}

TEST(MakeLanePlan, AllMakesOneLaneInsideTheQuota) {
  EXPECT_EQ(planned("all", plain_machine(4)), "cpu:0-3");
  EXPECT_EQ(planned("all", smt_machine(2)), "cpu:0-3");
  CpuBudget budget = plain_machine(4);
  budget.quota = 2.5;
  EXPECT_EQ(planned("all", budget), "cpu:0-1");
  budget = plain_machine(4);
  budget.usable = {1, 3};
  EXPECT_EQ(planned("all", budget), "cpu:1,3");
}

TEST(MakeLanePlan, AutoUsesOnlyUsableCpus) {
  CpuBudget machine = smt_machine(4);
  machine.usable = {1, 2, 6};
  EXPECT_EQ(planned("auto", machine), "cpu:1|cpu:2,6");
}

TEST(MakeLanePlan, AutoMakesLanesOfTheSizeAskedForInsideNumaNodes) {
  CpuBudget machine = plain_machine(6);
  for (int core = 3; core < 6; ++core) {
    machine.topology.cores[static_cast<std::size_t>(core)].numa_node = 1;
  }
  EXPECT_EQ(planned("auto:2", machine), "cpu:0-1|cpu:3-4");
  EXPECT_EQ(planned("auto:4", machine),
            "lane plan 'auto:4': no lane of 4 cores fits: this process may use 6 cores, and a lane "
            "stays inside a NUMA node");
}

TEST(MakeLanePlan, AutoMakesLargerLanesOnLargeMachines) {
  const auto plan = make_lane_plan("auto", plain_machine(64));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->lanes.size(), 16U);
  EXPECT_EQ(plan->lanes[0], (LaneCores{.cpus = {0, 1, 2, 3}, .threads = 4}));
}

TEST(MakeLanePlan, AutoMakesSmallerLanesWhereNumaNodesAreSmall) {
  CpuBudget machine = plain_machine(40);
  for (int core = 0; core < 40; ++core) {
    machine.topology.cores[static_cast<std::size_t>(core)].numa_node = core / 2;
  }
  const auto plan = make_lane_plan("auto", machine);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->lanes[0], (LaneCores{.cpus = {0, 1}, .threads = 2}));
}

TEST(SyntheticTopology, ListsCoresWithTheirSiblingsPackagesAndNodes) {
  const auto topology = synthetic_topology("pack:2 numa:1 core:2 pu:2");
  ASSERT_TRUE(topology) << topology.error().message;
  ASSERT_EQ(topology->cores.size(), 4U);
  EXPECT_EQ(topology->cores[0], (PhysicalCore{.cpus = {0, 1}, .package = 0, .numa_node = 0}));
  EXPECT_EQ(topology->cores[3], (PhysicalCore{.cpus = {6, 7}, .package = 1, .numa_node = 1}));
  EXPECT_FALSE(synthetic_topology("nonsense"));
}

TEST(ReadCpuBudget, LetsThisMachineBePlanned) {
  const auto budget = read_cpu_budget();
  ASSERT_TRUE(budget) << budget.error().message;
  const auto plan = make_lane_plan("auto", *budget);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(planned(to_string(*plan), *budget), to_string(*plan));
}

}  // namespace
}  // namespace corelane::device
