#include "wire/classification.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/view.h"
#include "wire/half.h"

namespace corelane::wire {
namespace {

using tensor::DType;
using tensor::Shape;
using Texts = std::vector<std::string>;

Texts elements_of(std::span<const std::byte> bytes) {
  Texts texts;
  while (!bytes.empty()) {
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()) + sizeof length, length);
    bytes = bytes.subspan(sizeof length + length);
  }
  return texts;
}

template <typename T>
tensor::TensorView view(DType dtype, const Shape& shape, const std::vector<T>& values) {
  return {.dtype = dtype, .shape = shape, .bytes = std::as_bytes(std::span(values))};
}

TEST(Classify, GivesTheLargestOfEachRowFirst) {
  const std::vector<float> scores{0.25F, 0.5F, 0.125F, 7, -1, 3};
  std::vector<std::byte> memory;
  const auto classes =
      classify(view(DType::kFp32, {2, 3}, scores), {.count = 2, .batched = true}, memory);
  ASSERT_TRUE(classes) << classes.error().message;
  EXPECT_EQ(classes->dtype, DType::kBytes);
  EXPECT_EQ(classes->shape, Shape({2, 2}));
  EXPECT_EQ(elements_of(classes->bytes), (Texts{"0.5:1", "0.25:0", "7:0", "3:2"}));
}

TEST(Classify, TakesTheWholeTensorWhereThereIsNoBatch) {
  const std::vector<std::int32_t> scores{4, 9, 9, 1};
  std::vector<std::byte> memory;
  const auto classes = classify(view(DType::kInt32, {2, 2}, scores), {.count = 3}, memory);
  ASSERT_TRUE(classes);
  EXPECT_EQ(classes->shape, Shape({3}));
  EXPECT_EQ(elements_of(classes->bytes), (Texts{"9:1", "9:2", "4:0"}));
}

TEST(Classify, AddsTheLabelsThatThereAre) {
  const std::vector<double> scores{1, 2, 3};
  const Texts labels{"cat", ""};
  std::vector<std::byte> memory;
  const auto classes =
      classify(view(DType::kFp64, {3}, scores), {.count = 3, .labels = labels}, memory);
  ASSERT_TRUE(classes);
  EXPECT_EQ(elements_of(classes->bytes), (Texts{"3:2", "2:1", "1:0:cat"}));
}

TEST(Classify, GivesAsManyAsThereAre) {
  const std::vector<std::uint8_t> scores{1, 2};
  std::vector<std::byte> memory;
  const auto classes = classify(view(DType::kUint8, {1, 2}, scores),
                                {.count = ~std::uint64_t{0}, .batched = true}, memory);
  ASSERT_TRUE(classes);
  EXPECT_EQ(classes->shape, Shape({1, 2}));
  const auto none = classify(view(DType::kUint8, {3, 0}, std::vector<std::uint8_t>{}),
                             {.count = 4, .batched = true}, memory);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->shape, Shape({3, 0}));
  EXPECT_TRUE(none->bytes.empty());
}

TEST(Classify, PutsWhatIsNotANumberLast) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> scores{nan, -infinity, nan, infinity};
  std::vector<std::byte> memory;
  const auto classes = classify(view(DType::kFp32, {4}, scores), {.count = 4}, memory);
  ASSERT_TRUE(classes);
  EXPECT_EQ(elements_of(classes->bytes), (Texts{"inf:3", "-inf:1", "nan:0", "nan:2"}));
}

TEST(Classify, ReadsSixteenBitFloats) {
  std::vector<std::byte> memory;
  const std::vector<std::uint16_t> fp16{fp16_from(1.5), fp16_from(-2)};
  EXPECT_EQ(elements_of(classify(view(DType::kFp16, {2}, fp16), {.count = 1}, memory)->bytes),
            Texts{"1.5:0"});
  const std::vector<std::uint16_t> bf16{bf16_from(1.5), bf16_from(2)};
  EXPECT_EQ(elements_of(classify(view(DType::kBf16, {2}, bf16), {.count = 1}, memory)->bytes),
            Texts{"2:1"});
}

TEST(Classify, RefusesWhatIsNoNumberAndWhatIsNoTensor) {
  std::vector<std::byte> memory;
  const std::vector<std::uint8_t> bools{1};
  const auto refused = classify(view(DType::kBool, {1}, bools), {}, memory);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "BOOL cannot be classified, only numbers can");
  EXPECT_EQ(classify(view(DType::kInt16, {1}, bools), {}, memory).error().code,
            ErrorCode::kInternal);
}

}  // namespace
}  // namespace corelane::wire
