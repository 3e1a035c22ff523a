#include "engine/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine_abi.h"
#include "tensor/dtype.h"

namespace corelane::engine {
namespace {

using tensor::DType;
using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kEngines = CORELANE_ENGINES;

template <typename T>
cl_tensor tensor_of(DType dtype, std::vector<T>& values) {
  cl_tensor tensor{};
  tensor.dtype = static_cast<std::uint32_t>(dtype);
  tensor.rank = 1;
  tensor.dims[0] = std::ssize(values);
  tensor.data = values.data();
  tensor.bytes = values.size() * sizeof(T);
  return tensor;
}

template <typename T>
std::vector<T> values_of(const cl_tensor& tensor) {
  const T* data = static_cast<const T*>(tensor.data);
  return {data, data + tensor.bytes / sizeof(T)};
}

Result<std::unique_ptr<LoadedModel>> load_probe(const std::string& options, std::size_t inputs = 1,
                                                std::size_t outputs = 1) {
  auto engine = load_engine(kEngines, "probe");
  if (!engine) return engine.error();
  LoadOptions load;
  load.options = options;
  for (std::size_t k = 0; k < inputs; ++k) load.inputs.push_back("INPUT" + std::to_string(k));
  for (std::size_t k = 0; k < outputs; ++k) load.outputs.push_back("OUTPUT" + std::to_string(k));
  return (*engine)->load(load);
}

TEST(LoadEngine, OpensAPlugInByName) {
  const auto engine = load_engine(kEngines, "probe");
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_EQ((*engine)->name(), "probe");
  EXPECT_FALSE((*engine)->version().empty());
}

TEST(LoadEngine, SaysThatAnEngineIsNotPartOfTheBuildAndWhichAre) {
  const auto engine = load_engine(kEngines, "quantum");
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(engine.error().message, HasSubstr("engine 'quantum' is not part of this build"));
  EXPECT_THAT(engine.error().message, HasSubstr("probe"));
}

TEST(LoadEngine, RefusesANameThatLeavesTheFolder) {
  const auto engine = load_engine(kEngines, "../probe");
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::kInvalidArgument);
}

TEST(LoadEngine, RefusesAFileThatIsNoLibrary) {
  const std::filesystem::path folder = testing::TempDir() + "corelane_not_a_library";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "libcorelane_text.so") << "no library";
  const auto engine = load_engine(folder, "text");
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(engine);
  EXPECT_THAT(engine.error().message, HasSubstr("engine 'text' cannot be opened"));
}

TEST(LoadEngine, RefusesAPlugInOfAnotherVersionOfTheBoundary) {
  const auto engine = load_engine(kEngines.parent_path() / "test-engines", "old");
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(engine.error().message, HasSubstr("version 999 of the boundary"));
}

TEST(LoadedModel, ReportsAnOutputWhoseSizeIsNotThatOfItsShape) {
  auto engine = load_engine(kEngines.parent_path() / "test-engines", "liar");
  ASSERT_TRUE(engine) << engine.error().message;
  auto model = (*engine)->load({.outputs = {"y"}});
  ASSERT_TRUE(model) << model.error().message;
  std::vector<cl_tensor> outputs(1);
  const Status status = (*model)->infer({}, outputs);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInternal);
  EXPECT_THAT(status.error().message, HasSubstr("size that is not that of its shape"));
}

TEST(Probe, AnswersItsInputsInItsOwnMemory) {
  auto model = load_probe(R"({"behaviour": "identity"})", 2, 2);
  ASSERT_TRUE(model) << model.error().message;
  std::vector<float> a{1, 2, 3};
  std::vector<std::int64_t> b{-4, 5};
  const std::vector<cl_tensor> inputs{tensor_of(DType::kFp32, a), tensor_of(DType::kInt64, b)};
  std::vector<cl_tensor> outputs(2);
  ASSERT_TRUE((*model)->infer(inputs, outputs));
  EXPECT_THAT(values_of<float>(outputs[0]), ElementsAre(1, 2, 3));
  EXPECT_THAT(values_of<std::int64_t>(outputs[1]), ElementsAre(-4, 5));
  EXPECT_NE(outputs[0].data, inputs[0].data);
}

TEST(Probe, AnswersAnEmptyTensor) {
  auto model = load_probe("{}");
  ASSERT_TRUE(model);
  std::vector<float> none;
  const std::vector<cl_tensor> inputs{tensor_of(DType::kFp32, none)};
  std::vector<cl_tensor> outputs(1);
  ASSERT_TRUE((*model)->infer(inputs, outputs));
  EXPECT_EQ(outputs[0].bytes, 0U);
  EXPECT_EQ(outputs[0].dims[0], 0);
}

template <typename T>
std::vector<T> added(DType dtype, std::vector<T> a, std::vector<T> b) {
  auto model = load_probe(R"({"behaviour": "add"})", 2, 1);
  if (!model) return {};
  const std::vector<cl_tensor> inputs{tensor_of(dtype, a), tensor_of(dtype, b)};
  std::vector<cl_tensor> outputs(1);
  if (!(*model)->infer(inputs, outputs)) return {};
  return values_of<T>(outputs[0]);
}

