#include "serve/server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "lane/arena.h"
#include "lane/tensor_ref.h"
#include "model/manifest.h"
#include "net/http_client.h"
#include "service/service.h"
#include "service/testing/fake_pool.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/view.h"
#include "wire/compression.h"

namespace corelane::serve {
namespace {

using tensor::DType;

struct Answer {
  int status = 0;
  std::string content_type;
  std::string retry_after;
  std::string encoding;
  std::string allow;
  std::string body;
};

model::Manifest manifest() {
  model::Manifest made;
  made.name = "m";
  made.inputs = {{.name = "x", .type = DType::kFp32, .shape = {"batch", std::int64_t{2}}}};
  made.outputs = {{.name = "y", .type = DType::kFp32, .shape = {"batch", std::int64_t{2}}}};
  made.dimensions["batch"] = {.min = 1, .max = 4, .buckets = {}};
  made.precisions["f32"].engine = "probe";
  return made;
}

/// A server over one fake lane, which the test answers for.
class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    service_ = *service::Service::start(
        pool_, clock_, {{.folder = "m", .manifest = manifest(), .precision = "f32"}},
        {.queue_limit = 1});
    server_ = *Server::start(*service_, pool_, clock_, {.port = 0});
  }

  void come_up() {
    pool_.come_up(0);
    while (!service_->settled()) std::this_thread::yield();
  }

  /// A request on its way: answer() waits for what comes back.
  struct Asked {
    std::unique_ptr<net::HttpClient> client;
    Answer answer() {
      const auto got = client->receive();
      if (!got) return {.body = got.error().message};
      return {
          .status = got->status,
          .content_type = std::string(got->header("content-type").value_or("")),
          .retry_after = std::string(got->header("retry-after").value_or("")),
          .encoding = std::string(got->header("content-encoding").value_or("")),
          .allow = std::string(got->header("allow").value_or("")),
          .body = std::string(reinterpret_cast<const char*>(got->body.data()), got->body.size())};
    }
  };
  Asked send(const std::string& method, const std::string& path, const std::string& body = "",
             std::vector<net::PreparedRequest::Header> headers = {}) {
    Asked asked{*net::HttpClient::connect({.port = server_->port()})};
    const net::PreparedRequest request(method, path, headers, std::as_bytes(std::span(body)));
    EXPECT_TRUE(asked.client->send(request.bytes()));
    return asked;
  }
  Answer ask(const std::string& method, const std::string& path, const std::string& body = "",
             std::vector<net::PreparedRequest::Header> headers = {}) {
    return send(method, path, body, std::move(headers)).answer();
  }
  /// Waits for the lane's `count`-th batch and gives back its first input.
  lane::TensorRef answer_batch(std::size_t count = 1) {
    while (pool_.fake(0).dispatched().size() < count) std::this_thread::yield();
    const auto batch = pool_.fake(0).dispatched().back();
    static constexpr float kOutput[] = {5, 6};
    std::vector<std::vector<tensor::TensorView>> outputs(
        batch.members.size(),
        {{.dtype = DType::kFp32, .shape = {1, 2}, .bytes = std::as_bytes(std::span(kOutput))}});
    pool_.fake(0).finish(batch.number, outputs);
    return batch.members[0][0];
  }

  SystemClock clock_;
  service::FakePool pool_{1};
  std::unique_ptr<service::Service> service_;
  std::unique_ptr<Server> server_;
};

constexpr Nanos kLong = std::chrono::seconds(20);
const char* const kInfer = "/v2/models/m/infer";
const char* const kJson =
    R"({"id":"7","inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}]})";

TEST_F(ServerTest, AnswersAnInferRequestInJson) {
  come_up();
  auto asked = send("POST", kInfer, kJson);
  answer_batch();
  const Answer got = asked.answer();
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.content_type, "application/json");
  EXPECT_EQ(got.body, R"({"model_name":"m","model_version":"1","id":"7","outputs":[{"name":"y",)"
                      R"("datatype":"FP32","shape":[1,2],"data":[5.0,6.0]}]})");
}

TEST_F(ServerTest, ReadsABinaryTensorStraightIntoTheArenaAlignedForTheEngine) {
  come_up();
  const std::string json =
      R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32",)"
      R"("parameters":{"binary_data_size":8}}],"parameters":{"binary_data_output":true}})";
  auto asked = send("POST", kInfer, json + std::string(8, '\1'),
                    {{"Inference-Header-Content-Length", std::to_string(json.size())}});
  EXPECT_EQ(answer_batch().offset % lane::Arena::kAlignment, 0U);
  const Answer got = asked.answer();
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.content_type, "application/octet-stream");
  float values[2];
  std::memcpy(values, got.body.data() + got.body.size() - sizeof values, sizeof values);
  EXPECT_EQ(values[1], 6);
}

