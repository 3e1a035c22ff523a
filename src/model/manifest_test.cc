#include "model/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"

namespace corelane::model {
namespace {

using testing::HasSubstr;

constexpr std::string_view kSmall = R"(name = "qa"
version = 3
[[input]]
name = "x"
type = "FP32"
shape = ["batch", 4]
[[output]]
name = "y"
type = "FP32"
shape = ["batch", 4]
[dimensions]
batch = { max = 8 }
[precision.f32]
engine = "openvino"
file = "f32.xml"
)";

Manifest full_manifest() {
  Manifest manifest;
  manifest.name = "qa";
  manifest.version = 3;
  manifest.task = "question-answering";
  manifest.inputs = {
      {.name = "input_ids", .type = tensor::DType::kInt64, .shape = {"batch", "tokens"}, .pad = 1},
      {.name = "scale \"x\"\n", .type = tensor::DType::kFp32, .shape = {"batch", 3}, .pad = -0.5}};
  manifest.outputs = {
      {.name = "logits",
       .type = tensor::DType::kBf16,
       .shape = {"batch", "tokens"},
       .labels = "sub/labels.txt"},
      {.name = "best", .type = tensor::DType::kInt64, .shape = {"batch", "best of all"}}};
  manifest.dimensions = {{"batch", {.max = 32}},
                         {"best of all", {.min = 0}},
                         {"tokens", {.min = 2, .max = 512, .buckets = {16, 128, 512}}}};
  manifest.precisions["f32"] = {.engine = "openvino", .file = "f32.xml"};
  manifest.precisions["int8.v2"] = {
      .engine = "torch",
      .file = "sub/int8.pt",
      .accuracy = Accuracy{.measure = "f1", .value = 0.884, .reference = 0.889, .on = "dev.jsonl"},
      .options = R"({"a":{"b":[1,2.5,true]},"c d":"text","e":5.0,"f":0.1})"};
  manifest.coverage = Coverage{.engine = "openvino 2026.4.1",
                               .operators = 313,
                               .operators_taken = 312,
                               .arithmetic = 97,
                               .arithmetic_taken = 97,
                               .subgraphs = 2,
                               .not_taken = {"GridSample (1 use)"}};
  manifest.size = Size{
      .parameters = 108893186, .parameter_bytes = 435572744, .flops = 2.25e10, .shape = "[1,128]"};
  manifest.load_at_start = false;
  manifest.source_sha256 = "abc";
  manifest.source_options = "--engine torch";
  manifest.made_by = "corelane 0.1.0";
  return manifest;
}

/// The message of the error that `text` gives; "" if it gives none.
std::string error_of(const std::string& text) {
  const auto manifest = parse_manifest(text, "m.toml");
  return manifest ? "" : manifest.error().message;
}

/// kSmall with one piece of text replaced by another.
std::string small_with(const std::string& from, const std::string& to) {
  std::string text(kSmall);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ParseManifest, ReadsASmallOne) {
  const auto manifest = parse_manifest(kSmall, "m.toml");
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->name, "qa");
  EXPECT_EQ(manifest->version, 3);
  ASSERT_EQ(manifest->inputs.size(), 1U);
  EXPECT_EQ(manifest->inputs[0].shape, (std::vector<Dim>{"batch", 4}));
  EXPECT_EQ(manifest->precisions.at("f32").options, "{}");
  EXPECT_TRUE(manifest->load_at_start);
  EXPECT_EQ(max_batch(*manifest), 8);
}

TEST(ParseManifest, GivesWhatWasWritten) {
  const Manifest manifest = full_manifest();
  const std::string text = write_manifest(manifest);
  const auto back = parse_manifest(text, "m.toml");
  ASSERT_TRUE(back) << back.error().message << "\n" << text;
  EXPECT_EQ(*back, manifest) << text;
}

TEST(ParseManifest, GivesADimensionThatIsOnlyUsedAnyText) {
  std::string text = small_with("[\"batch\", 4]\n[dim", "[\"batch\", \"n\"]\n[dim");
  const auto manifest = parse_manifest(text, "m.toml");
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->dimensions.at("n"), Dimension{});
}

TEST(ParseManifest, HandsOptionsOverAsJson) {
  const auto manifest = parse_manifest(
      std::string(kSmall) + "[precision.f32.options]\nbehaviour = \"sleep\"\n", "m.toml");
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->precisions.at("f32").options, R"({"behaviour":"sleep"})");
}

struct Broken {
  std::string from;
  std::string to;
  std::string says;
};

class BrokenManifest : public testing::TestWithParam<Broken> {};

