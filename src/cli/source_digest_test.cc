#include "cli/source_digest.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/result.h"

namespace corelane::cli {
namespace {

namespace fs = std::filesystem;

class SourceDigest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "corelane-digest-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    top_ = pattern;
  }
  void TearDown() override { fs::remove_all(top_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((top_ / name).parent_path());
    std::ofstream(top_ / name) << text;
  }
  std::string digest(const std::string& name = "") {
    const auto digest = source_digest(name.empty() ? top_ : top_ / name);
    return digest ? *digest : digest.error().message;
  }

  fs::path top_;
};

TEST_F(SourceDigest, OfAFileIsItsSha256) {
  write("model.pt", "abc");
  EXPECT_EQ(digest("model.pt"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(SourceDigest, OfAFileChangesWithItsWeights) {
  write("model.xml", "graph");
  write("model.bin", "weights");
  const std::string before = digest("model.xml");
  write("model.bin", "Weights");
  EXPECT_NE(digest("model.xml"), before);
}

TEST_F(SourceDigest, OfAFolderChangesWithContentsAndNames) {
  write("config.json", "{}");
  write("1_Pooling/config.json", "{}");
  const std::string before = digest();
  write(".cache/other", "x");
  EXPECT_EQ(digest(), before);
  write("1_Pooling/config.json", "[]");
  const std::string changed = digest();
  EXPECT_NE(changed, before);
  fs::rename(top_ / "1_Pooling", top_ / "2_Pooling");
  EXPECT_NE(digest(), changed);
}

TEST_F(SourceDigest, OfNothingIsNotFound) {
  const auto missing = source_digest(top_ / "missing.pt");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace corelane::cli
