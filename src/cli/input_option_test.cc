#include "cli/input_option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tensor/dtype.h"

namespace corelane::cli {
namespace {

using tensor::DType;
using testing::HasSubstr;

TEST(ParseInputOption, ReadsSizesRangesAndNames) {
  const auto input = parse_input_option("input_ids:int64[batch=?, 1..512,n=2..3,7]");
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_EQ(*input, (InputOption{.name = "input_ids",
                                 .type = DType::kInt64,
                                 .shape = {{.name = "batch", .min = 1, .max = 0},
                                           {.name = "", .min = 1, .max = 512},
                                           {.name = "n", .min = 2, .max = 3},
                                           {.name = "", .min = 7, .max = 7}}}));
}

TEST(ParseInputOption, TakesANameWithColonsAndAScalar) {
  const auto input = parse_input_option("serving:0:FP16[]");
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_EQ(*input, (InputOption{.name = "serving:0", .type = DType::kFp16, .shape = {}}));
}

TEST(ParseInputOption, KnowsTypesByTheNamesThatUsersHave) {
  for (const auto& [name, type] :
       std::vector<std::pair<std::string, DType>>{{"float32", DType::kFp32},
                                                  {"fp32", DType::kFp32},
                                                  {"long", DType::kInt64},
                                                  {"half", DType::kFp16},
                                                  {"bool", DType::kBool},
                                                  {"uint8", DType::kUint8},
                                                  {"BF16", DType::kBf16},
                                                  {"bfloat16", DType::kBf16}}) {
    const auto input = parse_input_option("x:" + name + "[1]");
    ASSERT_TRUE(input) << input.error().message;
    EXPECT_EQ(input->type, type) << name;
  }
}

TEST(ParseInputOption, RefusesWhatIsNotInTheFormAndShowsIt) {
  for (const std::string text :
       {"x", "x:fp32", "x[1]", ":fp32[1]", "x:fp33[1]", "x:bytes[1]", "x:fp32[1", "x:fp32[a]",
        "x:fp32[0]", "x:fp32[-1]", "x:fp32[3..2]", "x:fp32[1..]", "x:fp32[=2]", "x:fp32[1,]",
        "x:fp32[,1]", "x:fp32[1,1,1,1,1,1,1,1,1]", "x:fp32[99999999999999999999]", ""}) {
    const auto input = parse_input_option(text);
    ASSERT_FALSE(input) << text;
    EXPECT_THAT(input.error().message, HasSubstr("--input '" + text + "'"));
    EXPECT_THAT(input.error().message, HasSubstr("name:dtype[dims]"));
  }
}

}  // namespace
}  // namespace corelane::cli
