#include "wire/v2_response.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/view.h"
#include "wire/half.h"
#include "wire/http_status.h"
#include "wire/json_text.h"
#include "wire/testing/request_bytes.h"
#include "wire/v2_infer.h"

namespace corelane::wire {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::TensorView;

template <typename T>
TensorView view(DType dtype, const std::vector<T>& values) {
  return {.dtype = dtype,
          .shape = {static_cast<std::int64_t>(values.size())},
          .bytes = std::as_bytes(std::span(values))};
}

std::string joined(const EncodedResponseView& encoded) {
  std::string all;
  for (const auto& piece : encoded.pieces) {
    all.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  return all;
}

/// The JSON of a response with one output "o".
std::string json_of(const TensorView& tensor) {
  InferResponseWriter writer;
  const ResponseOutputView output{.name = "o", .tensor = tensor};
  const auto encoded = writer.write({.model_name = "m", .outputs = {&output, 1}});
  return encoded ? joined(*encoded) : encoded.error().message;
}

std::string data_of(const TensorView& tensor) {
  const std::string json = json_of(tensor);
  const auto from = json.find("\"data\":");
  if (from == std::string::npos) return json;
  return json.substr(from + 7, json.size() - from - 7 - 3);
}

TEST(InferResponse, PutsBinaryOutputsBehindTheJson) {
  const std::vector<float> numbers = {1, 2};
  const std::vector<std::uint8_t> flags = {1, 0};
  const std::vector<ResponseOutputView> outputs = {
      {.name = "a", .tensor = view(DType::kFp32, numbers), .binary = true},
      {.name = "b", .tensor = view(DType::kBool, flags)},
      {.name = "c", .tensor = {.dtype = DType::kFp32, .shape = {0}, .bytes = {}}, .binary = true},
      {.name = "d", .tensor = view(DType::kUint8, flags), .binary = true}};
  InferResponseWriter writer;
  const auto encoded =
      writer.write({.model_name = "m", .model_version = 3, .id = "i\"d", .outputs = outputs});
  ASSERT_TRUE(encoded);
  const std::string json =
      R"({"model_name":"m","model_version":"3","id":"i\"d","outputs":[)"
      R"({"name":"a","datatype":"FP32","shape":[2],"parameters":{"binary_data_size":8}},)"
      R"({"name":"b","datatype":"BOOL","shape":[2],"data":[true,false]},)"
      R"({"name":"c","datatype":"FP32","shape":[0],"parameters":{"binary_data_size":0}},)"
      R"({"name":"d","datatype":"UINT8","shape":[2],"parameters":{"binary_data_size":2}}]})";
  EXPECT_EQ(encoded->json_length, json.size());
  EXPECT_TRUE(encoded->binary);
  const std::string blobs = std::string("\0\0\x80\x3f\0\0\0\x40", 8) + std::string("\1\0", 2);
  EXPECT_EQ(joined(*encoded), json + blobs);
  EXPECT_EQ(encoded->pieces[1].data(), reinterpret_cast<const std::byte*>(numbers.data()));
}

TEST(InferResponse, IsPlainJsonWhenNoBinaryOutputHasBytes) {
  const ResponseOutputView output{
      .name = "o", .tensor = {.dtype = DType::kFp32, .shape = {0}, .bytes = {}}, .binary = true};
  InferResponseWriter writer;
  const auto encoded = writer.write({.model_name = "m", .outputs = {&output, 1}});
  ASSERT_TRUE(encoded);
  EXPECT_FALSE(encoded->binary);
  EXPECT_EQ(joined(*encoded),
            R"({"model_name":"m","model_version":"1","outputs":[{"name":"o","datatype":"FP32",)"
            R"("shape":[0],"parameters":{"binary_data_size":0}}]})");
}

TEST(InferResponse, WritesEachDatatypeInJson) {
  EXPECT_EQ(data_of(view<std::uint8_t>(DType::kUint8, {0, 255})), "[0,255]");
  EXPECT_EQ(data_of(view<std::int8_t>(DType::kInt8, {-128})), "[-128]");
  EXPECT_EQ(data_of(view<std::uint16_t>(DType::kUint16, {65535})), "[65535]");
  EXPECT_EQ(data_of(view<std::int16_t>(DType::kInt16, {-1})), "[-1]");
  EXPECT_EQ(data_of(view<std::uint32_t>(DType::kUint32, {4294967295U})), "[4294967295]");
  EXPECT_EQ(data_of(view<std::int32_t>(DType::kInt32, {-7})), "[-7]");
  EXPECT_EQ(data_of(view<std::uint64_t>(DType::kUint64, {18446744073709551615U})),
            "[18446744073709551615]");
  EXPECT_EQ(data_of(view<std::int64_t>(DType::kInt64, {INT64_MIN})), "[-9223372036854775808]");
  EXPECT_EQ(data_of(view<float>(DType::kFp32, {0.1F, 1, -0.0F, 1e20F})), "[0.1,1.0,-0.0,1e+20]");
  EXPECT_EQ(data_of(view<double>(DType::kFp64, {0.1, 5e-324})), "[0.1,5e-324]");
  EXPECT_EQ(data_of(view<std::uint16_t>(DType::kFp16, {0x3C00, 0xC100})), "[1.0,-2.5]");
  EXPECT_EQ(data_of(view<std::uint16_t>(DType::kBf16, {0x3F80})), "[1.0]");
  const std::string text("\2\0\0\0a\"\0\0\0\0", 10);
  EXPECT_EQ(
      data_of({.dtype = DType::kBytes, .shape = {2}, .bytes = std::as_bytes(std::span(text))}),
      R"(["a\"",""])");
}

TEST(InferResponse, WritesWhatJsonHasNoNumberForAsStrings) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(data_of(view<float>(DType::kFp32, {std::nanf(""), infinity, -infinity})),
            R"(["NaN","Infinity","-Infinity"])");
  EXPECT_EQ(data_of(view<std::uint16_t>(DType::kFp16, {0x7E00, 0x7C00, 0xFC00})),
            R"(["NaN","Infinity","-Infinity"])");
}