TEST(Probe, AddsNumbersOfEachKind) {
  EXPECT_THAT((added<float>(DType::kFp32, {1.5, 2}, {0.25, -2})), ElementsAre(1.75, 0));
  EXPECT_THAT((added<std::int32_t>(DType::kInt32, {1, -7}, {2, 3})), ElementsAre(3, -4));
  EXPECT_THAT((added<std::int64_t>(DType::kInt64, {1LL << 40}, {1})), ElementsAre((1LL << 40) + 1));
  EXPECT_THAT((added<std::uint8_t>(DType::kUint8, {255}, {2})), ElementsAre(1));
}

TEST(Probe, RefusesToAddDifferentShapes) {
  auto model = load_probe(R"({"behaviour": "add"})", 2, 1);
  ASSERT_TRUE(model);
  std::vector<float> a{1, 2};
  std::vector<float> b{1};
  const std::vector<cl_tensor> inputs{tensor_of(DType::kFp32, a), tensor_of(DType::kFp32, b)};
  std::vector<cl_tensor> outputs(1);
  const Status status = (*model)->infer(inputs, outputs);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(status.error().message, "engine 'probe': the two inputs have different shapes");
}

TEST(Probe, AnswersNaNAndTheInfinities) {
  auto model = load_probe(R"({"behaviour": "nan"})");
  ASSERT_TRUE(model);
  std::vector<float> a{1};
  const std::vector<cl_tensor> inputs{tensor_of(DType::kFp32, a)};
  std::vector<cl_tensor> outputs(1);
  ASSERT_TRUE((*model)->infer(inputs, outputs));
  const auto values = values_of<float>(outputs[0]);
  ASSERT_EQ(values.size(), 3U);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], INFINITY);
  EXPECT_EQ(values[2], -INFINITY);
}

TEST(Probe, AnswersAsManyBytesAsItsOptionsSay) {
  auto model = load_probe(R"({"behaviour": "large", "bytes": 5000000})");
  ASSERT_TRUE(model);
  std::vector<float> a{1};
  const std::vector<cl_tensor> inputs{tensor_of(DType::kFp32, a)};
  std::vector<cl_tensor> outputs(1);
  ASSERT_TRUE((*model)->infer(inputs, outputs));
  EXPECT_EQ(outputs[0].bytes, 5000000U);
  EXPECT_THAT((*model)->report(), HasSubstr("\"memory_bytes\":5000000"));
  EXPECT_THAT((*model)->report(), ::testing::StartsWith("{\"engine\":\"probe\",\"version\":\""));
}

TEST(Probe, SleepsNoTimeForZeroNegativeAndNoNumber) {
  auto model = load_probe(R"({"behaviour": "sleep"})");
  ASSERT_TRUE(model);
  for (const float seconds : {0.0F, -1.0F, NAN}) {
    std::vector<float> a{seconds};
    const std::vector<cl_tensor> inputs{tensor_of(DType::kFp32, a)};
    std::vector<cl_tensor> outputs(1);
    EXPECT_TRUE((*model)->infer(inputs, outputs));
  }
}

TEST(Probe, FailsWhenAsked) {
  auto model = load_probe(R"({"behaviour": "fail"})");
  ASSERT_TRUE(model);
  std::vector<float> a{1};
  const std::vector<cl_tensor> inputs{tensor_of(DType::kFp32, a)};
  std::vector<cl_tensor> outputs(1);
  const Status status = (*model)->infer(inputs, outputs);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("as its options ask"));
}

TEST(Probe, FailsToLoadWhenAsked) {
  const auto model = load_probe(R"({"behaviour": "fail_load"})");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kInternal);
}

TEST(Probe, RefusesOptionsThatItDoesNotKnow) {
  for (const char* options :
       {"[]", "{", R"({"behaviour": "fly"})", R"({"behavior": "add"})",
        R"({"fixed_microseconds": -1})", R"({"bytes": "many"})", R"({"crash_on_value": "x"})"}) {
    const auto model = load_probe(options);
    ASSERT_FALSE(model) << options;
    EXPECT_EQ(model.error().code, ErrorCode::kInvalidArgument) << options;
  }
}

TEST(ProbeDeathTest, CrashesOnTheValueItWasTold) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto model = load_probe(R"({"crash_on_value": 13})");
  ASSERT_TRUE(model);
  std::vector<float> good{12};
  std::vector<float> bad{1, 13};
  std::vector<cl_tensor> outputs(1);
  EXPECT_TRUE((*model)->infer(std::vector{tensor_of(DType::kFp32, good)}, outputs));
  EXPECT_EXIT(
      static_cast<void>((*model)->infer(std::vector{tensor_of(DType::kFp32, bad)}, outputs)),
      testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace corelane::engine
