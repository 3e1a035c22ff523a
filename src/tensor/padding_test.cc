#include "tensor/padding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::tensor {
namespace {

using Elements = std::vector<std::int32_t>;

Elements pasted(const Shape& whole, const Elements& part, const Shape& part_shape,
                std::int64_t row) {
  Elements result(static_cast<std::size_t>(*whole.elements()), -1);
  paste(std::as_writable_bytes(std::span(result)), whole, std::as_bytes(std::span(part)),
        part_shape, row, DType::kInt32);
  return result;
}

TEST(Paste, PutsAPartAtItsRowAndLeavesTheRest) {
  EXPECT_EQ(pasted({3, 4}, {1, 2}, {1, 2}, 1),
            (Elements{-1, -1, -1, -1, 1, 2, -1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(pasted({2, 2}, {1, 2}, {1, 2}, 1), (Elements{-1, -1, 1, 2}));
  EXPECT_EQ(pasted({}, {7}, {}, 0), (Elements{7}));
  EXPECT_EQ(pasted({3}, {7, 8}, {2}, 1), (Elements{-1, 7, 8}));
  EXPECT_EQ(pasted({2, 2}, {}, {0, 2}, 2), (Elements{-1, -1, -1, -1}));
  EXPECT_EQ(pasted({2, 2}, {}, {2, 0}, 0), (Elements{-1, -1, -1, -1}));
  EXPECT_EQ(pasted({1, 2, 2}, {5, 6}, {1, 2, 1}, 0), (Elements{5, -1, 6, -1}));
}

/// Element by element, in the most obvious way.
Elements cut_slowly(const Elements& whole, const Shape& shape, const Shape& part,
                    std::int64_t row) {
  Elements result;
  for (std::int64_t number = 0; number < *part.elements(); ++number) {
    std::int64_t rest = number;
    std::int64_t place = 0;
    std::int64_t stride = 1;
    for (std::size_t axis = part.rank(); axis-- > 0;) {
      place += (rest % part[axis] + (axis == 0 ? row : 0)) * stride;
      rest /= part[axis];
      stride *= shape[axis];
    }
    result.push_back(whole[static_cast<std::size_t>(place)]);
  }
  return result;
}

TEST(Cut, AgreesWithAnElementwiseCopyAndUndoesPasteForShapesOfAllKinds) {
  std::mt19937 random(3);
  int contiguous = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::int64_t> dims(1 + random() % 5);
    std::vector<std::int64_t> part_dims;
    for (std::int64_t& size : dims) {
      size = 1 + random() % 5;
      part_dims.push_back(random() % 3 == 0 ? size : random() % (size + 1));
    }
    const Shape shape = *Shape::from(dims);
    const Shape part_shape = *Shape::from(part_dims);
    const std::int64_t row = random() % (shape[0] - part_shape[0] + 1);
    ASSERT_TRUE(part_fits(shape, part_shape, row));
    Elements whole(static_cast<std::size_t>(*shape.elements()));
    std::iota(whole.begin(), whole.end(), 0);
    Elements part(static_cast<std::size_t>(*part_shape.elements()));
    cut(std::as_writable_bytes(std::span(part)), part_shape, std::as_bytes(std::span(whole)), shape,
        row, DType::kInt32);
    ASSERT_EQ(part, cut_slowly(whole, shape, part_shape, row))
        << to_string(part_shape) << " of " << to_string(shape) << " at " << row;

    const Elements back = pasted(shape, part, part_shape, row);
    for (const std::int32_t element : part) {
      ASSERT_EQ(back[static_cast<std::size_t>(element)], element);
    }
    ASSERT_EQ(std::ranges::count(back, -1),
              static_cast<std::ptrdiff_t>(whole.size() - part.size()));
    if (is_contiguous(shape, part_shape) && !part.empty()) {
      ++contiguous;
      ASSERT_EQ(part.back() - part.front() + 1, static_cast<std::int32_t>(part.size()));
    }
  }
  EXPECT_GT(contiguous, 100);
}

TEST(PartFits, RefusesWhatReachesOut) {
  EXPECT_TRUE(part_fits({3, 4}, {2, 4}, 1));
  EXPECT_FALSE(part_fits({3, 4}, {2, 4}, 2));
  EXPECT_FALSE(part_fits({3, 4}, {2, 5}, 0));
  EXPECT_FALSE(part_fits({3, 4}, {3}, 0));
  EXPECT_FALSE(part_fits({3, 4}, {1, 1}, -1));
  EXPECT_FALSE(part_fits({3, 4}, {1, 1}, std::numeric_limits<std::int64_t>::max()));
}

template <typename T>
T filled(DType type, double value) {
  std::vector<T> elements(3);
  fill(std::as_writable_bytes(std::span(elements)), type, value);
  const auto bytes = std::as_bytes(std::span(elements));
  EXPECT_TRUE(std::ranges::equal(bytes.first(sizeof(T)), bytes.last(sizeof(T))));
  return elements[1];
}

TEST(Fill, ConvertsTheValueToEachType) {
  EXPECT_EQ(filled<std::uint8_t>(DType::kBool, 0.5), 1);
  EXPECT_EQ(filled<std::uint8_t>(DType::kUint8, 300), 255);
  EXPECT_EQ(filled<std::int8_t>(DType::kInt8, -300), -128);
  EXPECT_EQ(filled<std::int64_t>(DType::kInt64, 2.5), 2);
  EXPECT_EQ(filled<std::int64_t>(DType::kInt64, 1e300), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(filled<std::uint64_t>(DType::kUint64, 1e300),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(filled<std::uint64_t>(DType::kUint64, -1), 0U);
  EXPECT_EQ(filled<std::int32_t>(DType::kInt32, std::nan("")), 0);
  EXPECT_EQ(filled<float>(DType::kFp32, 0.25), 0.25F);
  EXPECT_EQ(filled<double>(DType::kFp64, -1e300), -1e300);
}

TEST(Fill, RoundsToSixteenBitFloats) {
  struct Case {
    double value;
    std::uint16_t fp16;
    std::uint16_t bf16;
  };
  for (const Case& c :
       {Case{0, 0, 0}, Case{-0.0, 0x8000, 0x8000}, Case{1, 0x3C00, 0x3F80},
        Case{-2, 0xC000, 0xC000}, Case{65504, 0x7BFF, 0x4780}, Case{65520, 0x7C00, 0x4780},
        Case{5.960464477539063e-08, 1, 0x3380}, Case{6.097555160522461e-05, 0x03FF, 0x3880},
        Case{1 + 1.0 / 2048, 0x3C00, 0x3F80}, Case{1 + 3.0 / 2048, 0x3C02, 0x3F80},
        Case{std::numeric_limits<double>::infinity(), 0x7C00, 0x7F80},
        Case{-1e300, 0xFC00, 0xFF80}}) {
    EXPECT_EQ(filled<std::uint16_t>(DType::kFp16, c.value), c.fp16) << c.value;
    EXPECT_EQ(filled<std::uint16_t>(DType::kBf16, c.value), c.bf16) << c.value;
  }
  EXPECT_EQ(filled<std::uint16_t>(DType::kFp16, std::nan("")) & 0x7FFF, 0x7E00);
}

TEST(BytesElementsEnd, FollowsTheLengthsAndRefusesWhatIsCutOff) {
  const std::vector<std::byte> two{std::byte{1}, {}, {}, {}, std::byte{'a'}, {}, {}, {}, {}};
  EXPECT_EQ(bytes_elements_end(two, 0), 0U);
  EXPECT_EQ(bytes_elements_end(two, 1), 5U);
  EXPECT_EQ(bytes_elements_end(two, 2), 9U);
  EXPECT_EQ(bytes_elements_end(two, 3), std::nullopt);
  EXPECT_EQ(bytes_elements_end(std::span(two).first(4), 1), std::nullopt);
  EXPECT_EQ(bytes_elements_end(std::span(two).first(3), 1), std::nullopt);
}

}  // namespace
}  // namespace corelane::tensor
