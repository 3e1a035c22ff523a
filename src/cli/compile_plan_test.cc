#include "cli/compile_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "cli/input_option.h"
#include "model/manifest.h"

namespace corelane::cli {
namespace {

using testing::HasSubstr;

constexpr const char* kAnswer = R"json({
  "inputs": [{"name": "x", "type": "INT64", "shape": ["batch", 4], "pad": 1}],
  "outputs": [{"name": "y", "type": "FP32", "shape": ["batch", "n"], "labels": "labels.txt"}],
  "dimensions": {"batch": {"min": 1, "max": 32, "buckets": []},
                 "n": {"min": 1, "max": 8, "buckets": [4, 8]}},
  "precisions": {"bf16": {"engine": "openvino", "file": "f32.xml"},
                 "f32": {"engine": "openvino", "file": "f32.xml"}},
  "coverage": {"engine": "openvino 2026.4.1", "operators": 313, "operators_taken": 312,
               "arithmetic": 97, "arithmetic_taken": 96, "subgraphs": 2,
               "not_taken": ["GridSample (1 use)"]},
  "size": {"parameters": 22713216, "parameter_bytes": 90852864, "flops": 2868903936.0,
           "shape": "[1,128]"},
  "layers": 6, "task": "embedding", "made_by": "openvino 2026.4.1",
  "tokenizer": {"kind": "WordPiece", "tokens": 30522, "converted": true, "why_not": ""}
})json";

TEST(DefaultName, IsTheSourcesOwn) {
  EXPECT_EQ(default_name("a/resnet50.onnx"), "resnet50");
  EXPECT_EQ(default_name("a/mini lm/"), "mini-lm");
  EXPECT_EQ(default_name("a/v1.5.pt"), "v1.5");
  EXPECT_EQ(default_name("a/.pt"), "model");
}

TEST(OptionsText, IsTheSameForTheSameWishesWrittenOtherwise) {
  CompileOptions options;
  options.inputs = {*parse_input_option("x:long[ ?, 1..512 ]")};
  CompileOptions same;
  same.inputs = {*parse_input_option("x:INT64[?,1..512]")};
  EXPECT_EQ(options_text(options), options_text(same));
  same.max_batch = 8;
  EXPECT_NE(options_text(options), options_text(same));
}

TEST(CompileRequest, SaysSizesAsNumbersAndTheRestAsRanges) {
  CompileOptions options;
  options.source = "m.pt";
  options.inputs = {*parse_input_option("x:fp32[?,3,n=1..8]")};
  const auto request = nlohmann::json::parse(compile_request(options, "/tmp/out"));
  EXPECT_EQ(request["inputs"], nlohmann::json::parse(R"([{"name": "x", "type": "FP32", "shape":
      [{"name": "", "min": 1, "max": 0}, 3, {"name": "n", "min": 1, "max": 8}]}])"));
  EXPECT_EQ(request["out"], "/tmp/out");
}

TEST(ParseCompiled, GivesAManifestThatCanBeWrittenAndRead) {
  auto compiled = parse_compiled(kAnswer);
  ASSERT_TRUE(compiled) << compiled.error().message;
  compiled->manifest.name = "m";
  const auto back = model::parse_manifest(model::write_manifest(compiled->manifest), "m.toml");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, compiled->manifest);
  EXPECT_EQ(model::max_batch(*back), 32);
  EXPECT_EQ(back->outputs[0].labels, "labels.txt");
}

TEST(ParseCompiled, GivesTheToolsErrorAsItIs) {
  const auto compiled = parse_compiled(R"({"error": "x.onnx: no"})");
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().message, "x.onnx: no");
}

TEST(ParseCompiled, RefusesWhatIsNoWholeAnswer) {
  for (const std::string text : {"", "{", "[]", "{}", R"({"inputs": 3})"}) {
    const auto compiled = parse_compiled(text);
    ASSERT_FALSE(compiled) << text;
    EXPECT_EQ(compiled.error().code, ErrorCode::kInternal) << text;
  }
}

TEST(SummaryText, SaysHowLargeItIsAndWhatTheEngineTakes) {
  auto compiled = parse_compiled(kAnswer);
  ASSERT_TRUE(compiled);
  compiled->manifest.name = "minilm";
  EXPECT_EQ(
      summary_text(*compiled, "models/minilm/1"),
      "minilm/1   6 layers, 22.7 M parameters, 90.9 MB, 2.87 GFLOP at [1,128]\n"
      "  operators   312 of 313 on openvino 2026.4.1 (99 %), arithmetic 96 of 97, 2 subgraphs\n"
      "  not taken   GridSample (1 use)\n"
      "  takes       x INT64 [batch,4]\n"
      "  gives       y FP32 [batch,n]\n"
      "  precisions  bf16 f32\n"
      "  tokenizer   WordPiece, 30,522 tokens\n"
      "  task        embedding\n"
      "-> models/minilm/1\n");
}

TEST(SummaryJson, HoldsTheSameAsTheText) {
  auto compiled = parse_compiled(kAnswer);
  ASSERT_TRUE(compiled);
  compiled->manifest.name = "minilm";
  const auto json = nlohmann::json::parse(
      summary_json(compiled->manifest, "models/minilm/1", Outcome::kUnchanged));
  EXPECT_EQ(json["folder"], "models/minilm/1");
  EXPECT_EQ(json["unchanged"], true);
  EXPECT_EQ(json["coverage"]["operators"], 313);
  EXPECT_EQ(json["size"]["parameters"], 22713216);
  EXPECT_EQ(json["precisions"]["bf16"]["file"], "f32.xml");
}

}  // namespace
}  // namespace corelane::cli
