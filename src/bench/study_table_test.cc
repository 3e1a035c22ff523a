#include "bench/study_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/testing/manual_clock.h"
#include "base/units.h"
#include "bench/experiments.h"
#include "bench/live_table.h"
#include "bench/result.h"
#include "bench/testing/example_results.h"

namespace corelane::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;

ExperimentResult example() {
  ExperimentResult result = example_study().front();
  result.items_per_second = 9.0123;
  result.items_per_second_low = 8.9;
  result.items_per_second_high = 9.1;
  result.latency.p95 = 224.4;
  result.lane_busy = 0.98;
  return result;
}

PlannedExperiment planned(const ExperimentResult& result) {
  return {.id = result.id, .experiment = result.experiment, .inputs = {}};
}

TEST(StudyTable, AlignsItsRowsWithItsHead) {
  const std::vector<PlannedExperiment> list = {planned(example())};
  TableColumns columns = columns_for(list);
  columns.price = UsdPerHour{0.0892};
  EXPECT_EQ(table_head(columns),
            "model      prec   batch  shape  lanes        conc         items/s   P95 ms   busy"
            "      $/M  verdict");
  EXPECT_EQ(table_row(example(), columns),
            "bert-base  f32        1    128  cpu:0|cpu:1     2      9.01 ±0.10      224   98 %"
            "     2.75  valid");
}

TEST(StudyTable, LeavesOutColumnsThatSayNothing) {
  ExperimentResult result = example();
  result.experiment.shape.clear();
  result.experiment.lanes.clear();
  result.lane_busy = 0;
  const std::vector<PlannedExperiment> list = {planned(result)};
  EXPECT_EQ(table_row(result, columns_for(list)),
            "bert-base  f32        1     2      9.01 ±0.10      224      -  valid");
}

TEST(VerdictOf, SaysWhetherTheLimitHolds) {
  ExperimentResult result = example();
  EXPECT_EQ(verdict_of(result, {}), "valid");
  EXPECT_EQ(verdict_of(result, milliseconds(225)), "valid");
  EXPECT_EQ(verdict_of(result, milliseconds(224)), "valid, over SLO");
  result.valid = false;
  result.invalid_because = {"too few", "failed"};
  EXPECT_EQ(verdict_of(result, {}), "not valid: too few");
}

TEST(TimeLeft, FollowsWhatExperimentsTook) {
  EXPECT_EQ(time_left(4, 0, Nanos(0), seconds(10)), seconds(40));
  EXPECT_EQ(time_left(4, 2, seconds(30), seconds(10)), seconds(60));
  EXPECT_EQ(time_left(0, 2, seconds(30), seconds(10)), seconds(0));
}

/// What a table printed, both streams in one file.
class LiveTableTest : public ::testing::Test {
 protected:
  ~LiveTableTest() override { std::fclose(file_); }

  std::string printed() {
    std::fflush(file_);
    std::rewind(file_);
    std::string text;
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) {
      text += static_cast<char>(c);
    }
    return text;
  }

  std::FILE* file_ = std::tmpfile();
  ManualClock clock_;
};

TEST_F(LiveTableTest, PrintsPlainLinesWhereNothingCanBeRedrawn) {
  const ExperimentResult result = example();
  const std::vector<PlannedExperiment> list = {planned(result)};
  {
    LiveTable table({.rows = file_, .status = file_}, columns_for(list), 3, seconds(10), clock_);
    table.found(result);
    table.running(planned(result), {.elapsed = seconds(1)});
    table.running(planned(result), {.elapsed = seconds(2)});
    clock_.advance(seconds(20));
    table.measured(result);
    PlannedExperiment other = planned(result);
    other.id = "other";
    table.running(other, {});
  }
  const std::string text = printed();
  EXPECT_THAT(text, HasSubstr("(measured before)\n"
                              "experiment 2 of 3, about 20 s left: bert-base f32 batch 1 at 128 on "
                              "cpu:0|cpu:1 x 2\nbert-base"));
  EXPECT_THAT(text, HasSubstr("valid\nexperiment 3 of 3, about 20 s left"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST_F(LiveTableTest, RedrawsOneLineOnATerminalAndLeavesItClean) {
  const ExperimentResult result = example();
  const std::vector<PlannedExperiment> list = {planned(result)};
  {
    LiveTable table({.rows = file_, .status = file_, .redraws = true, .width = 40},
                    columns_for(list), 3, seconds(10), clock_);
    table.running(planned(result), {.elapsed = milliseconds(100)});
    clock_.advance(milliseconds(100));
    table.running(planned(result), {.elapsed = milliseconds(200)});
    table.failed(planned(result), io_error("no such lane"));
    table.running(planned(result), {.elapsed = milliseconds(100)});
  }
  const std::string text = printed();
  EXPECT_EQ(text.find("warming up"), std::string::npos) << "cut to the terminal's width";
  EXPECT_THAT(text, HasSubstr("\r\x1b[2Kexperiment 1 of 3, about 30 s left: ber\r\x1b[2K"));
  EXPECT_THAT(text, HasSubstr("not run: no such lane\n"));
  EXPECT_THAT(text, EndsWith("\r\x1b[2K"));
}

}  // namespace
}  // namespace corelane::bench
