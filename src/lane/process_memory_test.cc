#include "lane/process_memory.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace corelane::lane {
namespace {

TEST(OwnMemory, LeavesOutWhatIsShared) {
  EXPECT_EQ(own_memory_in("VmRSS:\t  9 kB\nRssAnon:\t     5 kB\nRssFile:\t  2 kB\n"
                          "RssShmem:\t 100 kB\n")
                .count,
            std::uint64_t{7 * 1024});
}

TEST(OwnMemory, IsZeroWhereTheTextDoesNotTell) {
  EXPECT_EQ(own_memory_in("Name:\tx\n").count, 0U);
  EXPECT_EQ(own_memory_in("RssAnon:").count, 0U);
}

TEST(OwnMemory, OfARunningProcessIsThere) { EXPECT_GT(own_memory().count, 0U); }

}  // namespace
}  // namespace corelane::lane
