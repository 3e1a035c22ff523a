#include "cli/uncompiled.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace corelane::cli {
namespace {

namespace fs = std::filesystem;

class HowToServe : public testing::Test {
 protected:
  HowToServe() { fs::create_directories(folder_); }
  ~HowToServe() override { fs::remove_all(folder_); }

  std::string file(const std::string& name) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << "x";
    return (folder_ / name).string();
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("uncompiled-" + std::to_string(getpid()));
};

TEST_F(HowToServe, GivesTheTwoCommandsForAnOnnxFile) {
  const std::string path = file("resnet50.onnx");
  EXPECT_EQ(how_to_serve(path, "models"),
            path +
                " is not compiled yet. Compile it and serve what that makes:\n  corelane compile " +
                path + " --name resnet50\n  corelane serve models/resnet50");
}

TEST_F(HowToServe, AsksForTheInputsOfTorchScript) {
  const auto text = how_to_serve(file("qa.pt"), "models");
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("--name qa --input 'NAME:TYPE[DIMENSIONS]'\n"), std::string::npos);
  EXPECT_NE(text->find("corelane help inputs"), std::string::npos);
}

TEST_F(HowToServe, KnowsADirectoryByItsConfiguration) {
  file("bert/config.json");
  const auto text = how_to_serve(folder_ / "bert", "models");
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("corelane serve models/bert"), std::string::npos);
}

TEST_F(HowToServe, QuotesWhatAShellWouldTakeApart) {
  const auto text = how_to_serve(file("it's one.onnx"), "my models");
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("it'\\''s one.onnx' --name it-s-one --out 'my models'\n"), std::string::npos)
      << *text;
  EXPECT_NE(text->find("corelane serve 'my models/it-s-one'"), std::string::npos) << *text;
}

TEST_F(HowToServe, IsSilentAboutEverythingElse) {
  EXPECT_FALSE(how_to_serve(file("notes.txt"), "models"));
  EXPECT_FALSE(how_to_serve(folder_, "models"));
  EXPECT_FALSE(how_to_serve(folder_ / "nothing.onnx", "models"));
}

}  // namespace
}  // namespace corelane::cli
