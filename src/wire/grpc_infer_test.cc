#include "wire/grpc_infer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <inference.pb.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "wire/testing/request_bytes.h"

namespace corelane::wire {
namespace {

using inference::InferTensorContents;
using inference::ModelInferRequest;
using tensor::DType;
using ::testing::HasSubstr;
using Input = ModelInferRequest::InferInputTensor;

Input& add_input(ModelInferRequest& request, const std::string& name, const std::string& datatype,
                 const std::vector<std::int64_t>& shape) {
  Input& input = *request.add_inputs();
  input.set_name(name);
  input.set_datatype(datatype);
  for (const std::int64_t dim : shape) input.add_shape(dim);
  return input;
}

ModelInferRequest with_input(const std::string& datatype, const std::vector<std::int64_t>& shape) {
  ModelInferRequest request;
  request.set_model_name("m");
  add_input(request, "x", datatype, shape);
  return request;
}

template <typename Number>
std::string bytes(const std::vector<Number>& numbers) {
  std::string out(numbers.size() * sizeof(Number), '\0');
  if (!out.empty()) std::memcpy(out.data(), numbers.data(), out.size());
  return out;
}

/// Messages are made by the Protocol Buffers library and read by ours.
class GrpcInfer : public ::testing::Test {
 protected:
  Result<GrpcInferRequestView> parse(const ModelInferRequest& request) {
    return parse(request.SerializeAsString());
  }
  Result<GrpcInferRequestView> parse(std::string message) {
    sent = std::move(message);
    sent.shrink_to_fit();
    return parser.parse(std::as_bytes(std::span(sent)), memory);
  }
  template <typename Message>
  std::string error_of(const Message& message) {
    const auto parsed = parse(message);
    return parsed ? "no error" : parsed.error().message;
  }
  /// The first input's bytes.
  std::string data_of(const ModelInferRequest& request) {
    const auto parsed = parse(request);
    if (!parsed) return parsed.error().message;
    const auto data = parsed->request.inputs[0].data;
    return {reinterpret_cast<const char*>(data.data()), data.size()};
  }

