#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>

#include "base/testing/allocations/count.h"

namespace corelane {
namespace {

TEST(AllocationsOfThread, CountsWhatIsAllocatedAndNotWhatIsFreed) {
  const std::int64_t before = allocations_of_thread();
  // Called by name: the compiler may leave out a pair of new and delete expressions.
  ::operator delete(::operator new(16));
  ::operator delete(::operator new(16, std::nothrow), std::size_t{16});
  EXPECT_EQ(allocations_of_thread() - before, 2);
}

TEST(AllocationsOfThread, LeavesOutWhatOtherThreadsAllocate) {
  std::int64_t theirs = 0;
  std::int64_t mine = 0;
  {
    const std::jthread other([&] {
      const std::int64_t before = allocations_of_thread();
      for (int i = 0; i < 1000; ++i) ::operator delete(::operator new(16, std::nothrow));
      theirs = allocations_of_thread() - before;
    });
    mine = allocations_of_thread();
  }
  mine = allocations_of_thread() - mine;
  EXPECT_EQ(theirs, 1000);
  EXPECT_EQ(mine, 0);
}

}  // namespace
}  // namespace corelane
