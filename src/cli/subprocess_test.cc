#include "cli/subprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "base/result.h"

namespace corelane::cli {
namespace {

Program shell(const std::string& script) {
  return {.arguments = {"/bin/sh", "-c", script}, .environment = {"GREETING=hello"}};
}

TEST(RunProgram, GivesOutputAndStatus) {
  const auto finished = run_program(shell("echo $GREETING; cat; exit 3"));
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(finished->out, "hello\n");
  EXPECT_EQ(finished->status, 3);
}

TEST(RunProgram, GivesTheSignalThatEndedIt) {
  const auto finished = run_program(shell("kill -9 $$"));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->status, 128 + SIGKILL);
}

TEST(RunProgram, EndsTheProgramWhenInterrupted) {
  // The program interrupts us once it runs, and would not end by itself.
  const auto finished = run_program(shell("kill -INT $PPID; exec sleep 1000"));
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, ErrorCode::kCancelled);
}

TEST(RunProgram, EndsAProgramThatIgnoresTheFirstInterruptAtTheSecond) {
  const auto finished = run_program(
      shell("trap 'kill -INT $PPID' TERM; kill -INT $PPID; while :; do sleep 0.01; done"));
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, ErrorCode::kCancelled);
}

TEST(RunProgram, SaysWhatCannotBeRun) {
  const auto finished = run_program({.arguments = {"/nowhere/python"}, .environment = {}});
  ASSERT_FALSE(finished);
  EXPECT_THAT(finished.error().message, testing::HasSubstr("/nowhere/python"));
}

}  // namespace
}  // namespace corelane::cli
