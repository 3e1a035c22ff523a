#include "load/http_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "load/inputs.h"
#include "model/manifest.h"
#include "net/http_client.h"
#include "tensor/dtype.h"

namespace corelane::load {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

/// Answers every request alike and keeps what was sent.
class FakeHttpClient final : public net::HttpClient {
 public:
  FakeHttpClient(int status, std::string body, std::vector<std::string>& sent)
      : status_(status), body_(std::move(body)), sent_(sent) {}

  Result<net::ClientResponseView> exchange(const net::PreparedRequest& request) override {
    sent_.emplace_back(reinterpret_cast<const char*>(request.bytes().data()),
                       request.bytes().size());
    if (status_ == 0) return io_error("connection refused");
    return net::ClientResponseView{.status = status_, .body = std::as_bytes(std::span(body_))};
  }
  Status send(std::span<const std::byte>) override { return io_error("not used"); }
  Result<net::ClientResponseView> receive() override { return io_error("not used"); }
  Result<net::ClientResponseView> receive_head() override { return io_error("not used"); }
  std::size_t connections() const override { return 1; }
  void finish_sending() override {}

 private:
  int status_;
  std::string body_;
  std::vector<std::string>& sent_;
};

std::vector<PreparedInput> two_inputs() {
  const auto with = [](char first) {
    const std::string raw = std::string(1, first) + std::string("\0\0\0\2\0\0\0", 7);
    const auto bytes = std::as_bytes(std::span(raw));
    return PreparedInput{.items = 2,
                         .tensors = {{.name = "x",
                                      .dtype = tensor::DType::kInt32,
                                      .shape = {2, 1},
                                      .bytes = {bytes.begin(), bytes.end()}}}};
  };
  return {with('\1'), with('\3')};
}

TEST(HttpTarget, SendsTheInputsInOrderAndCountsItems) {
  std::vector<std::string> sent;
  const auto inputs = http_inputs("m", "2", two_inputs(), TensorForm::kJson);
  ASSERT_TRUE(inputs);
  HttpTarget target(std::make_unique<FakeHttpClient>(200, "{}", sent), *inputs, {});
  for (std::uint64_t turn = 0; turn < 3; ++turn) {
    const auto answer = target.send(turn);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->items, 2);
    EXPECT_FALSE(answer->split.known);
  }
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_THAT(sent[0], ::testing::StartsWith("POST /v2/models/m/versions/2/infer HTTP/1.1\r\n"));
  EXPECT_THAT(
      sent[0],
      EndsWith(R"({"inputs":[{"name":"x","datatype":"INT32","shape":[2,1],"data":[1,2]}]})"));
  EXPECT_THAT(sent[1], HasSubstr("\"data\":[3,2]"));
  EXPECT_EQ(sent[2], sent[0]);
}

TEST(HttpTarget, SendsBinaryTensorsBehindTheirDescription) {
  std::vector<std::string> sent;
  const auto inputs = http_inputs("m", "", two_inputs(), TensorForm::kBinary);
  ASSERT_TRUE(inputs);
  HttpTarget target(std::make_unique<FakeHttpClient>(200, "", sent), *inputs, {});
  ASSERT_TRUE(target.send(0));
  const std::string json =
      R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"x","datatype":"INT32",)"
      R"("shape":[2,1],"parameters":{"binary_data_size":8}}]})";
  EXPECT_THAT(sent[0], ::testing::StartsWith("POST /v2/models/m/infer HTTP/1.1\r\n"));
  EXPECT_THAT(sent[0], HasSubstr("Inference-Header-Content-Length: " + std::to_string(json.size()) +
                                 "\r\n"));
  EXPECT_THAT(sent[0], EndsWith(json + std::string("\1\0\0\0\2\0\0\0", 8)));
}

TEST(HttpTarget, TakesEverythingButStatus200ForAFailure) {
  std::vector<std::string> sent;
  const auto inputs = http_inputs("m", "", two_inputs(), TensorForm::kBinary);
  HttpTarget busy(std::make_unique<FakeHttpClient>(503, R"({"error":"queue full"})", sent), *inputs,
                  {});
  EXPECT_THAT(busy.send(0).error().message, HasSubstr("HTTP 503: {\"error\":\"queue full\"}"));
  HttpTarget gone(std::make_unique<FakeHttpClient>(0, "", sent), *inputs, {});
  EXPECT_THAT(gone.send(0).error().message, HasSubstr("connection refused"));
}

TEST(HttpInputs, RefuseHalfPrecisionInJson) {
  const std::vector<PreparedInput> half = {
      {.tensors = {{.name = "h", .dtype = tensor::DType::kFp16, .shape = {1}, .bytes = {}}}}};
  EXPECT_THAT(http_inputs("m", "", half, TensorForm::kJson).error().message,
              HasSubstr("input 'h': FP16 does not travel as JSON"));
  EXPECT_TRUE(http_inputs("m", "", half, TensorForm::kBinary));
}

TEST(ParseModelMetadata, NamesTheDimensionsThatVary) {
  const std::string json =
      R"({"name":"bert","versions":["1"],"platform":"x","inputs":[)"
      R"({"name":"ids","datatype":"INT64","shape":[-1,-1]},)"
      R"({"name":"image","datatype":"FP32","shape":[-1,3,224,224]}],"outputs":[]})";
  const auto named = parse_model_metadata(json, "tokens");
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->name, "bert");
  EXPECT_THAT(named->inputs[0].shape, ElementsAre(model::Dim("batch"), model::Dim("tokens")));
  EXPECT_THAT(named->inputs[1].shape,
              ElementsAre(model::Dim("batch"), model::Dim(3), model::Dim(224), model::Dim(224)));
  EXPECT_GT(model::max_batch(*named), 32);
  const auto unnamed = parse_model_metadata(json, "");
  ASSERT_TRUE(unnamed);
  EXPECT_EQ(unnamed->inputs[0].shape[1], model::Dim("ids.1"));
}

TEST(ParseModelMetadata, RefusesWhatIsNone) {
  for (const char* json :
       {"", "[]", "{}", R"({"name":"m","inputs":[]})", R"({"name":"m","inputs":[{"name":"x"}]})",
        R"({"name":"m","inputs":[{"name":"x","datatype":"FP8","shape":[1]}]})",
        R"({"name":"m","inputs":[{"name":"x","datatype":"FP32","shape":["a"]}]})"}) {
    EXPECT_FALSE(parse_model_metadata(json, "")) << json;
  }
}

TEST(ParseHttpUrl, TakesHostAndPort) {
  EXPECT_EQ(parse_http_url("http://127.0.0.1:8000")->port, 8000);
  EXPECT_EQ(parse_http_url("http://127.0.0.1:8000/")->host, "127.0.0.1");
  EXPECT_EQ(parse_http_url("http://box")->port, 80);
  EXPECT_EQ(parse_http_url("http://[::1]:9000")->host, "::1");
  EXPECT_EQ(parse_http_url("http://[::1]:9000")->port, 9000);
  for (const char* url : {"", "https://x", "http://", "http://x:", "http://x:0", "http://x:70000",
                          "http://x:8a", "http://x:80/v2"}) {
    EXPECT_FALSE(parse_http_url(url)) << url;
  }
}

}  // namespace
}  // namespace corelane::load
