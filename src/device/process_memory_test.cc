#include "device/process_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace corelane::device {
namespace {

TEST(ProportionalMemory, IsThatOfTheProcessesThatThereAre) {
  const std::array self{getpid()};
  EXPECT_GT(proportional_memory(self), 100'000U);
  const std::array none{1 << 30};
  EXPECT_EQ(proportional_memory(none), 0U);
}

}  // namespace
}  // namespace corelane::device
