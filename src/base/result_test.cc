#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

namespace corelane {
namespace {

TEST(Result, HoldsAValueThatCanBeMovedOut) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  ASSERT_TRUE(result);
  std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

TEST(Result, KeepsTheCodeAndPutsTheContextInFront) {
  Result<int> failed = not_found("no such model");
  const Error error = in_context(std::move(failed), "serving qa");
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_EQ(error.message, "serving qa: no such model");
}

TEST(Status, IsFineUnlessItWasMadeFromAnError) {
  EXPECT_TRUE(Status());
  EXPECT_FALSE(Status(io_error("disk")));
}

TEST(ErrnoError, TellsAMissingFileFromOtherFaults) {
  EXPECT_EQ(errno_error("opening x", ENOENT).code, ErrorCode::kNotFound);
  EXPECT_EQ(errno_error("opening x", EACCES).code, ErrorCode::kIo);
  EXPECT_EQ(errno_error("opening x", EACCES).message, "opening x: Permission denied");
}

}  // namespace
}  // namespace corelane