  std::string sent;
  testing::HeapMemory memory;
  GrpcInferParser parser;
};

TEST_F(GrpcInfer, ReadsEverythingThatARequestHas) {
  ModelInferRequest request = with_input("FP32", {1, 2});
  request.set_model_version("3");
  request.set_id("mine");
  (*request.mutable_parameters())["timeout"].set_int64_param(5);
  (*request.mutable_parameters())["priority"].set_uint64_param(2);
  add_input(request, "y", "BYTES", {2});
  request.add_raw_input_contents(bytes<float>({1, 2}));
  request.add_raw_input_contents(std::string("\0\0\0\0\1\0\0\0a", 9));
  request.add_outputs()->set_name("o");

  const auto parsed = parse(request);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->model, "m");
  EXPECT_EQ(parsed->version, "3");
  EXPECT_EQ(parsed->request.id, "mine");
  EXPECT_EQ(parsed->request.timeout, std::chrono::microseconds(5));
  EXPECT_EQ(parsed->request.priority, 2U);
  EXPECT_FALSE(parsed->final_mark);
  ASSERT_EQ(parsed->request.inputs.size(), 2U);
  EXPECT_EQ(parsed->request.inputs[0].name, "x");
  EXPECT_EQ(parsed->request.inputs[0].dtype, DType::kFp32);
  EXPECT_EQ(parsed->request.inputs[0].shape, (tensor::Shape{1, 2}));
  EXPECT_EQ(parsed->request.inputs[1].data.size(), 9U);
  ASSERT_EQ(parsed->request.outputs.size(), 1U);
  EXPECT_EQ(parsed->request.outputs[0].name, "o");
  EXPECT_TRUE(parsed->request.outputs[0].binary);
}

TEST_F(GrpcInfer, LeavesRawContentsWhereTheyAre) {
  ModelInferRequest request = with_input("FP32", {2});
  request.add_raw_input_contents(bytes<float>({1, 2}));
  const auto parsed = parse(request);
  ASSERT_TRUE(parsed);
  const auto* at = reinterpret_cast<const char*>(parsed->request.inputs[0].data.data());
  EXPECT_TRUE(at > sent.data() && at < sent.data() + sent.size());
  EXPECT_EQ(memory.allocated(), 0U);
}

TEST_F(GrpcInfer, HasNoIdWhereItIsEmptyAndAllOutputsWhereNoneIsNamed) {
  const auto parsed = parse(with_input("FP32", {0}));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_FALSE(parsed->request.id);
  EXPECT_TRUE(parsed->request.outputs.empty());
  EXPECT_TRUE(parsed->request.binary_by_default);
  EXPECT_TRUE(parsed->request.inputs[0].data.empty());
}

struct TypedCase {
  std::string datatype;
  std::function<void(InferTensorContents&)> fill;
  std::string bytes;
};

TEST_F(GrpcInfer, DecodesTypedContentsOfEveryDatatypeThatHasThem) {
  const std::vector<TypedCase> cases = {
      {"BOOL", [](auto& c) { c.add_bool_contents(true), c.add_bool_contents(false); },
       bytes<std::uint8_t>({1, 0})},
      {"INT8", [](auto& c) { c.add_int_contents(-128), c.add_int_contents(127); },
       bytes<std::int8_t>({-128, 127})},
      {"INT16", [](auto& c) { c.add_int_contents(-32768), c.add_int_contents(32767); },
       bytes<std::int16_t>({-32768, 32767})},
      {"INT32", [](auto& c) { c.add_int_contents(INT32_MIN), c.add_int_contents(INT32_MAX); },
       bytes<std::int32_t>({INT32_MIN, INT32_MAX})},
      {"INT64", [](auto& c) { c.add_int64_contents(INT64_MIN), c.add_int64_contents(INT64_MAX); },
       bytes<std::int64_t>({INT64_MIN, INT64_MAX})},
      {"UINT8", [](auto& c) { c.add_uint_contents(0), c.add_uint_contents(255); },
       bytes<std::uint8_t>({0, 255})},
      {"UINT16", [](auto& c) { c.add_uint_contents(0), c.add_uint_contents(65535); },
       bytes<std::uint16_t>({0, 65535})},
      {"UINT32", [](auto& c) { c.add_uint_contents(0), c.add_uint_contents(UINT32_MAX); },
       bytes<std::uint32_t>({0, UINT32_MAX})},
      {"UINT64", [](auto& c) { c.add_uint64_contents(1), c.add_uint64_contents(UINT64_MAX); },
       bytes<std::uint64_t>({1, UINT64_MAX})},
      {"FP32", [](auto& c) { c.add_fp32_contents(0.1F), c.add_fp32_contents(INFINITY); },
       bytes<float>({0.1F, INFINITY})},
      {"FP64", [](auto& c) { c.add_fp64_contents(0.1), c.add_fp64_contents(-0.0); },
       bytes<double>({0.1, -0.0})},
      {"BYTES", [](auto& c) { c.add_bytes_contents(""), c.add_bytes_contents("ab"); },
       std::string("\0\0\0\0\2\0\0\0ab", 10)},
  };
  for (const TypedCase& each : cases) {
    ModelInferRequest request = with_input(each.datatype, {2});
    each.fill(*request.mutable_inputs(0)->mutable_contents());
    EXPECT_EQ(data_of(request), each.bytes) << each.datatype;
  }
}

TEST_F(GrpcInfer, ReadsNumbersThatAreNotPacked) {
  ModelInferRequest request = with_input("INT32", {});
  // shape 2, then contents with two values, each field on its own
  std::string input = request.inputs(0).SerializeAsString();
  input += std::string("\x18\x02\x2a\x04\x10\x07\x10\x08", 8);
  const std::string message =
      std::string("\x0a\x01m\x2a", 4) + static_cast<char>(input.size()) + input;
  const auto parsed = parse(message);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->request.inputs[0].shape, (tensor::Shape{2}));
  std::int32_t second = 0;
  std::memcpy(&second, parsed->request.inputs[0].data.data() + 4, 4);
  EXPECT_EQ(second, 8);
}

