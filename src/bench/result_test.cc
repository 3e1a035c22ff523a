#include "bench/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/result.h"
#include "bench/testing/example_results.h"

namespace corelane::bench {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

ExperimentResult example() { return example_study().front(); }

std::string with_replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string fault_of(const std::string& json) {
  auto parsed = parse_result(json, "x.json");
  EXPECT_FALSE(parsed) << json;
  return parsed ? "" : parsed.error().message;
}

TEST(ParseResult, ReadsBackWhatWasWritten) {
  for (const ExperimentResult& result : example_study()) {
    auto parsed = parse_result(write_result(result), "x.json");
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, result);
  }
}

TEST(ParseResult, RefusesEveryTruncation) {
  const std::string whole = write_result(example());
  for (std::size_t length = 0; length + 2 < whole.size(); length += 7) {
    EXPECT_THAT(fault_of(whole.substr(0, length)), HasSubstr("x.json: not JSON, or cut short"));
  }
}

TEST(ParseResult, SurvivesAnyFlippedByte) {
  const std::string whole = write_result(example());
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x11);
    refused += parse_result(damaged, "x.json") ? 0 : 1;
  }
  EXPECT_GT(refused, static_cast<int>(whole.size() / 3));  // names and structure, not digits
}

TEST(ParseResult, RefusesAFormatThatIsNewerThanItKnows) {
  const std::string newer =
      with_replaced(write_result(example()), "\"format\": 1", "\"format\": 2");
  EXPECT_THAT(fault_of(newer), HasSubstr("result format 2 is not known here"));
  EXPECT_EQ(parse_result(newer, "x.json").error().code, ErrorCode::kUnsupported);
}

TEST(ParseResult, NamesAMissingField) {
  const std::string json = write_result(example());
  EXPECT_THAT(fault_of(with_replaced(json, "\"items\":", "\"item\":")),
              HasSubstr("x.json: items is missing"));
  EXPECT_THAT(fault_of(with_replaced(json, "\"batch\":", "\"batches\":")),
              HasSubstr("x.json: experiment.batch is missing"));
}

TEST(ParseResult, NamesAFieldOfTheWrongKind) {
  const std::string json = write_result(example());
  EXPECT_THAT(fault_of(with_replaced(json, "\"batch\": 1", "\"batch\": 1.5")),
              HasSubstr("experiment.batch must be an integer"));
  EXPECT_THAT(fault_of(with_replaced(json, "\"valid\": true", "\"valid\": \"yes\"")),
              HasSubstr("valid must be true or false"));
  EXPECT_THAT(fault_of(with_replaced(json, "\"p50\": ", "\"p50\": null, \"x\": ")),
              HasSubstr("latency_ms.p50 must be a number"));
  EXPECT_THAT(fault_of("[]"), HasSubstr("the document must be an object"));
}

TEST(ParseResult, IgnoresFieldsItDoesNotKnow) {
  const std::string json =
      with_replaced(write_result(example()), "\"id\"", "\"from_the_future\": [1], \"id\"");
  EXPECT_TRUE(parse_result(json, "x.json"));
}

TEST(ParseResult, RefusesCountsThatDoNotAddUp) {
  ExperimentResult result = example();
  result.counts.sent += 1;
  EXPECT_THAT(fault_of(write_result(result)), HasSubstr("ok + failed + unfinished"));
}

TEST(ParseResult, RefusesAnInvalidResultWithoutAReason) {
  ExperimentResult result = example();
  result.valid = false;
  EXPECT_THAT(fault_of(write_result(result)), HasSubstr("invalid_because"));
}

TEST(WriteResult, MakesJsonOfTextThatIsNotUtf8) {
  ExperimentResult result = example();
  result.machine.cpu = "\xff\xfe";
  EXPECT_TRUE(parse_result(write_result(result), "x.json"));
}

TEST(ReadResult, NamesTheFileThatIsMissing) {
  auto missing = read_result("/nowhere/x.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("/nowhere/x.json"));
}

// CORELANE_UPDATE=1 in the environment writes the files anew.
TEST(ExampleResults, AreWhatTheFilesSay) {
  const fs::path folder = CORELANE_EXAMPLE_RESULTS "/example";
  const bool update = std::getenv("CORELANE_UPDATE") != nullptr;
  if (update) {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  for (const ExperimentResult& result : example_study()) {
    const fs::path file = folder / (result.id + ".json");
    if (update) {
      std::ofstream(file) << write_result(result);
    }
    auto read = read_result(file);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, result);
  }
  const auto files = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  EXPECT_EQ(static_cast<std::size_t>(files), example_study().size());
}

}  // namespace
}  // namespace corelane::bench