TEST_F(ServerTest, ReadsARawRequestAsTheModelsOnlyInput) {
  come_up();
  auto asked =
      send("POST", kInfer, std::string(8, '\1'), {{"Inference-Header-Content-Length", "0"}});
  const lane::TensorRef input = answer_batch();
  EXPECT_EQ(input.shape, tensor::Shape({1, 2}));
  EXPECT_EQ(input.offset % lane::Arena::kAlignment, 0U);
  const Answer got = asked.answer();
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.content_type, "application/octet-stream");
  const Answer wrong =
      ask("POST", kInfer, std::string(7, '\1'), {{"Inference-Header-Content-Length", "0"}});
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.body, R"({"error":"input 'x': a raw request of 7 bytes is not [1,2] of FP32"})");
}

std::string packed(std::string_view body, wire::Encoding encoding) {
  const auto bytes = std::as_bytes(std::span(body));
  std::vector<std::byte> out;
  EXPECT_TRUE(wire::pack({&bytes, 1}, encoding, out));
  return {reinterpret_cast<const char*>(out.data()), out.size()};
}

TEST_F(ServerTest, UnpacksABodyWhoseLengthsAreThoseOfTheUnpackedOne) {
  come_up();
  const std::string json = std::string(200, ' ') +
                           R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32",)"
                           R"("parameters":{"binary_data_size":8}}]})";
  auto asked = send("POST", kInfer, packed(json + std::string(8, '\1'), wire::Encoding::kGzip),
                    {{"Inference-Header-Content-Length", std::to_string(json.size())},
                     {"Content-Encoding", "gzip"}});
  EXPECT_EQ(answer_batch().offset % lane::Arena::kAlignment, 0U);
  EXPECT_EQ(asked.answer().status, 200);
  auto in_json =
      send("POST", kInfer, packed(std::string(200, ' ') + kJson, wire::Encoding::kDeflate),
           {{"Content-Encoding", "deflate"}});
  answer_batch(2);
  EXPECT_EQ(in_json.answer().status, 200);
}

TEST_F(ServerTest, RefusesWhatItCannotUnpack) {
  come_up();
  EXPECT_EQ(ask("POST", kInfer, kJson, {{"Content-Encoding", "gzip"}}).status, 400);
  EXPECT_EQ(ask("POST", kInfer, kJson, {{"Content-Encoding", "br"}}).status, 501);
  const std::string bomb = packed(std::string((64 << 20) + 1, ' '), wire::Encoding::kGzip);
  EXPECT_EQ(ask("POST", kInfer, bomb, {{"Content-Encoding", "gzip"}}).status, 413);
  const std::string metrics = ask("GET", "/metrics").body;
  EXPECT_NE(metrics.find("corelane_requests_total{model=\"m\",code=\"413\"} 1"), std::string::npos);
}

TEST_F(ServerTest, LeavesASmallAnswerAsItIs) {
  come_up();
  auto asked = send("POST", kInfer, kJson, {{"Accept-Encoding", "gzip"}});
  answer_batch();
  EXPECT_EQ(asked.answer().encoding, "");
}

TEST_F(ServerTest, PacksALargeAnswerForAClientThatTakesIt) {
  come_up();
  const std::string long_id(5000, 'i');
  std::string json = kJson;
  json.replace(json.find(R"("7")"), 3, '"' + long_id + '"');
  auto asked = send("POST", kInfer, json, {{"Accept-Encoding", "br, deflate;q=0.5"}});
  answer_batch();
  const Answer got = asked.answer();
  EXPECT_EQ(got.encoding, "deflate");
  std::vector<std::byte> body;
  ASSERT_TRUE(
      wire::unpack(std::as_bytes(std::span(got.body)), wire::Encoding::kDeflate, 1 << 20, body));
  const std::string_view text(reinterpret_cast<const char*>(body.data()), body.size());
  EXPECT_NE(text.find(long_id), std::string_view::npos);
  EXPECT_LT(got.body.size(), 1000U);
}

TEST_F(ServerTest, TurnsAnOutputIntoClasses) {
  come_up();
  std::string json = kJson;
  json.insert(json.size() - 1, R"(,"outputs":[{"name":"y","parameters":{"classification":1}}])");
  auto asked = send("POST", kInfer, json);
  answer_batch();
  const Answer got = asked.answer();
  EXPECT_EQ(got.status, 200);
  EXPECT_NE(got.body.find(R"("datatype":"BYTES","shape":[1,1],"data":["6:1"])"), std::string::npos)
      << got.body;
}

TEST_F(ServerTest, HonoursEveryParameterOrRefusesIt) {
  come_up();
  for (const char* parameter : {R"("priority":1)", R"("sequence_id":1)", R"("sequence_start":true)",
                                R"("headers":{})", R"("triton_x":1)"}) {
    std::string json = kJson;
    json.insert(json.size() - 1, R"(,"parameters":{)" + std::string(parameter) + "}");
    const Answer got = ask("POST", kInfer, json);
    EXPECT_TRUE(got.status == 400 || got.status == 501) << parameter << got.body;
  }
}