TEST_F(GrpcInfer, RefusesNumbersOutsideTheDatatypeRatherThanWrapThem) {
  ModelInferRequest request = with_input("UINT8", {2});
  request.mutable_inputs(0)->mutable_contents()->add_uint_contents(1);
  request.mutable_inputs(0)->mutable_contents()->add_uint_contents(256);
  EXPECT_EQ(error_of(request),
            "input 'x': uint_contents element 1 is 256, which is out of UINT8's range");
  request = with_input("INT8", {1});
  request.mutable_inputs(0)->mutable_contents()->add_int_contents(-129);
  EXPECT_EQ(error_of(request),
            "input 'x': int_contents element 0 is -129, which is out of INT8's range");
}

TEST_F(GrpcInfer, RefusesContentsOfAnotherCountOrField) {
  ModelInferRequest request = with_input("FP32", {3});
  request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  EXPECT_EQ(error_of(request), "input 'x': fp32_contents has 1 elements, but shape [3] has 3");
  request.mutable_inputs(0)->mutable_contents()->clear_fp32_contents();
  request.mutable_inputs(0)->mutable_contents()->add_fp64_contents(1);
  EXPECT_EQ(error_of(request), "input 'x': it has fp64_contents, but FP32 comes in fp32_contents");
  EXPECT_EQ(error_of(with_input("FP32", {1})),
            "input 'x': fp32_contents has 0 elements, but shape [1] has 1");
}

TEST_F(GrpcInfer, TakesTheSixteenBitFloatsRawOnly) {
  for (const char* datatype : {"FP16", "BF16"}) {
    ModelInferRequest request = with_input(datatype, {1});
    request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
    EXPECT_THAT(error_of(request), HasSubstr("can only be sent in raw_input_contents"));
    request = with_input(datatype, {1});
    request.add_raw_input_contents("ab");
    EXPECT_EQ(data_of(request), "ab");
  }
}

TEST_F(GrpcInfer, RefusesRawContentsThatDoNotFit) {
  ModelInferRequest request = with_input("FP32", {2});
  request.add_raw_input_contents("1234567");
  EXPECT_EQ(error_of(request),
            "input 'x': its raw_input_contents have 7 bytes, but shape [2] of FP32 has 8");
  request.add_raw_input_contents("12345678");
  EXPECT_EQ(error_of(request), "request: there are 2 raw_input_contents for 1 inputs");
  request = with_input("FP32", {1});
  request.add_raw_input_contents("1234");
  request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  EXPECT_EQ(error_of(request),
            "input 'x': it has contents, but the request has raw_input_contents");
  request = with_input("BYTES", {2});
  request.add_raw_input_contents(std::string("\1\0\0\0a", 5));
  EXPECT_THAT(error_of(request), HasSubstr("input 'x': it has 1 elements"));
}

TEST_F(GrpcInfer, RefusesShapesThatCannotBe) {
  EXPECT_EQ(error_of(with_input("FP32", {2, -5})),
            "input 'x': shape[1] is -5, but must be a whole number from 0");
  EXPECT_EQ(error_of(with_input("FP32", {1, 1, 1, 1, 1, 1, 1, 1, 1})),
            "input 'x': shape has more than 8 dimensions");
  ModelInferRequest request = with_input("FP64", {INT64_MAX, INT64_MAX});
  request.add_raw_input_contents("");
  EXPECT_THAT(error_of(request), HasSubstr("has too many elements"));
  request = with_input("FP64", {INT64_MAX});
  request.add_raw_input_contents("");
  EXPECT_THAT(error_of(request), HasSubstr("has too many elements"));
}

TEST_F(GrpcInfer, NamesWhatIsMissingUnknownOrTwice) {
  EXPECT_EQ(error_of(ModelInferRequest()), "request: model_name is missing");
  ModelInferRequest request = with_input("FP31", {1});
  EXPECT_THAT(error_of(request), HasSubstr("input 'x': datatype 'FP31' is not one of"));
  request = with_input("FP32", {0});
  add_input(request, "x", "FP32", {0});
  EXPECT_EQ(error_of(request), "input 'x': it comes twice");
  request = with_input("FP32", {0});
  add_input(request, "", "FP32", {0});
  EXPECT_EQ(error_of(request), "input #1: its name is missing");
  request = with_input("FP32", {0});
  request.add_outputs()->set_name("o");
  request.add_outputs()->set_name("o");
  EXPECT_EQ(error_of(request), "output 'o': it comes twice");
  const std::string message = with_input("FP32", {0}).SerializeAsString();
  EXPECT_EQ(error_of(message + std::string("\x0a\x01n", 3)), "request: model_name comes twice");
  EXPECT_EQ(error_of(message + std::string("\x40\x01", 2)), "request: field 8 is not known");
}

