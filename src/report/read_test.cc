#include "report/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/result.h"
#include "report/testing/made_up.h"

namespace corelane::report {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A folder of its own for each test, gone afterwards.
class ReadResultsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "inner");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const fs::path& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  fs::path folder_;
};

TEST_F(ReadResultsTest, FindsTheFilesOfAFolderAndItsFoldersInAFixedOrder) {
  write("b.json", bench::write_result(made_up({.batch = 2})));
  write("inner/c.json", bench::write_result(made_up({.batch = 3})));
  write("a.json", bench::write_result(made_up({.batch = 1})));
  write("a.samples.csv", "not a result");
  const auto read = read_results(std::vector<fs::path>{folder_});
  ASSERT_TRUE(read) << read.error().message;
  std::vector<std::int64_t> batches;
  for (const auto& result : read->results) {
    batches.push_back(result.experiment.batch);
  }
  EXPECT_THAT(batches, ElementsAre(1, 2, 3));
  EXPECT_TRUE(read->unreadable.empty());
}

TEST_F(ReadResultsTest, TellsADamagedFileOfAFolderAndGoesOn) {
  write("good.json", bench::write_result(made_up({})));
  write("torn.json", "{\"format\": 1,");
  const auto read = read_results(std::vector<fs::path>{folder_});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->results.size(), 1U);
  EXPECT_THAT(read->unreadable, ElementsAre(HasSubstr("torn.json")));
}

TEST_F(ReadResultsTest, RefusesADamagedFileThatWasNamed) {
  write("torn.json", "{\"format\": 1,");
  EXPECT_FALSE(read_results(std::vector<fs::path>{folder_ / "torn.json"}));
}

TEST_F(ReadResultsTest, SaysWhichPathDoesNotExist) {
  const auto read = read_results(std::vector<fs::path>{folder_ / "missing"});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(read.error().message, HasSubstr("missing"));
}

}  // namespace
}  // namespace corelane::report