TEST_F(ServerTest, TellsItsStatistics) {
  come_up();
  auto asked = send("POST", kInfer, kJson);
  answer_batch();
  EXPECT_EQ(asked.answer().status, 200);
  const Answer one = ask("GET", "/v2/models/m/versions/1/stats");
  EXPECT_NE(one.body.find(R"("inference_count":1,"execution_count":1)"), std::string::npos);
  EXPECT_EQ(ask("GET", "/v2/models/stats").body, one.body);
  EXPECT_EQ(ask("GET", "/v2/models/n/stats").status, 404);
  EXPECT_EQ(ask("GET", "/v2/models/m/versions/2/stats").status, 404);
}

TEST_F(ServerTest, SaysWhichMethodAPathHas) {
  EXPECT_EQ(ask("DELETE", "/v2/models/m").allow, "GET");
  EXPECT_EQ(ask("GET", kInfer).allow, "POST");
  EXPECT_EQ(ask("POST", "/v2/openapi.json").status, 405);
}

TEST_F(ServerTest, TellsTheTruthAboutReadiness) {
  EXPECT_EQ(ask("GET", "/v2/health/live").status, 200);
  EXPECT_EQ(ask("GET", "/v2/health/ready").status, 400);
  const Answer not_ready = ask("GET", "/v2/models/m/ready");
  EXPECT_EQ(not_ready.status, 400);
  EXPECT_EQ(not_ready.body, R"({"error":"m@1 is not ready: lane cpu:0: starting"})");
  EXPECT_EQ(ask("POST", kInfer, kJson).status, 503);
  come_up();
  EXPECT_EQ(ask("GET", "/v2/health/ready").status, 200);
  EXPECT_EQ(ask("GET", "/v2/models/m/versions/1/ready").status, 200);
  EXPECT_EQ(ask("GET", "/v2/models/n/ready").status, 404);
}

TEST_F(ServerTest, DescribesItselfAndItsModels) {
  EXPECT_NE(ask("GET", "/v2").body.find(R"("name":"corelane")"), std::string::npos);
  EXPECT_EQ(ask("GET", "/v2/models/m").body,
            R"({"name":"m","versions":["1"],"platform":"probe",)"
            R"("inputs":[{"name":"x","datatype":"FP32","shape":[-1,2]}],)"
            R"("outputs":[{"name":"y","datatype":"FP32","shape":[-1,2]}]})");
}

TEST_F(ServerTest, NamesWhatIsWrongAndCountsIt) {
  come_up();
  EXPECT_EQ(ask("POST", kInfer, "{").status, 400);
  EXPECT_EQ(ask("POST", kInfer, R"({"inputs":[]})").status, 400);
  EXPECT_EQ(ask("POST", kInfer, "{}", {{"Inference-Header-Content-Length", "9"}}).status, 400);
  EXPECT_EQ(ask("POST", "/v2/models/other/infer", kJson).status, 404);
  EXPECT_EQ(ask("GET", kInfer).status, 405);
  EXPECT_EQ(ask("GET", "/nowhere").status, 404);
  const std::string metrics = ask("GET", "/metrics").body;
  EXPECT_NE(metrics.find("corelane_requests_total{model=\"m\",code=\"400\"} 3"), std::string::npos);
  EXPECT_NE(metrics.find("corelane_requests_total{model=\"\",code=\"404\"} 1"), std::string::npos);
}

TEST_F(ServerTest, SaysWhenToComeBackWhereTheQueueIsFull) {
  come_up();
  auto running = send("POST", kInfer, kJson);
  while (pool_.fake(0).dispatched().empty()) std::this_thread::yield();
  auto waiting = send("POST", kInfer, kJson);
  while (service_->stats().versions[0].waiting == 0) std::this_thread::yield();
  const Answer refused = ask("POST", kInfer, kJson);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.retry_after, "1");
  EXPECT_NE(refused.body.find("m@1: queue full (1 waiting)"), std::string::npos);
  answer_batch(1);
  answer_batch(2);
  EXPECT_EQ(running.answer().status, 200);
  EXPECT_EQ(waiting.answer().status, 200);
}

TEST_F(ServerTest, AnswersWhatHadBegunBeforeItEnds) {
  come_up();
  auto asked = send("POST", kInfer, kJson);
  while (pool_.fake(0).dispatched().empty()) std::this_thread::yield();
  bool in_time = false;
  std::jthread drain([&](const std::stop_token&) { in_time = server_->drain(kLong); });
  answer_batch();
  EXPECT_EQ(asked.answer().status, 200);
  drain.join();
  EXPECT_TRUE(in_time);
  EXPECT_FALSE(net::HttpClient::connect({.port = server_->port()}));
}

}  // namespace
}  // namespace corelane::serve