TEST(InferResponse, RefusesStringsThatJsonCannotCarryAndBrokenTensors) {
  const std::string bad("\1\0\0\0\xff", 5);
  EXPECT_EQ(json_of({.dtype = DType::kBytes, .shape = {1}, .bytes = std::as_bytes(std::span(bad))}),
            "output 'o': element 0 is not UTF-8, which JSON cannot carry; ask for it with "
            "\"binary_data\": true");
  EXPECT_EQ(
      json_of(
          {.dtype = DType::kBytes, .shape = {1}, .bytes = std::as_bytes(std::span(bad)).first(4)}),
      "output 'o': element 0 is said to have 1 bytes, but only 0 are left");
  const std::vector<float> two = {1, 2};
  EXPECT_EQ(json_of({.dtype = DType::kFp32, .shape = {3}, .bytes = std::as_bytes(std::span(two))}),
            "output 'o': 8 bytes are not shape [3] of FP32");
}

TEST(InferResponse, ReadsBackAsWhatWasWritten) {
  std::mt19937_64 random(7);
  std::vector<float> numbers;
  while (numbers.size() < 20000) {
    const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isfinite(number)) numbers.push_back(number);
  }
  const std::string data = data_of(view(DType::kFp32, numbers));
  const testing::RequestBytes request(
      R"({"inputs":[{"name":"x","datatype":"FP32","shape":[20000],"data":)" + data + "}]}");
  InferParser parser;
  testing::HeapMemory memory;
  const auto parsed = parser.parse(request.body(), std::nullopt, memory);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(std::memcmp(parsed->inputs[0].data.data(), numbers.data(), 4 * numbers.size()), 0);
}

TEST(Half, RoundsEveryValueBackToItselfAndTiesToEven) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (std::isnan(float_from_fp16(half))) {
      EXPECT_TRUE(std::isnan(float_from_fp16(fp16_from(float_from_fp16(half)))));
    } else {
      EXPECT_EQ(fp16_from(float_from_fp16(half)), half);
    }
    if (std::isnan(float_from_bf16(half))) continue;
    EXPECT_EQ(bf16_from(float_from_bf16(half)), half);
  }
  EXPECT_EQ(fp16_from(1 + 0x1p-11), 0x3C00);            // halfway: to even
  EXPECT_EQ(fp16_from(1 + 3 * 0x1p-11), 0x3C02);        // halfway: to even
  EXPECT_EQ(fp16_from(1 + 0x1p-11 + 0x1p-40), 0x3C01);  // a float on the way would lose this
  EXPECT_EQ(fp16_from(0x1p-25), 0x0000);                // half the smallest subnormal
  EXPECT_EQ(fp16_from(0x1.8p-25), 0x0001);
  EXPECT_EQ(fp16_from(65519.99), 0x7BFF);
  EXPECT_EQ(fp16_from(kFp16Overflow), 0x7C00);
  EXPECT_EQ(fp16_from(-1e300), 0xFC00);
  EXPECT_EQ(bf16_from(kBf16Overflow), 0x7F80);
}

TEST(JsonText, EscapesAndReplaces) {
  const auto quoted = [](std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
  };
  EXPECT_EQ(quoted("a\"\\\n\r\t\x01\x1f"), "\"a\\\"\\\\\\n\\r\\t\\u0001\\u001f\"");
  EXPECT_EQ(quoted("é€😀"), "\"é€😀\"");
  EXPECT_EQ(quoted("a\xff"
                   "b\xC3"),
            "\"a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\"");
  EXPECT_TRUE(is_utf8("é€😀"));
  for (const char* bad : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

TEST(Metadata, HasTheProtocolsMembers) {
  EXPECT_EQ(write_server_metadata({"corelane", "0.1.0", {"binary_tensor_data"}}),
            R"({"name":"corelane","version":"0.1.0","extensions":["binary_tensor_data"]})");
  EXPECT_EQ(write_model_metadata({.name = "m",
                                  .versions = {"1", "2"},
                                  .platform = "probe",
                                  .inputs = {{"x", DType::kFp32, {-1, 4}}},
                                  .outputs = {{"y", DType::kBytes, {}}}}),
            R"({"name":"m","versions":["1","2"],"platform":"probe",)"
            R"("inputs":[{"name":"x","datatype":"FP32","shape":[-1,4]}],)"
            R"("outputs":[{"name":"y","datatype":"BYTES","shape":[]}]})");
  EXPECT_EQ(error_body("a \"b\""), R"({"error":"a \"b\""})");
}

TEST(HttpStatus, IsNever500ForAClientsFault) {
  EXPECT_EQ(http_status(ErrorCode::kInvalidArgument), 400);
  EXPECT_EQ(http_status(ErrorCode::kNotFound), 404);
  EXPECT_EQ(http_status(ErrorCode::kUnavailable), 503);
  EXPECT_EQ(http_status(ErrorCode::kUnsupported), 501);
  EXPECT_EQ(http_status(ErrorCode::kInternal), 500);
}

}  // namespace
}  // namespace corelane::wire
