#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/testing/manual_clock.h"
#include "cli/commands.h"

namespace corelane::cli {
namespace {

struct Outcome {
  int status = 0;
  std::string out;
  std::string err;
};

Outcome run(const std::vector<std::string>& arguments) {
  const ManualClock clock;
  Environment environment{.clock = clock};
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = run_command_line(arguments, environment);
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(CommandLine, PrintsItsVersion) {
  const Outcome outcome = run({"--version"});
  EXPECT_EQ(outcome.status, kDone);
  EXPECT_THAT(outcome.out, testing::StartsWith("corelane "));
}

TEST(CommandLine, RefusesAnUnknownCommandAsWrongUsage) {
  const Outcome outcome = run({"frobnicate"});
  EXPECT_EQ(outcome.status, kUsage);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err, "");
}

TEST(CommandLine, RefusesNoCommandAsWrongUsage) { EXPECT_EQ(run({}).status, kUsage); }

TEST(CommandLine, HelpListsCommandsAndTopics) {
  const Outcome outcome = run({"help"});
  EXPECT_EQ(outcome.status, kDone);
  EXPECT_THAT(outcome.out, testing::HasSubstr("completion"));
  EXPECT_THAT(outcome.out, testing::HasSubstr("exit-status"));
}

TEST(CommandLine, HelpShowsATopic) {
  const Outcome outcome = run({"help", "exit-status"});
  EXPECT_EQ(outcome.status, kDone);
  EXPECT_THAT(outcome.out, testing::HasSubstr("wrong usage"));
}

TEST(CommandLine, HelpOnACommandIsThatCommandsHelp) {
  EXPECT_THAT(run({"help", "completion"}).out, testing::HasSubstr("source <(corelane"));
}

TEST(CommandLine, RefusesAnUnknownTopicAndNamesIt) {
  const Outcome outcome = run({"help", "nothing"});
  EXPECT_EQ(outcome.status, kUsage);
  EXPECT_THAT(outcome.err, testing::HasSubstr("'nothing'"));
}

TEST(CommandLine, EveryShownCommandHasExamples) {
  for (const Command& command : command_table()) {
    if (!command.summary.empty()) {
      EXPECT_THAT(run({"help", std::string(command.name)}).out, testing::HasSubstr("Examples:\n"))
          << command.name;
    }
  }
}

TEST(Completion, KnowsCommandsAndTheirOptions) {
  const Outcome outcome = run({"completion", "bash"});
  EXPECT_EQ(outcome.status, kDone);
  EXPECT_THAT(outcome.out, testing::HasSubstr("complete -o filenames -F _corelane corelane"));
  EXPECT_THAT(outcome.out, testing::HasSubstr("completion) words='--help '"));
}

}  // namespace
}  // namespace corelane::cli
