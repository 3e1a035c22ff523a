#include "base/check.h"

#include <gtest/gtest.h>

namespace corelane {
namespace {

TEST(Check, PassesOverAPromiseThatHolds) { check(true, "one is one"); }

TEST(CheckDeathTest, EndsTheProcessAndSaysWhereAndWhat) {
  EXPECT_DEATH(check(1 + 1 == 3, "sums add up"),
               "check_test.cc:[0-9]+: broken promise: sums add up");
}

}  // namespace
}  // namespace corelane
