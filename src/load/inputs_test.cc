#include "load/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "load/element.h"
#include "model/manifest.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::load {
namespace {

using tensor::DType;
using tensor::Shape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

model::Manifest bert() {
  model::Manifest manifest;
  manifest.name = "bert";
  manifest.inputs = {
      {.name = "input_ids", .type = DType::kInt64, .shape = {"batch", "tokens"}, .pad = 0},
      {.name = "attention_mask", .type = DType::kInt64, .shape = {"batch", "tokens"}, .pad = 0},
      {.name = "token_type_ids", .type = DType::kInt64, .shape = {"batch", "tokens"}, .pad = 0}};
  manifest.dimensions["batch"] = {.min = 1, .max = 32, .buckets = {}};
  manifest.dimensions["tokens"] = {.min = 1, .max = 128, .buckets = {}};
  return manifest;
}

std::vector<std::int64_t> int64s(const PreparedTensor& tensor) {
  std::vector<std::int64_t> values(tensor.bytes.size() / 8);
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

TEST(MakeInputs, GoesThroughTheLengthsInOrderAndPadsToTheLongestOfARequest) {
  const auto inputs =
      make_inputs(bert(), {.batch = 2, .sizes = {{"tokens", {3, 1, 2, 4}}}, .values = {}});
  ASSERT_TRUE(inputs) << inputs.error().message;
  ASSERT_EQ(inputs->size(), 2u);
  EXPECT_EQ((*inputs)[0].items, 2);
  EXPECT_EQ((*inputs)[0].tensors[0].shape, (Shape{2, 3}));
  EXPECT_EQ((*inputs)[1].tensors[0].shape, (Shape{2, 4}));
  EXPECT_THAT(int64s((*inputs)[0].tensors[1]), ElementsAre(1, 1, 1, 1, 0, 0));
  EXPECT_THAT(int64s((*inputs)[1].tensors[1]), ElementsAre(1, 1, 0, 0, 1, 1, 1, 1));
  for (const std::int64_t id : int64s((*inputs)[0].tensors[0])) {
    EXPECT_GE(id, 0);
    EXPECT_LE(id, 999);
  }
  EXPECT_EQ(int64s((*inputs)[0].tensors[0])[4], 0) << "padding has the pad value";
  EXPECT_THAT(int64s((*inputs)[0].tensors[2]), ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(MakeInputs, UsesEveryLengthOfAListThatABatchDoesNotDivide) {
  const auto inputs =
      make_inputs(bert(), {.batch = 2, .sizes = {{"tokens", {1, 2, 3}}}, .values = {}});
  ASSERT_TRUE(inputs);
  ASSERT_EQ(inputs->size(), 3u);
  EXPECT_EQ((*inputs)[0].tensors[0].shape, (Shape{2, 2}));  // 1 2
  EXPECT_EQ((*inputs)[1].tensors[0].shape, (Shape{2, 3}));  // 3 1
  EXPECT_EQ((*inputs)[2].tensors[0].shape, (Shape{2, 3}));  // 2 3
}

TEST(MakeInputs, GivesTheSameBytesForTheSameSeedAndOthersForAnother) {
  const InputPlan plan{.batch = 1, .sizes = {{"tokens", {16}}}, .values = {}, .seed = 5};
  InputPlan other = plan;
  other.seed = 6;
  const auto first = make_inputs(bert(), plan);
  const auto again = make_inputs(bert(), plan);
  const auto different = make_inputs(bert(), other);
  ASSERT_TRUE(first && again && different);
  EXPECT_EQ(first->size(), kFixedInputs);
  EXPECT_EQ((*first)[3].tensors[0].bytes, (*again)[3].tensors[0].bytes);
  EXPECT_NE((*first)[0].tensors[0].bytes, (*different)[0].tensors[0].bytes);
  EXPECT_NE((*first)[0].tensors[0].bytes, (*first)[1].tensors[0].bytes);
}

TEST(MakeInputs, MakesImagesOfAboutMeanZeroAndDeviationOne) {
  model::Manifest manifest;
  manifest.inputs = {{.name = "image", .shape = {"batch", 3, 32, 32}}};
  const auto inputs = make_inputs(manifest, {.batch = 2, .sizes = {}, .values = {}});
  ASSERT_TRUE(inputs);
  const PreparedTensor& image = inputs->front().tensors.front();
  ASSERT_EQ(image.bytes.size(), 2u * 3 * 32 * 32 * 4);
  std::vector<float> values(image.bytes.size() / 4);
  std::memcpy(values.data(), image.bytes.data(), image.bytes.size());
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    sum += value;
    squares += value * value;
  }
  const double count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 0, 0.05);
  EXPECT_NEAR(squares / count, 1, 0.05);
}

TEST(MakeInputs, TakesValuesThatAreAskedFor) {
  const auto inputs = make_inputs(
      bert(),
      {.batch = 1, .sizes = {{"tokens", {4}}}, .values = {{"input_ids", {.low = 7, .high = 7}}}});
  ASSERT_TRUE(inputs);
  EXPECT_THAT(int64s(inputs->front().tensors.front()), ElementsAre(7, 7, 7, 7));
}

TEST(MakeInputs, KeepsFewInputsWhenTheyAreLarge) {
  model::Manifest manifest;
  manifest.inputs = {{.name = "image", .type = DType::kFp64, .shape = {5 << 20}}};
  const auto inputs = make_inputs(manifest, {.sizes = {}, .values = {}});
  ASSERT_TRUE(inputs);
  EXPECT_EQ(inputs->size(), 1u);
}

std::string fault_of(const InputPlan& plan) {
  const auto inputs = make_inputs(bert(), plan);
  EXPECT_FALSE(inputs);
  return inputs ? "" : inputs.error().message;
}

TEST(MakeInputs, RefusesWhatTheManifestDoesNotAllow) {
  EXPECT_THAT(fault_of({.batch = 64, .sizes = {{"tokens", {8}}}, .values = {}}),
              HasSubstr("batch = 64 is outside 1..32"));
  EXPECT_THAT(fault_of({.sizes = {{"tokens", {8, 129}}}, .values = {}}),
              HasSubstr("tokens = 129 is outside 1..128"));
  EXPECT_THAT(fault_of({.sizes = {}, .values = {}}), HasSubstr("'tokens' of input 'input_ids'"));
  EXPECT_THAT(fault_of({.sizes = {{"tokens", {8}}}, .values = {{"ids", {}}}}),
              HasSubstr("has no input 'ids'"));
}

template <typename T>
T element(DType type, double value) {
  std::vector<std::byte> bytes;
  append_element(bytes, type, value);
  EXPECT_EQ(bytes.size(), sizeof(T));
  T bits{};
  std::memcpy(&bits, bytes.data(), sizeof bits);
  return bits;
}

TEST(AppendElement, RoundsToHalfPrecisionAsIeee754Does) {
  const auto fp16 = [](double value) { return element<std::uint16_t>(DType::kFp16, value); };
  EXPECT_EQ(fp16(0), 0x0000);
  EXPECT_EQ(fp16(-0.0), 0x8000);
  EXPECT_EQ(fp16(1), 0x3C00);
  EXPECT_EQ(fp16(-2), 0xC000);
  EXPECT_EQ(fp16(65504), 0x7BFF);
  EXPECT_EQ(fp16(65519), 0x7BFF);
  EXPECT_EQ(fp16(65520), 0x7C00);
  EXPECT_EQ(fp16(0.333251953125), 0x3555);
  EXPECT_EQ(fp16(std::ldexp(1, -24)), 0x0001);
  EXPECT_EQ(fp16(std::ldexp(1, -14)), 0x0400);
  EXPECT_EQ(fp16(1 + std::ldexp(1, -11)), 0x3C00) << "a tie goes to even";
  EXPECT_EQ(fp16(1 + 3 * std::ldexp(1, -11)), 0x3C02) << "a tie goes to even";
  EXPECT_EQ(fp16(2047.9), 0x6800) << "a carry raises the exponent";
}

TEST(AppendElement, RoundsToBfloat16) {
  const auto bf16 = [](double value) { return element<std::uint16_t>(DType::kBf16, value); };
  EXPECT_EQ(bf16(1), 0x3F80);
  EXPECT_EQ(bf16(-2), 0xC000);
  EXPECT_EQ(bf16(1 + std::ldexp(1, -8)), 0x3F80) << "a tie goes to even";
  EXPECT_EQ(bf16(1 + 3 * std::ldexp(1, -8)), 0x3F82) << "a tie goes to even";
}

TEST(AppendElement, WritesTextsWithTheirLength) {
  std::vector<std::byte> bytes;
  append_element(bytes, DType::kBytes, 12345);
  ASSERT_EQ(bytes.size(), 9u);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), 9),
            std::string("\5\0\0\0", 4) + "12345");
}

}  // namespace
}  // namespace corelane::load
