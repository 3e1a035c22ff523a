#include "wire/v2_infer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "wire/testing/request_bytes.h"

namespace corelane::wire {
namespace {

using tensor::DType;
using tensor::Shape;
using testing::HeapMemory;
using testing::RequestBytes;

template <typename T>
std::vector<T> values(std::span<const std::byte> bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

class Parse : public ::testing::Test {
 protected:
  Result<InferRequestView> parse(std::string_view json, std::string_view binary = {}) {
    bytes_ = RequestBytes(json, binary);
    return parser_.parse(bytes_.body(), json.size(), memory_);
  }
  /// The request's fault, "" when there is none.
  std::string fault(std::string_view json, std::string_view binary = {}) {
    const auto request = parse(json, binary);
    return request ? "" : request.error().message;
  }
  /// The data of one JSON input, or the fault.
  template <typename T>
  std::vector<T> decode(std::string_view datatype, std::string_view shape, std::string_view data) {
    const auto request = parse(one_input(datatype, shape, data));
    EXPECT_TRUE(request) << request.error().message;
    return request ? values<T>(request->inputs[0].data) : std::vector<T>();
  }
  std::string decode_fault(std::string_view datatype, std::string_view shape,
                           std::string_view data) {
    return fault(one_input(datatype, shape, data));
  }
  static std::string one_input(std::string_view datatype, std::string_view shape,
                               std::string_view data) {
    return R"({"inputs":[{"name":"x","datatype":")" + std::string(datatype) + R"(","shape":)" +
           std::string(shape) + R"(,"data":)" + std::string(data) + "}]}";
  }

  InferParser parser_;
  HeapMemory memory_;
  RequestBytes bytes_;
};

TEST_F(Parse, ReadsABinaryRequestAsThePythonClientSendsIt) {
  const std::string blob(64, '\x01');
  const auto request =
      parse(R"({"id":"42","parameters":{"binary_data_output":true,"priority":1,"timeout":1500},)"
            R"("inputs":[{"name":"INPUT0","shape":[1,16],"datatype":"FP32",)"
            R"("parameters":{"binary_data_size":64}}]})",
            blob);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->id, "42");
  EXPECT_TRUE(request->binary_by_default);
  EXPECT_EQ(request->priority, 1U);
  EXPECT_EQ(request->timeout, std::chrono::microseconds(1500));
  ASSERT_EQ(request->inputs.size(), 1U);
  EXPECT_EQ(request->inputs[0].name, "INPUT0");
  EXPECT_EQ(request->inputs[0].dtype, DType::kFp32);
  EXPECT_EQ(request->inputs[0].shape, Shape({1, 16}));
  EXPECT_EQ(request->inputs[0].source, DataSource::kBinary);
  EXPECT_EQ(request->inputs[0].data.size(), 64U);
  EXPECT_EQ(request->inputs[0].data.data() + 64, bytes_.body().data() + bytes_.body().size());
  EXPECT_TRUE(request->outputs.empty());
}

TEST_F(Parse, TakesBlobsInTheOrderOfTheBinaryInputs) {
  const auto request = parse(
      R"({"inputs":[{"name":"a","shape":[2],"datatype":"UINT8","parameters":{"binary_data_size":2}},)"
      R"({"name":"b","shape":[1],"datatype":"UINT8","data":[9]},)"
      R"({"name":"c","shape":[0],"datatype":"FP32","parameters":{"binary_data_size":0}},)"
      R"({"name":"d","shape":[3],"datatype":"INT8","parameters":{"binary_data_size":3}}],)"
      R"("outputs":[{"name":"o","parameters":{"binary_data":true}},{"name":"p"}]})",
      "\x01\x02\x03\x04\x05");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(values<std::uint8_t>(request->inputs[0].data), (std::vector<std::uint8_t>{1, 2}));
  EXPECT_EQ(values<std::uint8_t>(request->inputs[1].data), (std::vector<std::uint8_t>{9}));
  EXPECT_TRUE(request->inputs[2].data.empty());
  EXPECT_EQ(values<std::int8_t>(request->inputs[3].data), (std::vector<std::int8_t>{3, 4, 5}));
  ASSERT_EQ(request->outputs.size(), 2U);
  EXPECT_TRUE(request->outputs[0].binary);
  EXPECT_FALSE(request->outputs[1].binary);
}

TEST_F(Parse, GivesAnOutputsOwnWishTheLastWord) {
  const auto request =
      parse(R"({"outputs":[{"name":"o","parameters":{"binary_data":false}},{"name":"p"}],)"
            R"("parameters":{"binary_data_output":true},"inputs":[]})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_FALSE(request->outputs[0].binary);
  EXPECT_TRUE(request->outputs[1].binary);
}

TEST_F(Parse, ReadsHowManyClassesAnOutputIsWantedAs) {
  const auto request = parse(
      R"({"inputs":[],"outputs":[{"name":"o","parameters":{"classification":3}},{"name":"p"}]})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->outputs[0].classes, 3U);
  EXPECT_EQ(request->outputs[1].classes, 0U);
  for (const char* wrong : {"0", "-1", "1.5", "\"3\"", "true", "18446744073709551616"}) {
    EXPECT_EQ(fault(R"({"inputs":[],"outputs":[{"name":"o","parameters":{"classification":)" +
                    std::string(wrong) + "}}]}"),
              "output 'o': classification is " + std::string(wrong) +
                  ", but must be a whole number from 1");
  }
}

TEST_F(Parse, ReadsMembersInAnyOrder) {
  const auto request = parse(
      R"({"inputs":[{"data":[[1.5,2]],"parameters":{},"shape":[1,2],"datatype":"FP32","name":"x"}]})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(values<float>(request->inputs[0].data), (std::vector<float>{1.5F, 2}));
}

TEST_F(Parse, UnescapesNames) {
  const auto request = parse(
      R"({"\u0069d":"a\"\u00e9","inputs":[{"name":"\u0041","datatype":"BOOL","shape":[1],"data":[true]}]})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->id, "a\"\xC3\xA9");
  EXPECT_EQ(request->inputs[0].name, "A");
}

TEST_F(Parse, DecodesEachDatatypeUpToItsLimits) {
  EXPECT_EQ(decode<std::uint8_t>("BOOL", "[2]", "[true,false]"), (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(decode<std::uint8_t>("UINT8", "[2]", "[0,255]"), (std::vector<std::uint8_t>{0, 255}));
  EXPECT_EQ(decode<std::uint16_t>("UINT16", "[1]", "[65535]"), (std::vector<std::uint16_t>{65535}));
  EXPECT_EQ(decode<std::uint32_t>("UINT32", "[1]", "[4294967295]"),
            (std::vector<std::uint32_t>{4294967295U}));
  EXPECT_EQ(decode<std::uint64_t>("UINT64", "[1]", "[18446744073709551615]"),
            (std::vector<std::uint64_t>{18446744073709551615U}));
  EXPECT_EQ(decode<std::int8_t>("INT8", "[2]", "[-128,127]"),
            (std::vector<std::int8_t>{-128, 127}));
  EXPECT_EQ(decode<std::int16_t>("INT16", "[1]", "[-32768]"), (std::vector<std::int16_t>{-32768}));
  EXPECT_EQ(decode<std::int32_t>("INT32", "[1]", "[-2147483648]"),
            (std::vector<std::int32_t>{INT32_MIN}));
  EXPECT_EQ(decode<std::int64_t>("INT64", "[2]", "[-9223372036854775808,9223372036854775807]"),
            (std::vector<std::int64_t>{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(decode<float>("FP32", "[3]", "[3.4028235e38,-0.0,1]"),
            (std::vector<float>{3.4028235e38F, -0.0F, 1.0F}));
  EXPECT_EQ(decode<double>("FP64", "[1]", "[1.7976931348623157e308]"),
            (std::vector<double>{1.7976931348623157e308}));
  EXPECT_EQ(decode<std::uint16_t>("FP16", "[3]", "[1,65504,-2.5]"),
            (std::vector<std::uint16_t>{0x3C00, 0x7BFF, 0xC100}));
  EXPECT_EQ(decode<std::uint16_t>("BF16", "[2]", "[1,3.3895313892515355e38]"),
            (std::vector<std::uint16_t>{0x3F80, 0x7F7F}));
}

TEST_F(Parse, DecodesStringsWithTheirLengths) {
  const auto bytes = decode<char>("BYTES", "[3]", R"(["ab","","\u0000\n"])");
  EXPECT_EQ(std::string(bytes.data(), bytes.size()),
            std::string("\2\0\0\0ab\0\0\0\0\2\0\0\0\0\n", 16));
}

TEST_F(Parse, TakesNestedAndFlatAndEmptyData) {
  const std::vector<std::int32_t> six = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(decode<std::int32_t>("INT32", "[2,3]", "[1,2,3,4,5,6]"), six);
  EXPECT_EQ(decode<std::int32_t>("INT32", "[2,3]", "[[1,2,3],[4,5,6]]"), six);
  EXPECT_EQ(decode<std::int32_t>("INT32", "[6]", "[[[1],[2]],[[3],[4]],[[5],[6]]]"), six);
  EXPECT_EQ(decode<std::int32_t>("INT32", "[]", "[7]"), (std::vector<std::int32_t>{7}));
  EXPECT_TRUE(decode<std::int32_t>("INT32", "[0]", "[]").empty());
  EXPECT_TRUE(decode<std::int32_t>("INT32", "[2,0]", "[[],[]]").empty());
}

TEST_F(Parse, RefusesValuesThatADatatypeDoesNotHold) {
  struct Case {
    const char* datatype;
    const char* data;
    const char* fault;
  };
  const Case cases[] = {
      {"UINT8", "[256]", "data element 0 is 256, but UINT8 takes a whole number from 0 to 255"},
      {"UINT8", "[-1]", "data element 0 is -1, but UINT8 takes a whole number from 0 to 255"},
      {"INT8", "[1.5]", "data element 0 is 1.5, but INT8 takes a whole number from -128 to 127"},
      {"INT8", "[1.0]", "data element 0 is 1.0, but INT8 takes a whole number from -128 to 127"},
      {"INT64", "[9223372036854775808]",
       "data element 0 is 9223372036854775808, but INT64 takes a whole number from "
       "-9223372036854775808 to 9223372036854775807"},
      {"BOOL", "[1]", "data element 0 is 1, but BOOL takes true or false"},
      {"BYTES", "[1]", "data element 0 is 1, but BYTES takes a string"},
      {"FP32", "[\"1\"]",
       "data element 0 is \"1\", but FP32 takes a number up to 3.40282347e38; NaN and infinities "
       "can only be sent as binary data"},
      {"FP32", "[1e39]",
       "data element 0 is 1e39, but FP32 takes a number up to 3.40282347e38; NaN and infinities "
       "can only be sent as binary data"},
      {"FP16", "[65520]",
       "data element 0 is 65520, but FP16 takes a number up to 65504; NaN and infinities can only "
       "be sent as binary data"},
      {"BF16", "[3.4e38]",
       "data element 0 is 3.4e38, but BF16 takes a number up to 3.38953139e38; NaN and infinities "
       "can only be sent as binary data"},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(decode_fault(each.datatype, "[1]", each.data),
              std::string("input 'x': ") + each.fault);
  }
  for (const char* token : {"NaN", "Infinity", "-Infinity", "nan", "inf", "null", "1e999", "01",
                            "+1", "1.", ".5", "0x10", "tru", "{}", "{\"a\":1}"}) {
    EXPECT_NE(decode_fault("FP32", "[1]", std::string("[") + token + "]"), "") << token;
    EXPECT_NE(decode_fault("FP64", "[2]", std::string("[1,") + token + "]"), "") << token;
  }
}

TEST_F(Parse, RefusesCountsThatDoNotFitTheShape) {
  EXPECT_EQ(decode_fault("UINT8", "[2]", "[1,2,3]"),
            "input 'x': data has more than the 2 elements of shape [2]");
  EXPECT_EQ(decode_fault("UINT8", "[3]", "[[1],[2]      ]"),
            "input 'x': data has 2 elements, but shape [3] has 3");
  EXPECT_EQ(decode_fault("UINT8", "[0]", "[1]"),
            "input 'x': data has more than the 0 elements of shape [0]");
  EXPECT_EQ(decode_fault("BYTES", "[2]", R"(["a"   ])"),
            "input 'x': data has 1 elements, but shape [2] has 2");
  // Refused before anything is allocated.
  EXPECT_EQ(decode_fault("FP64", "[4611686018427387904]", "[1]"),
            "input 'x': data has fewer elements than shape [4611686018427387904] has");
  EXPECT_EQ(decode_fault("FP64", "[4294967296,4294967296]", "[1]"),
            "input 'x': data has fewer elements than shape [4294967296,4294967296] has");
  EXPECT_EQ(memory_.allocated(), 2U + 3U);
}

TEST_F(Parse, LimitsHowDeepDataIsNested) {
  const std::string open(40, '[');
  const std::string close(40, ']');
  EXPECT_EQ(decode_fault("UINT8", "[1]", open + "1" + close),
            "input 'x': data is nested deeper than 32 arrays");
  const std::string far(200000, '[');
  EXPECT_NE(decode_fault("UINT8", "[1]", far), "");
}

TEST_F(Parse, RefusesBinaryPartsThatDoNotFit) {
  const std::string json =
      R"({"inputs":[{"name":"x","shape":[2],"datatype":"FP32","parameters":{"binary_data_size":8}}]})";
  EXPECT_EQ(fault(json, "1234"),
            "input 'x': binary_data_size is 8, but only 4 bytes are left in the body: 4 more are "
            "expected");
  EXPECT_EQ(fault(json, "1234567890"),
            "request: 2 bytes are left in the body after the last input");
  const auto sized = [](const std::string& datatype, const std::string& shape,
                        const std::string& size) {
    return R"({"inputs":[{"name":"x","shape":)" + shape + R"(,"datatype":")" + datatype +
           R"(","parameters":{"binary_data_size":)" + size + "}}]}";
  };
  EXPECT_EQ(fault(sized("FP32", "[2]", "7"), "1234567"),
            "input 'x': binary_data_size is 7, but shape [2] of FP32 has 8 bytes");
  EXPECT_EQ(fault(sized("FP64", "[2305843009213693952]", "0")),
            "input 'x': shape [2305843009213693952] has too many elements");
  EXPECT_EQ(fault(sized("UINT8", "[9223372036854775807,2]", "0")),
            "input 'x': shape [9223372036854775807,2] has too many elements");
  EXPECT_EQ(fault(sized("UINT8", "[1]", "-1")),
            "input 'x': binary_data_size is -1, but must be a whole number from 0");
  EXPECT_EQ(
      fault(sized("UINT8", "[1]", "18446744073709551616")),
      "input 'x': binary_data_size is 18446744073709551616, but must be a whole number from 0");
  EXPECT_EQ(fault(sized("BYTES", "[2]", "6"), std::string("\2\0\0\0ab", 6)),
            "input 'x': it has 1 elements, but its shape has 2");
  EXPECT_EQ(fault(sized("BYTES", "[1]", "6"), std::string("\3\0\0\0ab", 6)),
            "input 'x': element 0 is said to have 3 bytes, but only 2 are left");
  EXPECT_EQ(fault(sized("BYTES", "[1]", "9"), std::string("\2\0\0\0ab123", 9)),
            "input 'x': 3 bytes are left after its 1 elements");
  EXPECT_EQ(fault(sized("BYTES", "[1]", "3"), "abc"),
            "input 'x': element 0 has no whole 4-byte length");
}

TEST_F(Parse, NamesWhatIsWrongWithARequest) {
  struct Case {
    const char* json;
    const char* fault;
  };
  const std::string tail = R"("name":"x","datatype":"UINT8","shape":[1],"data":[1]})";
  const Case cases[] = {
      {"[]", "the request must be a JSON object"},
      {"{}", "request: member 'inputs' is missing"},
      {R"({"inputs":{}})", "request: inputs is {, but must be an array"},
      {R"({"inputs":[1]})", "input #0: it is 1, but must be an object"},
      {R"({"inputs":[],"model":"m"})", "request: member 'model' is not known"},
      {R"({"id":7,"inputs":[]})", "request: id is 7, but must be a string"},
      {R"({"id":"a","id":"b","inputs":[]})", "request: member 'id' comes twice"},
      {R"({"inputs":[],"parameters":{"binary_data_output":1}})",
       "request: binary_data_output is 1, but must be true or false"},
      {R"({"inputs":[],"parameters":{"timeout":-5}})",
       "request: timeout is -5, but must be a whole number from 0"},
      {R"({"inputs":[],"parameters":{"timeout":18446744073709551615}})",
       "request: timeout of 18446744073709551615 microseconds is too long"},
      {R"({"inputs":[],"parameters":{"colour":"red"}})",
       "request: parameter 'colour' is not known"},
      {R"({"inputs":[],"parameters":{"sequence_id":1}})",
       "request: parameter 'sequence_id' is not supported by this server"},
      {R"({"inputs":[{"datatype":"UINT8","shape":[1],"data":[1]}]})",
       "input #0: its name is missing"},
      {R"({"inputs":[{"name":"x","shape":[1],"data":[1]}]})", "input 'x': its datatype is missing"},
      {R"({"inputs":[{"name":"x","datatype":"UINT8","data":[1]}]})",
       "input 'x': its shape is missing"},
      {R"({"inputs":[{"name":"x","datatype":"UINT8","shape":[1]}]})",
       "input 'x': it has neither data nor binary_data_size"},
      {R"({"inputs":[{"name":"x","datatype":"UINT8","shape":[1],"data":[1],"parameters":{"binary_data_size":1}}]})",
       "input 'x': it has both data and binary_data_size; give one of them"},
      {R"({"inputs":[{"name":"x","datatype":"UINT8","shape":[1],"data":1}]})",
       "input 'x': data is 1, but must be an array"},
      {R"({"inputs":[{"name":"x","datatype":"fp32","shape":[1],"data":[1]}]})",
       "input 'x': datatype 'fp32' is not one of BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, "
       "INT32, INT64, FP16, BF16, FP32, FP64, BYTES"},
      {R"({"inputs":[{"name":"x","datatype":"UINT8","shape":[2,-5],"data":[1]}]})",
       "input 'x': shape[1] is -5, but must be a whole number from 0"},
      {R"({"inputs":[{"name":"x","datatype":"UINT8","shape":[1.5],"data":[1]}]})",
       "input 'x': shape[0] is 1.5, but must be a whole number from 0"},
      {R"({"inputs":[{"name":"x","datatype":"UINT8","shape":1,"data":[1]}]})",
       "input 'x': shape is 1, but must be an array"},
      {R"({"inputs":[{"name":"x","datatype":"UINT8","shape":[1,1,1,1,1,1,1,1,1],"data":[1]}]})",
       "input 'x': shape has more than 8 dimensions"},
      {R"({"inputs":[{"name":"x","datatype":"UINT8","shape":[1],"data":[1],"colour":1}]})",
       "input 'x': member 'colour' is not known"},
      {R"({"inputs":[{"name":"x","datatype":"UINT8","shape":[1],"data":[1]},{"name":"x","datatype":"UINT8","shape":[1],"data":[1]}]})",
       "input 'x': it comes twice"},
      {R"({"inputs":[{"name":"x","parameters":{"shared_memory_region":"r"}}]})",
       "input 'x': parameter 'shared_memory_region' is not supported by this server"},
      {R"({"inputs":[],"outputs":[{"name":"o"},{"name":"o"}]})", "output 'o': it comes twice"},
      {R"({"inputs":[],"outputs":[{}]})", "output #0: its name is missing"},
      {R"({"inputs":[],"outputs":[{"name":"o","parameters":{"shared_memory_region":"r"}}]})",
       "output 'o': parameter 'shared_memory_region' is not supported by this server"},
      {R"({"inputs":[]} {})", "the request is not valid JSON: something follows the object"},
  };
  for (const Case& each : cases) EXPECT_EQ(fault(each.json), each.fault) << each.json;
}

TEST_F(Parse, RefusesWhatIsNotJson) {
  for (const char* json : {"", " ", "{", "}", "{\"inputs\":[}", "{\"inputs\":[]", "{\"inputs\" []}",
                           "{inputs:[]}", "{\"inputs\":[],}", "{\"inputs\":[{\"name\":\"x]}",
                           "{\"id\":\"\xff\",\"inputs\":[]}", "{\"inputs\":[]}{}", "nul"}) {
    const auto request = parse(json);
    ASSERT_FALSE(request) << json;
    EXPECT_EQ(request.error().code, ErrorCode::kInvalidArgument) << json;
  }
}

TEST_F(Parse, RefusesEveryTruncationAndEveryExtension) {
  const std::string json =
      R"({"id":"1","inputs":[{"name":"x","shape":[2],"datatype":"FP32","data":[1,2.5]},)"
      R"({"name":"y","shape":[1],"datatype":"BYTES","data":["ab"]}],"outputs":[{"name":"o"}]})";
  ASSERT_EQ(fault(json), "");
  for (std::size_t size = 0; size < json.size(); ++size) {
    EXPECT_NE(fault(json.substr(0, size)), "") << json.substr(0, size);
  }
  EXPECT_EQ(fault(json + "   "), "");
  EXPECT_NE(fault(json + "]"), "");
}

TEST_F(Parse, PassesOnThatThereIsNoMemory) {
  memory_.limit(8);
  EXPECT_EQ(decode_fault("FP32", "[3]", "[1,2,3]"), "input 'x': out of test memory");
  EXPECT_EQ(decode<float>("FP32", "[2]", "[1,2]"), (std::vector<float>{1, 2}));
}

class ParseRaw : public Parse {
 protected:
  std::string shape_of(DType dtype, const std::vector<std::int64_t>& dims, std::string_view body) {
    bytes_ = RequestBytes(body);
    const auto request =
        parser_.parse_raw(bytes_.body(), {.name = "x", .dtype = dtype, .dims = dims}, memory_);
    if (!request) return request.error().message;
    EXPECT_TRUE(request->binary_by_default);
    return to_string(request->inputs[0].shape);
  }
};

TEST_F(ParseRaw, FindsTheShapeFromTheSize) {
  EXPECT_EQ(shape_of(DType::kFp32, {1, 2}, "12345678"), "[1,2]");
  EXPECT_EQ(shape_of(DType::kFp32, {1, -1}, "12345678"), "[1,2]");
  EXPECT_EQ(shape_of(DType::kUint8, {-1, 3}, "123456"), "[2,3]");
  EXPECT_EQ(shape_of(DType::kUint8, {-1, 3}, ""), "[0,3]");
  EXPECT_EQ(shape_of(DType::kFp32, {1, 2}, "1234567"),
            "input 'x': a raw request of 7 bytes is not [1,2] of FP32");
  EXPECT_EQ(shape_of(DType::kFp32, {-1}, "1234567"),
            "input 'x': a raw request of 7 bytes is not [1] of FP32 or a multiple");
  EXPECT_EQ(shape_of(DType::kUint8, {-1, -1}, "12"),
            "input 'x': more than one of its dimensions varies, so a raw request cannot say its "
            "shape");
  EXPECT_EQ(shape_of(DType::kFp64, {4611686018427387904, -1}, "12"),
            "input 'x': its shape has too many elements");
}

TEST_F(ParseRaw, GivesAStringItsLength) {
  EXPECT_EQ(shape_of(DType::kBytes, {1}, "abc"), "[1]");
  bytes_ = RequestBytes("abc");
  const std::vector<std::int64_t> dims = {1};
  const auto request = parser_.parse_raw(
      bytes_.body(), {.name = "x", .dtype = DType::kBytes, .dims = dims}, memory_);
  ASSERT_TRUE(request);
  EXPECT_EQ(values<char>(request->inputs[0].data), (std::vector<char>{3, 0, 0, 0, 'a', 'b', 'c'}));
  EXPECT_EQ(shape_of(DType::kBytes, {2}, "abc"),
            "input 'x': a raw request can carry one string, so its shape must be [1]");
}

TEST(ParseJsonLength, TakesOnlyAWholeNumberWithinTheBody) {
  EXPECT_EQ(*parse_json_length("0", 10), 0U);
  EXPECT_EQ(*parse_json_length("10", 10), 10U);
  for (const char* bad : {"11", "-1", "", "x", "1x", " 1", "+1", "1.0", "99999999999999999999"}) {
    EXPECT_FALSE(parse_json_length(bad, 10)) << bad;
  }
}

}  // namespace
}  // namespace corelane::wire
