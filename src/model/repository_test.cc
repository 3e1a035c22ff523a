#include "model/repository.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"

namespace corelane::model {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Manifest manifest_of(const std::string& name, std::int64_t version) {
  Manifest manifest;
  manifest.name = name;
  manifest.version = version;
  manifest.inputs = {{.name = "x", .shape = {4}}};
  manifest.outputs = {{.name = "y", .shape = {4}}};
  manifest.precisions["f32"] = {.engine = "probe", .file = ""};
  return manifest;
}

class Repository : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "corelane-repository-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    top_ = pattern;
    root_ = top_ / "models";
  }
  void TearDown() override { fs::remove_all(top_); }

  void put(const std::string& model, const std::string& version, const Manifest& manifest) {
    fs::create_directories(root_ / model / version);
    std::ofstream(root_ / model / version / "model.toml") << write_manifest(manifest);
  }

  Result<Version> publish(const std::string& model,
                          std::optional<std::int64_t> version = std::nullopt) {
    auto draft = Draft::begin(root_, model);
    if (!draft) {
      return std::move(draft).error();
    }
    std::ofstream(draft->folder() / "f32.xml") << "weights";
    return draft->publish(manifest_of("any", 99), version);
  }

  fs::path top_;
  fs::path root_;
};

TEST_F(Repository, IsOneModelWhereItsFolderIsNamed) {
  put("b", "9", manifest_of("b", 9));
  put("b", "10", manifest_of("b", 10));
  put("a", "1", manifest_of("a", 1));
  for (const fs::path& path : {root_ / "b", root_ / "b" / ""}) {
    const auto scan = scan_path(path);
    ASSERT_TRUE(scan) << scan.error().message;
    EXPECT_TRUE(scan->one_model);
    ASSERT_EQ(scan->versions.size(), 2U);
    EXPECT_EQ(scan->versions.back().manifest.version, 10);
  }
}

TEST_F(Repository, IsOneVersionWhereverItsFolderLies) {
  put("b", "9", manifest_of("b", 9));
  fs::rename(root_ / "b" / "9", top_ / "copy");
  for (const fs::path& path : {top_ / "copy", top_ / "copy" / "model.toml"}) {
    const auto scan = scan_path(path);
    ASSERT_TRUE(scan) << scan.error().message;
    EXPECT_TRUE(scan->one_model);
    ASSERT_EQ(scan->versions.size(), 1U);
    EXPECT_EQ(scan->versions[0].manifest.name, "b");
    EXPECT_EQ(scan->versions[0].folder, top_ / "copy");
  }
}

TEST_F(Repository, IsAllOfItWhereItsOwnFolderIsNamed) {
  put("1", "1", manifest_of("1", 1));  // a model whose name looks like a version's
  put("a", "1", manifest_of("a", 1));
  const auto scan = scan_path(root_);
  ASSERT_TRUE(scan) << scan.error().message;
  EXPECT_FALSE(scan->one_model);
  EXPECT_EQ(scan->versions.size(), 2U);
}

TEST_F(Repository, IsReadByNameAndNumber) {
  put("b", "10", manifest_of("b", 10));
  put("b", "9", manifest_of("b", 9));
  put("a", "1", manifest_of("a", 1));
  fs::create_directories(root_ / ".draft-a-1" / "1");
  fs::create_directories(root_ / "a" / "notes");
  fs::create_directories(root_ / "a" / "007");
  const auto scan = scan_repository(root_);
  ASSERT_TRUE(scan);
  EXPECT_THAT(scan->problems, IsEmpty());
  ASSERT_EQ(scan->versions.size(), 3U);
  EXPECT_EQ(scan->versions[0].manifest.name, "a");
  EXPECT_EQ(scan->versions[1].manifest.version, 9);
  EXPECT_EQ(scan->versions[2].manifest.version, 10);
  EXPECT_EQ(scan->versions[2].folder, root_ / "b" / "10");
}

TEST_F(Repository, ShowsWhatCannotBeReadBesideTheRest) {
  put("a", "1", manifest_of("a", 1));
  put("a", "2", manifest_of("other", 2));
  fs::create_directories(root_ / "a" / "3");
  const auto scan = scan_repository(root_);
  ASSERT_TRUE(scan);
  EXPECT_EQ(scan->versions.size(), 1U);
  ASSERT_EQ(scan->problems.size(), 2U);
  EXPECT_THAT(scan->problems[0].message, HasSubstr("says it is other/2, but its folder is a/2"));
  EXPECT_THAT(scan->problems[1].message, HasSubstr("a/3/model.toml"));
}

TEST_F(Repository, ThatDoesNotExistIsNotFound) {
  const auto scan = scan_repository(root_);
  ASSERT_FALSE(scan);
  EXPECT_EQ(scan.error().code, ErrorCode::kNotFound);
}

TEST_F(Repository, NumbersNewVersionsAfterTheNewest) {
  ASSERT_TRUE(publish("qa"));
  ASSERT_TRUE(publish("qa", 7));
  const auto third = publish("qa");
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_EQ(third->folder, root_ / "qa" / "8");
  EXPECT_THAT(version_numbers(root_, "qa"), ElementsAre(1, 7, 8));
  const auto newest = newest_version(root_, "qa");
  ASSERT_TRUE(newest) << newest.error().message;
  EXPECT_EQ(newest->manifest, manifest_of("qa", 8));
  EXPECT_TRUE(fs::exists(newest->folder / "f32.xml"));
}

TEST_F(Repository, NeverReplacesAVersion) {
  ASSERT_TRUE(publish("qa", 1));
  const auto again = publish("qa", 1);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kAlreadyExists);
}

TEST_F(Repository, HoldsNothingOfADraftThatWasGivenUp) {
  {
    auto draft = Draft::begin(root_, "qa");
    ASSERT_TRUE(draft);
    std::ofstream(draft->folder() / "f32.xml") << "half";
    EXPECT_THAT(version_numbers(root_, "qa"), IsEmpty());
  }
  EXPECT_FALSE(fs::exists(root_));
}

TEST_F(Repository, RemovesTheDraftOfAProcessThatIsGone) {
  const fs::path abandoned = root_ / ".draft-qa-2147483646";  // above the largest pid of Linux
  const fs::path of_another_model = root_ / ".draft-qa2-2147483646";
  fs::create_directories(abandoned);
  fs::create_directories(of_another_model);
  ASSERT_TRUE(publish("qa"));
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(of_another_model));
}

TEST_F(Repository, RefusesANameThatLeavesTheFolder) {
  const auto version = publish("../qa");
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code, ErrorCode::kInvalidArgument);
}

TEST(ProbeModels, AreARepositoryThatCanBeRead) {
  const auto scan = scan_repository(fs::path(CORELANE_EXAMPLES) / "probe-models");
  ASSERT_TRUE(scan) << scan.error().message;
  EXPECT_THAT(scan->problems, IsEmpty());
  std::vector<std::string> names;
  for (const Version& version : scan->versions) {
    names.push_back(version.manifest.name);
    EXPECT_EQ(version.manifest.load_at_start, version.manifest.name != "broken");
  }
  EXPECT_THAT(names, ElementsAre("add2", "broken", "id_b8", "id_bf16", "id_bool", "id_bytes",
                                 "id_bytes2", "id_fp16", "id_fp32", "id_int64", "id_u8", "nan",
                                 "null", "reload", "slow"));
}

}  // namespace
}  // namespace corelane::model
