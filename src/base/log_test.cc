#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace corelane {
namespace {

using testing::MatchesRegex;

class Log : public testing::Test {
 protected:
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override { set_log_level(LogLevel::kInfo); }

  static std::string written() { return testing::internal::GetCapturedStderr(); }
};

TEST_F(Log, WritesTheTimeTheLevelAndTheLine) {
  log(LogLevel::kWarning, "lane cpu:0: worker 123 died");
  EXPECT_THAT(written(),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z W "
                           "lane cpu:0: worker 123 died\n"));
}

TEST_F(Log, DropsWhatIsBelowTheLevel) {
  set_log_level(LogLevel::kWarning);
  log(LogLevel::kDebug, "no");
  log(LogLevel::kInfo, "no");
  log(LogLevel::kError, "yes");
  EXPECT_THAT(written(), MatchesRegex("[^\n]* E yes\n"));
}

TEST_F(Log, KeepsTheLinesOfManyThreadsWhole) {
  const std::string text(200, 'x');
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&text] {
        for (int j = 0; j < 50; ++j) {
          log(LogLevel::kInfo, text);
        }
      });
    }
  }
  std::istringstream lines(written());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    ASSERT_TRUE(line.ends_with("Z I " + text)) << line;
  }
  EXPECT_EQ(count, 200);
}

}  // namespace
}  // namespace corelane
