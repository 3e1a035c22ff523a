#include "wire/grpc_response.h"

#include <gtest/gtest.h>
#include <inference.pb.h>

#include <array>
#include <span>
#include <string>

#include "base/result.h"
#include "tensor/dtype.h"
#include "wire/grpc_status.h"
#include "wire/v2_response.h"

namespace corelane::wire {
namespace {

using tensor::DType;

std::string joined(const EncodedMessageView& encoded) {
  std::string all;
  for (const auto piece : encoded.pieces) {
    all.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  EXPECT_EQ(all.size(), encoded.size);
  return all;
}

/// Messages are written by ours and read by the Protocol Buffers library.
class GrpcResponse : public testing::Test {
 protected:
  InferResponseView response() const {
    return {.model_name = "m", .model_version = 300, .id = "mine", .outputs = outputs};
  }
  static constexpr std::array<float, 2> kNumbers{1.5F, -2};
  std::string large = std::string(300, 'x');
  std::array<ResponseOutputView, 3> outputs{
      ResponseOutputView{.name = "o",
                         .tensor = {.dtype = DType::kFp32,
                                    .shape = {1, 2},
                                    .bytes = std::as_bytes(std::span(kNumbers))}},
      ResponseOutputView{.name = "none", .tensor = {.dtype = DType::kBytes, .shape = {0, 7}}},
      ResponseOutputView{
          .name = "large",
          .tensor = {
              .dtype = DType::kUint8, .shape = {300}, .bytes = std::as_bytes(std::span(large))}}};
  GrpcResponseWriter writer;
};

TEST_F(GrpcResponse, SaysEverythingWithTheTensorsRaw) {
  inference::ModelInferResponse read;
  ASSERT_TRUE(read.ParseFromString(joined(writer.write(response(), GrpcAnswer::kUnary))));
  EXPECT_EQ(read.model_name(), "m");
  EXPECT_EQ(read.model_version(), "300");
  EXPECT_EQ(read.id(), "mine");
  EXPECT_TRUE(read.parameters().empty());
  ASSERT_EQ(read.outputs_size(), 3);
  EXPECT_EQ(read.outputs(0).name(), "o");
  EXPECT_EQ(read.outputs(0).datatype(), "FP32");
  ASSERT_EQ(read.outputs(0).shape_size(), 2);
  EXPECT_EQ(read.outputs(0).shape(1), 2);
  EXPECT_EQ(read.outputs(1).shape(0), 0);
  EXPECT_EQ(read.outputs(2).shape(0), 300);
  ASSERT_EQ(read.raw_output_contents_size(), 3);
  EXPECT_EQ(read.raw_output_contents(0).size(), 8U);
  EXPECT_EQ(read.raw_output_contents(1), "");
  EXPECT_EQ(read.raw_output_contents(2), large);
}

TEST_F(GrpcResponse, WrapsAStreamsAnswer) {
  inference::ModelStreamInferResponse read;
  ASSERT_TRUE(read.ParseFromString(joined(writer.write(response(), GrpcAnswer::kStream))));
  EXPECT_EQ(read.error_message(), "");
  EXPECT_EQ(read.infer_response().raw_output_contents(2), large);
  EXPECT_TRUE(read.infer_response().parameters().empty());
}

TEST_F(GrpcResponse, MarksAStreamsLastAnswerWhereThatWasAskedFor) {
  inference::ModelStreamInferResponse read;
  ASSERT_TRUE(read.ParseFromString(joined(writer.write(response(), GrpcAnswer::kStreamLast))));
  EXPECT_TRUE(read.infer_response().parameters().at("triton_final_response").bool_param());
  EXPECT_EQ(read.infer_response().id(), "mine");
}

TEST_F(GrpcResponse, TellsAStreamsErrorAndWhoseItIs) {
  inference::ModelStreamInferResponse read;
  ASSERT_TRUE(read.ParseFromString(joined(writer.write_stream_error("wr\xc3ong", "7"))));
  EXPECT_EQ(read.error_message(), "wr?ong");
  EXPECT_EQ(read.infer_response().id(), "7");
}

TEST_F(GrpcResponse, KeepsNothingOfTheLastOne) {
  (void)writer.write(response(), GrpcAnswer::kStreamLast);
  inference::ModelInferResponse read;
  ASSERT_TRUE(read.ParseFromString(
      joined(writer.write({.model_name = "n", .id = {}, .outputs = {}}, GrpcAnswer::kUnary))));
  EXPECT_EQ(read.model_name(), "n");
  EXPECT_EQ(read.outputs_size(), 0);
}

TEST(GrpcStatus, IsTheClientsFaultOrNotAsOverHttp) {
  EXPECT_EQ(grpc_status(ErrorCode::kInvalidArgument), 3);
  EXPECT_EQ(grpc_status(ErrorCode::kNotFound), 5);
  EXPECT_EQ(grpc_status(ErrorCode::kUnsupported), 12);
  EXPECT_EQ(grpc_status(ErrorCode::kResourceExhausted), 14);
  EXPECT_EQ(grpc_status(ErrorCode::kInternal), 13);
}

}  // namespace
}  // namespace corelane::wire
