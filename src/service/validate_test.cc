#include "service/validate.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "model/manifest.h"
#include "service/signature.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::service {
namespace {

using tensor::DType;
using tensor::Shape;

model::Manifest qa() {
  model::Manifest manifest;
  manifest.name = "qa";
  manifest.version = 3;
  manifest.inputs = {
      {.name = "ids", .type = DType::kInt64, .shape = {"batch", "tokens"}},
      {.name = "mask", .type = DType::kInt64, .shape = {"batch", "tokens"}},
      {.name = "scale", .type = DType::kFp32, .shape = {"batch", std::int64_t{2}}},
  };
  manifest.outputs = {{.name = "start", .type = DType::kFp32, .shape = {"batch", "tokens"}},
                      {.name = "end", .type = DType::kFp32, .shape = {"batch", "tokens"}}};
  manifest.dimensions["batch"] = {.min = 1, .max = 8, .buckets = {}};
  manifest.dimensions["tokens"] = {.min = 1, .max = 512, .buckets = {64, 512}};
  return manifest;
}

class ValidateTest : public testing::Test {
 protected:
  void add(const std::string& name, DType type, const Shape& shape, std::size_t bytes) {
    add(name, type, shape, std::string(bytes, '\0'));
  }
  void add(const std::string& name, DType type, const Shape& shape, const std::string& bytes) {
    auto block = arena_->allocate(bytes.size() + 1);
    std::memcpy(block->bytes().data(), bytes.data(), bytes.size());
    request_.inputs.push_back(
        {.name = name,
         .tensor = {
             .dtype = type, .shape = shape, .offset = block->offset(), .bytes = bytes.size()}});
    request_.storage.push_back(*std::move(block));
  }
  void add_good(std::int64_t rows = 2, std::int64_t tokens = 5) {
    const auto cells = static_cast<std::size_t>(rows * tokens);
    add("mask", DType::kInt64, {rows, tokens}, cells * 8);
    add("scale", DType::kFp32, {rows, 2}, static_cast<std::size_t>(rows) * 8);
    add("ids", DType::kInt64, {rows, tokens}, cells * 8);
  }
  std::string error(const model::Manifest& manifest = qa()) {
    const auto result = validate(request_, *make_signature(manifest));
    if (result) return "accepted";
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    return result.error().message;
  }

