#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "base/result.h"

namespace corelane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

class DirectoryStore : public ::testing::Test {
 protected:
  DirectoryStore() {
    std::string folder = (fs::temp_directory_path() / "corelane-store-XXXXXX").string();
    root_ = mkdtemp(folder.data());
    store_ = open_directory(root_ / "results");
  }
  ~DirectoryStore() override { fs::remove_all(root_); }

  fs::path root_;
  std::unique_ptr<Store> store_;
};

TEST_F(DirectoryStore, GivesBackWhatWasPut) {
  const std::string text("a\0b\n", 4);
  ASSERT_TRUE(store_->put("study/one.json", text));
  EXPECT_EQ(*store_->get("study/one.json"), text);
  ASSERT_TRUE(store_->put("study/one.json", "new"));
  EXPECT_EQ(*store_->get("study/one.json"), "new");
}

TEST_F(DirectoryStore, ListsAFolderInOrder) {
  ASSERT_TRUE(store_->put("study/b", ""));
  ASSERT_TRUE(store_->put("study/a", ""));
  ASSERT_TRUE(store_->put("other/c", ""));
  EXPECT_THAT(*store_->list("study"), ElementsAre("a", "b"));
  EXPECT_THAT(*store_->list(""), ElementsAre("other", "study"));
  EXPECT_THAT(*store_->list("nothing"), IsEmpty());
}

TEST_F(DirectoryStore, SaysWhichFileIsMissing) {
  const auto missing = store_->get("study/none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("study/none"));
}

TEST_F(DirectoryStore, LeavesNothingBehindWhenItCannotWrite) {
  ASSERT_TRUE(store_->put("study/a", "x"));
  ASSERT_TRUE(store_->put("study/folder/inside", "x"));
  EXPECT_FALSE(store_->put("study/folder", "a text where a folder is"));
  EXPECT_FALSE(store_->put("study/a/below", "a folder where a text is"));
  EXPECT_EQ(*store_->get("study/a"), "x");
  for (const auto& entry : fs::directory_iterator(root_ / "results" / "study")) {
    EXPECT_THAT(entry.path().filename().string(), ::testing::AnyOf("a", "folder"));
  }
}

TEST_F(DirectoryStore, DoesNotListWhatAKilledWriterLeft) {
  ASSERT_TRUE(store_->put("study/a", "x"));
  std::ofstream(root_ / "results" / "study" / ".unfinished-1-b") << "half";
  EXPECT_THAT(*store_->list("study"), ElementsAre("a"));
}

}  // namespace
}  // namespace corelane::store
