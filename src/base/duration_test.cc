#include "base/duration.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/units.h"

namespace corelane {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(ParseDuration, ReadsNumbersWithTheirUnit) {
  EXPECT_EQ(*parse_duration("50ms"), milliseconds(50));
  EXPECT_EQ(*parse_duration("1.5s"), milliseconds(1500));
  EXPECT_EQ(*parse_duration("2min"), minutes(2));
  EXPECT_EQ(*parse_duration("1h"), std::chrono::hours(1));
  EXPECT_EQ(*parse_duration("250us"), std::chrono::microseconds(250));
  EXPECT_EQ(*parse_duration("0"), Nanos(0));
  EXPECT_EQ(*parse_duration("0.1ms"), std::chrono::microseconds(100));
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const char* text :
       {"", "5", "ms", "-1s", "5 s", "5sec", "inf", "infs", "nan", "1e300s", "5s "}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(DurationToString, IsReadBackAsTheSame) {
  for (const Nanos duration : {Nanos(0), Nanos(1), Nanos(milliseconds(1500)), Nanos(seconds(90)),
                               Nanos(minutes(60)), Nanos(1'000'001)}) {
    EXPECT_EQ(*parse_duration(to_string(duration)), duration) << to_string(duration);
  }
  EXPECT_EQ(to_string(milliseconds(1500)), "1500ms");
}

TEST(Spoken, IsForAPersonWhoWaits) {
  EXPECT_EQ(spoken(milliseconds(12'900)), "12 s");
  EXPECT_EQ(spoken(seconds(250)), "4 min 10 s");
  EXPECT_EQ(spoken(minutes(125)), "2 h 5 min");
}

}  // namespace
}  // namespace corelane