TEST_P(BrokenManifest, IsRefusedWithLineFieldAndRule) {
  EXPECT_THAT(error_of(small_with(GetParam().from, GetParam().to)), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BrokenManifest,
    testing::Values(
        Broken{"name = \"qa\"\n", "", "m.toml:1: name is missing"},
        Broken{"\"qa\"", "\"../qa\"", "m.toml:1: name must be"},
        Broken{"\"qa\"", "7", "m.toml:1: name must be a string"},
        Broken{"version = 3", "version = 0", "m.toml:2: version must be at least 1"},
        Broken{"version = 3", "verzion = 3", "m.toml:2: unknown field 'verzion'"},
        Broken{"version = 3", "format = 2", "m.toml:2: format 2 is not known"},
        Broken{"version = 3", "version = ", "m.toml:2: "},
        Broken{"\"FP32\"", "\"float\"", "m.toml:5: input 'x': type 'float' is none"},
        Broken{"shape = [\"batch\", 4]", "", "m.toml:3: input 'x': shape is missing"},
        Broken{"\"batch\", 4]", "\"batch\", -1]", "m.toml:6: input 'x': shape: -1 is no size"},
        Broken{"\"batch\", 4]", "\"batch\", 4.5]", "m.toml:6: input 'x': shape must be a list"},
        Broken{"\"batch\", 4]", "1,1,1,1,1,1,1,1,1]", "input 'x': shape has 9 dimensions"},
        Broken{"\"batch\", 4]", "4, \"batch\"]", "'x': the dimension 'batch' can only come first"},
        Broken{"[\"batch\", 4]\n[dim", "[4]\n[dim", "output 'y' must begin with 'batch'"},
        Broken{"\"x\"", "\"\"", "m.toml:4: input: name must not be empty"},
        Broken{"type", "pad = nan\ntype", "m.toml:5: input 'x': pad must be a finite number"},
        Broken{"\"y\"", "\"y\"\nlabels = \"../l.txt\"",
               "output 'y': labels must be a path inside the version's folder"},
        Broken{"max = 8", "max = 0", "the dimension 'batch' needs a max"},
        Broken{"max = 8", "min = 0, max = 8",
               "m.toml:12: dimension 'batch': min must be at least 1"},
        Broken{"max = 8", "min = 9, max = 8", "dimension 'batch': max must be at least min"},
        Broken{"max = 8", "max = 8, buckets = [4, 4, 8]", "dimension 'batch': buckets must ascend"},
        Broken{"max = 8", "max = 8, buckets = [4]", "dimension 'batch': buckets must begin at min"},
        Broken{"max = 8", "max = 8, bucket = [8]", "dimension 'batch': unknown field 'bucket'"},
        Broken{"batch = {", "x = {max = 1}\nbatch = {",
               "m.toml:12: dimensions: no input or output"},
        Broken{"engine = \"openvino\"", "", "precision 'f32': engine is missing"},
        Broken{"\"f32.xml\"", "\"../f32.xml\"", "m.toml:15: precision 'f32': file must be a path"},
        Broken{"\"f32.xml\"", "\"/f32.xml\"", "m.toml:15: precision 'f32': file must be a path"}));

TEST(ParseManifest, RefusesNoPrecision) {
  EXPECT_THAT(error_of(std::string(kSmall.substr(0, kSmall.find("[precision")))),
              HasSubstr("at least one [precision.NAME]"));
}

TEST(ParseManifest, RefusesAnInputNameUsedTwice) {
  EXPECT_THAT(error_of(small_with("[[output]]",
                                  "[[input]]\nname = \"x\"\ntype = \"FP32\"\n"
                                  "shape = [\"batch\"]\n[[output]]")),
              HasSubstr("the name 'x' is used twice"));
}

/// Whatever was parsed must be something that can be written and read again.
void expect_refused_or_whole(const std::string& text) {
  const auto manifest = parse_manifest(text, "m.toml");
  if (!manifest) {
    EXPECT_THAT(manifest.error().message, testing::StartsWith("m.toml:"));
    return;
  }
  const auto back = parse_manifest(write_manifest(*manifest), "back.toml");
  ASSERT_TRUE(back) << back.error().message << "\n" << text;
  EXPECT_EQ(*back, *manifest) << text;
}

TEST(ParseManifest, RefusesOrReadsWholeAfterATruncation) {
  const std::string text = write_manifest(full_manifest());
  for (std::size_t size = 0; size < text.size(); ++size) {
    expect_refused_or_whole(text.substr(0, size));
  }
}

TEST(ParseManifest, RefusesOrReadsWholeAfterAFlippedBit) {
  const std::string text = write_manifest(full_manifest());
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));  // each bit at many places
    expect_refused_or_whole(flipped);
  }
}

TEST(MaxBatch, IsZeroWhereAnInputDoesNotBeginWithTheBatch) {
  auto manifest = parse_manifest(kSmall, "m.toml");
  ASSERT_TRUE(manifest);
  manifest->inputs.push_back({.name = "z", .type = tensor::DType::kFp32, .shape = {4}});
  EXPECT_EQ(max_batch(*manifest), 0);
}

TEST(ReadManifest, SaysWhichFileIsMissing) {
  const auto manifest = read_manifest("/nowhere/model.toml");
  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(manifest.error().message, HasSubstr("/nowhere/model.toml"));
}

}  // namespace
}  // namespace corelane::model
