#include "price/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corelane::price {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTwoBases = R"(
[[price]]
instance = "inf1.xlarge"
usd_per_hour = 0.228
basis = "on demand"
region = "us-east-1"
source = "price list"
date = 2026-09-24

[[price]]
instance = "inf1.xlarge"
usd_per_hour = 0.110
basis = "reserved"
region = "us-east-1"
source = "price list"
date = "2024"
vcpus = 4
)";

std::string with(std::string_view line) {
  return "[[price]]\ninstance = \"a.b\"\nusd_per_hour = 1\nbasis = \"on demand\"\n"
         "region = \"r\"\nsource = \"s\"\n" +
         std::string(line) + "\n";
}

TEST(ParseCatalogue, ReadsEveryFieldAndDatesOfBothKinds) {
  const auto catalogue = parse_catalogue(kTwoBases, "p.toml");
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  ASSERT_EQ(catalogue->size(), 2U);
  EXPECT_EQ((*catalogue)[0].date, "2026-09-24");
  EXPECT_EQ((*catalogue)[0].vcpus, 0);
  EXPECT_EQ((*catalogue)[1].date, "2024");
  EXPECT_EQ((*catalogue)[1].basis, "reserved");
  EXPECT_EQ((*catalogue)[1].vcpus, 4);
  EXPECT_DOUBLE_EQ((*catalogue)[1].per_hour.value, 0.110);
}

TEST(ParseCatalogue, NamesFileLineAndFieldOfWhatIsWrong) {
  struct Case {
    std::string text;
    std::string message;
  };
  const std::vector<Case> cases = {
      {with(""), "p.toml:1: a [[price]] needs date"},
      {with("date = 5"), "p.toml:7: date must be a text"},
      {with("date = \"\""), "p.toml:7: date must be a text"},
      {with("date = \"2026\"\nvcpu = 3"), "p.toml:8: unknown field vcpu"},
      {with("date = \"2026\"\nvcpus = -1"), "p.toml:8: vcpus must be a number above 0"},
      {"[[price]]\ninstance = \"a\"\nusd_per_hour = \"1\"", "p.toml:3: usd_per_hour must be"},
      {"[[price]]\ninstance = \"a\"\nusd_per_hour = nan", "p.toml:3: usd_per_hour must be"},
      {"price = 3", "holds no [[price]]"},
      {"[[price]\n", "p.toml:1:"},
      {with("date = \"2026\"") + with("date = \"2025\""), "a.b (on demand, r) stands here twice"},
  };
  for (const Case& bad : cases) {
    const auto catalogue = parse_catalogue(bad.text, "p.toml");
    ASSERT_FALSE(catalogue) << bad.text;
    EXPECT_THAT(catalogue.error().message, HasSubstr(bad.message));
  }
}

TEST(ReadCatalogue, ReadsThePricesThatComeWithTheProgram) {
  const auto catalogue = read_catalogue(CORELANE_PRICES);
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  const auto g5 = find_price(*catalogue, {.instance = "g5.4xlarge"});
  ASSERT_TRUE(g5) << g5.error().message;
  EXPECT_DOUBLE_EQ(g5->per_hour.value, 1.624);
  EXPECT_EQ(g5->basis, "on demand");
}

TEST(ReadCatalogue, SaysWhichFileIsMissing) {
  const auto catalogue = read_catalogue("/nowhere/prices.toml");
  ASSERT_FALSE(catalogue);
  EXPECT_EQ(catalogue.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(catalogue.error().message, HasSubstr("/nowhere/prices.toml"));
}

TEST(FindPrice, AsksWhichBasisWhereAnInstanceHasSeveral) {
  const auto catalogue = parse_catalogue(kTwoBases, "p.toml");
  ASSERT_TRUE(catalogue);
  const auto either = find_price(*catalogue, {.instance = "inf1.xlarge"});
  ASSERT_FALSE(either);
  EXPECT_THAT(either.error().message, HasSubstr("on demand in us-east-1; reserved in us-east-1"));
  const auto reserved = find_price(*catalogue, {.instance = "inf1.xlarge", .basis = "reserved"});
  ASSERT_TRUE(reserved);
  EXPECT_DOUBLE_EQ(reserved->per_hour.value, 0.110);
}

TEST(FindPrice, SuggestsTheFamilyOfAnInstanceThatIsNotThere) {
  const auto catalogue = parse_catalogue(kTwoBases, "p.toml");
  ASSERT_TRUE(catalogue);
  const auto missing = find_price(*catalogue, {.instance = "inf1.2xlarge"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("the file has inf1.xlarge"));
}

TEST(Describe, AlwaysNamesBasisRegionAndDate) {
  const auto catalogue = parse_catalogue(kTwoBases, "p.toml");
  ASSERT_TRUE(catalogue);
  EXPECT_EQ(describe((*catalogue)[0]),
            "inf1.xlarge at $0.228 an hour (on demand, us-east-1, 2026-09-24)");
  EXPECT_EQ(describe(price_by_hand({0.5})),
            "$0.5 an hour, given by hand (basis and region not stated)");
}

TEST(Comparable, RefusesTwoBasesInOneComparison) {
  const auto catalogue = parse_catalogue(kTwoBases, "p.toml");
  ASSERT_TRUE(catalogue);
  EXPECT_FALSE(comparable((*catalogue)[0], (*catalogue)[1]));
  EXPECT_TRUE(comparable((*catalogue)[0], (*catalogue)[0]));
  EXPECT_TRUE(comparable((*catalogue)[0], price_by_hand({1})));
}

}  // namespace
}  // namespace corelane::price