  std::unique_ptr<lane::Arena> arena_ = *lane::Arena::create(Bytes{1U << 20});
  Request request_{.model = "qa"};
};

TEST_F(ValidateTest, PutsInputsIntoTheManifestsOrderAndReadsRowsAndSizes) {
  add_good(2, 5);
  const auto valid = validate(request_, *make_signature(qa()));
  ASSERT_TRUE(valid);
  ASSERT_EQ(valid->inputs.size(), 3U);
  EXPECT_EQ(valid->inputs[0].offset, request_.inputs[2].tensor.offset);
  EXPECT_EQ(valid->inputs[2].dtype, DType::kFp32);
  EXPECT_EQ(valid->rows, 2);
  EXPECT_EQ(valid->sizes[0], 1);  // the batch does not count as a size
  EXPECT_EQ(valid->sizes[1], 5);
  EXPECT_EQ(valid->outputs, (std::vector<std::uint32_t>{0, 1}));
}

TEST_F(ValidateTest, AnswersOnlyTheOutputsAskedForInThatOrder) {
  add_good();
  request_.outputs = {"end"};
  EXPECT_EQ(validate(request_, *make_signature(qa()))->outputs, (std::vector<std::uint32_t>{1}));
  request_.outputs = {"end", "middle"};
  EXPECT_EQ(error(), "output 'middle' is none of qa@3, which gives start, end");
  request_.outputs = {"end", "end"};
  EXPECT_EQ(error(), "output 'end' is asked for twice");
}

TEST_F(ValidateTest, NamesTheLimitThatADimensionExceeds) {
  add("ids", DType::kInt64, {1, 600}, 4800);
  EXPECT_EQ(error(), "input 'ids': shape [1,600] exceeds tokens <= 512 of qa@3");
}

TEST_F(ValidateTest, NamesTheLargestBatch) {
  add_good(9, 2);
  EXPECT_EQ(error(), "input 'ids': shape [9,2] exceeds batch <= 8 of qa@3");
}

TEST_F(ValidateTest, NamesTheLowestSize) {
  add("ids", DType::kInt64, {0, 4}, 0U);
  EXPECT_EQ(error(), "input 'ids': shape [0,4] is below batch >= 1 of qa@3");
}

TEST_F(ValidateTest, NamesTheInputThatDisagreesOnASharedDimension) {
  add("ids", DType::kInt64, {1, 4}, 32);
  add("mask", DType::kInt64, {1, 5}, 40);
  EXPECT_EQ(error(), "input 'mask': shape [1,5] has tokens = 5 where input 'ids' has 4");
}

TEST_F(ValidateTest, NamesWrongDatatypeRankAndFixedSize) {
  add("ids", DType::kInt32, {1, 4}, 16);
  EXPECT_EQ(error(), "input 'ids': datatype INT32 where qa@3 takes INT64");
  request_.inputs.clear();
  add("ids", DType::kInt64, {4}, 32);
  EXPECT_EQ(error(), "input 'ids': shape [4] has rank 1 where qa@3 takes [batch,tokens]");
  request_.inputs.clear();
  add("ids", DType::kInt64, {1, 4}, 32);
  add("mask", DType::kInt64, {1, 4}, 32);
  add("scale", DType::kFp32, {1, 3}, 12);
  EXPECT_EQ(error(), "input 'scale': shape [1,3] where qa@3 takes [batch,2]");
}

TEST_F(ValidateTest, NamesMissingUnknownAndDoubleInputs) {
  add("ids", DType::kInt64, {1, 4}, 32);
  EXPECT_EQ(error(), "input 'mask' is missing; qa@3 takes ids, mask, scale");
  request_.inputs.clear();
  add_good();
  add("extra", DType::kInt64, {1}, 8);
  EXPECT_EQ(error(), "input 'extra' is none of qa@3, which takes ids, mask, scale");
  request_.inputs.back().name = "ids";
  EXPECT_EQ(error(), "input 'ids' is given twice");
}

TEST_F(ValidateTest, ComparesTheBytesWithShapeAndDatatype) {
  add("ids", DType::kInt64, {2, 4}, 63);
  EXPECT_EQ(error(), "input 'ids': 63 bytes where shape [2,4] of INT64 takes 64");
}

model::Manifest texts() {
  model::Manifest manifest;
  manifest.name = "texts";
  manifest.inputs = {{.name = "t", .type = DType::kBytes, .shape = {std::int64_t{-1}}}};
  manifest.outputs = manifest.inputs;
  return manifest;
}

TEST_F(ValidateTest, WalksTheElementsOfBytes) {
  const std::string hi("\2\0\0\0hi", 6);
  const std::string empty("\0\0\0\0", 4);
  const std::vector<std::pair<std::string, std::string>> cases{
      {hi + empty, "accepted"},
      {hi, "input 't': its 6 bytes end within the length of element 1 of 2"},
      {hi + std::string("\3\0\0\0no", 6), "input 't': element 1 says 3 bytes where 2 are left"},
      {hi + empty + "x", "input 't': 1 bytes are left over after 2 elements"},
      {hi + std::string("\xff\xff\xff\xff", 4),
       "input 't': element 1 says 4294967295 bytes where 0 are left"}};
  for (const auto& [bytes, expected] : cases) {
    request_.inputs.clear();
    add("t", DType::kBytes, {2}, bytes);
    EXPECT_EQ(error(texts()), expected);
  }
}

TEST_F(ValidateTest, TakesAnEmptyTensorAsAValue) {
  add("t", DType::kBytes, {0}, 0U);
  EXPECT_EQ(error(texts()), "accepted");
}

TEST_F(ValidateTest, DoesNotWrapAroundWhenSizesAreHuge) {
  model::Manifest manifest = texts();
  manifest.inputs[0].type = DType::kInt64;
  add("t", DType::kInt64, {std::int64_t{1} << 61}, 0U);
  EXPECT_EQ(error(manifest),
            "input 't': 0 bytes where shape [2305843009213693952] of INT64 takes more than 64 bits "
            "can say");
  request_.inputs.clear();
  manifest.inputs[0].shape = {std::int64_t{-1}, std::int64_t{-1}};
  add("t", DType::kInt64, {std::int64_t{1} << 40, std::int64_t{1} << 40}, 0U);
  EXPECT_EQ(error(manifest),
            "input 't': shape [1099511627776,1099511627776] has more elements than can be");
}

TEST(MakeSignature, LetsOnlyDimensionsWithBucketsBePadded) {
  const Signature signature = *make_signature(qa());
  EXPECT_EQ(signature.limits.max_rows, 8);
  EXPECT_EQ(signature.limits.paddable, 0b10U);
  model::Manifest exact = qa();
  exact.dimensions["tokens"].buckets.clear();
  EXPECT_EQ(make_signature(exact)->limits.paddable, 0U);
}

TEST(MakeSignature, RunsOneRequestAtATimeWhereAnAxisOfAnySizeHasNoName) {
  model::Manifest manifest = qa();
  manifest.inputs[2].shape[1] = std::int64_t{-1};
  EXPECT_EQ(make_signature(manifest)->limits.max_rows, 0);
  EXPECT_EQ(make_signature(texts())->limits.max_rows, 0);
}

TEST(MakeSignature, RefusesMoreNamedDimensionsThanItCanKeepApart) {
  model::Manifest manifest = qa();
  for (char name = 'a'; name < 'a' + 9; ++name) manifest.dimensions[std::string(1, name)] = {};
  EXPECT_EQ(make_signature(manifest).error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace corelane::service
