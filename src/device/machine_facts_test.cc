#include "device/machine_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "device/cpu_budget.h"

namespace corelane::device {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ParseCpuinfo, KeepsTheFeaturesThatDecide) {
  const CpuInfo info = parse_cpuinfo(
      "processor\t: 0\nmodel name\t: AMD EPYC 9R14\nflags\t\t: fpu avx512f avx2 avx512_bf16\n\n"
      "processor\t: 1\nmodel name\t: another\nflags\t\t: fma\n");
  EXPECT_EQ(info.model, "AMD EPYC 9R14");
  EXPECT_THAT(info.flags, ElementsAre("avx2", "avx512_bf16", "avx512f"));
}

TEST(ParseCpuinfo, ReadsArm) {
  const CpuInfo info =
      parse_cpuinfo("processor\t: 0\nFeatures\t: fp asimd asimddp sve bf16 i8mm\n");
  EXPECT_EQ(info.model, "");
  EXPECT_THAT(info.flags, ElementsAre("asimddp", "bf16", "i8mm", "sve"));
}

TEST(ParseCpuinfo, SurvivesAnyText) {
  EXPECT_EQ(parse_cpuinfo("").model, "");
  EXPECT_THAT(parse_cpuinfo(":\n : \nmodel name\nflags:\n").flags, IsEmpty());
}

TEST(MachineFacts, DescribeThisMachine) {
  const auto budget = read_cpu_budget();
  ASSERT_TRUE(budget) << budget.error().message;
  const MachineFacts facts = machine_facts(*budget);
  EXPECT_EQ(facts.cores, static_cast<std::int64_t>(budget->usable.size()));
  EXPECT_GT(facts.memory_bytes, std::uint64_t{1} << 28);
  EXPECT_NE(facts.kernel, "");
}

}  // namespace
}  // namespace corelane::device
