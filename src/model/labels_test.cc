#include "model/labels.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"

namespace corelane::model {
namespace {

using Texts = std::vector<std::string>;

TEST(ParseLabels, TakesOneFromEachLine) {
  EXPECT_EQ(parse_labels(""), Texts{});
  EXPECT_EQ(parse_labels("cat\ndog\n"), (Texts{"cat", "dog"}));
  EXPECT_EQ(parse_labels("cat\r\n\r\ndog"), (Texts{"cat", "", "dog"}));
}

TEST(ReadLabels, ReadsTheFilesThatOutputsName) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "labels_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "l.txt") << "cat\ndog\n";
  Manifest manifest;
  manifest.outputs = {{.name = "scores", .shape = {}, .labels = "l.txt"},
                      {.name = "boxes", .shape = {}}};
  const auto labels = read_labels(manifest, folder);
  ASSERT_TRUE(labels) << labels.error().message;
  ASSERT_EQ(labels->size(), 2U);
  EXPECT_EQ(labels->at(0), (Texts{"cat", "dog"}));
  EXPECT_TRUE(labels->at(1).empty());

  manifest.outputs[1].labels = "none.txt";
  const auto missing = read_labels(manifest, folder);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("output 'boxes'"), std::string::npos);
}

}  // namespace
}  // namespace corelane::model
