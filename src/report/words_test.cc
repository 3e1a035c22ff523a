#include "report/words.h"

#include <gtest/gtest.h>

#include <limits>

namespace corelane::report {
namespace {

TEST(Figure, HasThreeSignificantDigits) {
  EXPECT_EQ(figure(0), "0.00");
  EXPECT_EQ(figure(0.00321), "0.00321");
  EXPECT_EQ(figure(0.93), "0.930");
  EXPECT_EQ(figure(0.9996), "1.00");
  EXPECT_EQ(figure(8.973), "8.97");
  EXPECT_EQ(figure(46.25), "46.2");
  EXPECT_EQ(figure(99.96), "100");
  EXPECT_EQ(figure(723.4), "723");
  EXPECT_EQ(figure(1474), "1,474");
  EXPECT_EQ(figure(1234567), "1,234,567");
  EXPECT_EQ(figure(std::numeric_limits<double>::infinity()), "–");
}

TEST(WithHalfWidth, HasTheDecimalsOfTheFigure) {
  EXPECT_EQ(with_half_width(7.678, 0.0765), "7.68 ±0.08");
  EXPECT_EQ(with_half_width(7.678, 0), "7.68");  // not known
  EXPECT_EQ(with_half_width(45.2, 0.452), "45.2 ±0.5");
  EXPECT_EQ(with_half_width(1474, 12.4), "1,474 ±12");
}

TEST(Millis, TurnsIntoSecondsFromAThousandOn) {
  EXPECT_EQ(millis(0.12), "0.12 ms");
  EXPECT_EQ(millis(8.94), "8.9 ms");
  EXPECT_EQ(millis(437.4), "437 ms");
  EXPECT_EQ(millis(1780), "1.78 s");
}

TEST(LanesInWords, CountsLanesAndCores) {
  EXPECT_EQ(lanes_in_words("cpu:0|cpu:1"), "2 lanes of 1 core");
  EXPECT_EQ(lanes_in_words("cpu:0-1"), "1 lane of 2 cores");
  EXPECT_EQ(lanes_in_words("cpu:0-3,8|cpu:4-7,9"), "2 lanes of 5 cores");
  EXPECT_EQ(lanes_in_words(""), "the server's lanes");
}

TEST(LanesInWords, LeavesWhatHasNoSuchWordsAsItIs) {
  for (const char* plan : {"cpu:0|cpu:1-2", "cuda:0", "cpu:1-0", "cpu:x", "cpu:0-1-2", "auto"}) {
    EXPECT_EQ(lanes_in_words(plan), plan);
  }
}

TEST(PrecisionInWords, SpeaksOfFullAndMixed) {
  EXPECT_EQ(precision_in_words("f32"), "full (f32)");
  EXPECT_EQ(precision_in_words("bf16"), "mixed (bf16)");
  EXPECT_EQ(precision_in_words("int8"), "int8");
  EXPECT_EQ(precision_in_words(""), "as served");
}

TEST(Times, HasTheDigitsThatMatter) {
  EXPECT_EQ(times(1.04), "1.04 times");
  EXPECT_EQ(times(2.13), "2.1 times");
  EXPECT_EQ(times(12.4), "12 times");
}

}  // namespace
}  // namespace corelane::report
