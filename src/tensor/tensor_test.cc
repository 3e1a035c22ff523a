#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::tensor {
namespace {

TEST(DType, NamesAndTypesMapBothWays) {
  for (int number = 1; number <= static_cast<int>(DType::kBf16); ++number) {
    const auto type = static_cast<DType>(number);
    EXPECT_EQ(dtype_from_name(name_of(type)), type);
  }
  EXPECT_EQ(dtype_from_name("fp32"), std::nullopt);
  EXPECT_EQ(size_of(DType::kBf16), 2U);
  EXPECT_EQ(size_of(DType::kBytes), 0U);
}

TEST(Shape, RefusesNegativeAndTooManyDimensions) {
  EXPECT_EQ(Shape::from(std::array<std::int64_t, 2>{2, -5}), std::nullopt);
  EXPECT_EQ(Shape::from(std::vector<std::int64_t>(kMaxRank + 1, 1)), std::nullopt);
}

TEST(Shape, CountsItsElementsWithoutWrapping) {
  EXPECT_EQ(Shape({}).elements(), 1);
  EXPECT_EQ(Shape({3, 4}).elements(), 12);
  EXPECT_EQ(Shape({std::int64_t{1} << 40, std::int64_t{1} << 40}).elements(), std::nullopt);
  EXPECT_EQ(Shape({std::int64_t{1} << 40, std::int64_t{1} << 40, 0}).elements(), 0);
}

TEST(Shape, PrintsAsTheProtocolWritesIt) {
  EXPECT_EQ(to_string(Shape({1, 128})), "[1,128]");
  EXPECT_EQ(to_string(Shape({})), "[]");
}

}  // namespace
}  // namespace corelane::tensor