TEST_F(GrpcInfer, RefusesTextThatIsNotUtf8) {
  EXPECT_EQ(error_of(std::string("\x0a\x01\xff", 3)), "request: model_name is not UTF-8");
}

TEST_F(GrpcInfer, TreatsParametersAsRestDoes) {
  const auto error_with = [&](const char* key, const auto& set) {
    ModelInferRequest request = with_input("FP32", {0});
    set((*request.mutable_parameters())[key]);
    const auto parsed = parse(request);
    return parsed ? Error{} : parsed.error();
  };
  EXPECT_EQ(error_with("timeout", [](auto& p) { p.set_int64_param(-1); }).message,
            "request: timeout is -1, but must be a whole number from 0");
  EXPECT_EQ(error_with("timeout", [](auto& p) { p.set_string_param("5"); }).message,
            "request: timeout is the string '5', but must be a whole number from 0");
  EXPECT_THAT(error_with("timeout", [](auto& p) { p.set_uint64_param(UINT64_MAX); }).message,
              HasSubstr("is too long"));
  EXPECT_EQ(error_with("timeout", [](auto&) {}).message,
            "request: timeout is without a value, but must be a whole number from 0");
  EXPECT_EQ(error_with("sequence_id", [](auto& p) { p.set_int64_param(1); }).code,
            ErrorCode::kUnsupported);
  EXPECT_EQ(error_with("what", [](auto& p) { p.set_bool_param(true); }).message,
            "request: parameter 'what' is not known");
  ModelInferRequest request = with_input("FP32", {0});
  (*request.mutable_inputs(0)->mutable_parameters())["shared_memory_region"].set_string_param("r");
  const auto parsed = parse(request);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::kUnsupported);
}

TEST_F(GrpcInfer, TakesAClassificationOfAnOutput) {
  ModelInferRequest request = with_input("FP32", {0});
  auto& output = *request.add_outputs();
  output.set_name("o");
  auto& classes = (*output.mutable_parameters())["classification"];
  classes.set_int64_param(3);
  const auto parsed = parse(request);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->request.outputs[0].classes, 3U);
  classes.set_int64_param(0);
  EXPECT_EQ(error_of(request),
            "output 'o': classification is 0, but must be a whole number from 1");
  classes.set_string_param("3");
  EXPECT_EQ(error_of(request),
            "output 'o': classification is the string '3', but must be a whole number from 0");
}

TEST_F(GrpcInfer, KnowsWhoAskedWhenTheRequestIsWrong) {
  ModelInferRequest request = with_input("FP32", {1});
  request.set_id("mine");
  ASSERT_FALSE(parse(request));
  EXPECT_EQ(parser.seen().model, "m");
  EXPECT_EQ(parser.seen().request.id, "mine");
}

TEST_F(GrpcInfer, TellsWhenThereIsNoMemory) {
  ModelInferRequest request = with_input("INT64", {4});
  for (int i = 0; i < 4; ++i) request.mutable_inputs(0)->mutable_contents()->add_int64_contents(i);
  memory.limit(31);
  const auto parsed = parse(request);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::kResourceExhausted);
}

TEST_F(GrpcInfer, HoldsWhereverTheMessageIsCut) {
  ModelInferRequest request = with_input("FP32", {1, 2});
  request.set_id("i");
  (*request.mutable_parameters())["timeout"].set_int64_param(5);
  request.add_raw_input_contents(bytes<float>({1, 2}));
  const std::string whole = request.SerializeAsString();
  ASSERT_TRUE(parse(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto parsed = parse(whole.substr(0, size));
    EXPECT_TRUE(!parsed || parsed->request.inputs.empty()) << size;  // whole fields are a request
  }
}

}  // namespace
}  // namespace corelane::wire
