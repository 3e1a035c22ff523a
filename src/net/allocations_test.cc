// Counts this program's allocations: serving small requests must not add to them once warm.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/testing/allocations/count.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "wire/v2_infer.h"
#include "wire/v2_response.h"

namespace corelane::net {
namespace {

/// Parses a v2 request into memory of its own and answers with its input as output. Remembers how
/// many allocations its net thread had made at each of two requests.
class CountingModel final : public Handler, private wire::DecodeMemory {
 public:
  static constexpr int kFirst = 200;
  static constexpr int kLast = 2000;

  Placement place(const RequestView& /*head*/, std::uint64_t length) override {
    return BodyPlace{.memory = std::span(body_).first(length)};
  }
  void drop(RequestContext* /*context*/) override {}

  void serve(const RequestView& request, RequestContext* /*context*/, Exchange exchange) override {
    ++requests_;
    if (requests_ == kFirst) before_ = allocations_of_thread();
    if (requests_ == kLast) after_ = allocations_of_thread();
    const auto length = wire::parse_json_length(
        request.header("Inference-Header-Content-Length").value_or(""), request.body.size());
    const auto parsed = parser_.parse(request.body, *length, *this);
    const auto& input = parsed->inputs[0];
    const wire::ResponseOutputView output{
        .name = "OUTPUT0",
        .tensor = {.dtype = input.dtype, .shape = input.shape, .bytes = input.data},
        .binary = true};
    const auto written =
        writer_.write({.model_name = "m", .id = parsed->id, .outputs = {&output, 1}});
    const HeaderView header{.name = "Inference-Header-Content-Length", .value = "1"};
    exchange.answer({.headers = {&header, 1}, .body = written->pieces});
  }

  std::int64_t allocations() const { return after_ - before_; }

 private:
  Result<std::span<std::byte>> allocate(std::size_t size) override {
    return std::span(decoded_).first(size);
  }

  std::array<std::byte, 4096> body_{};
  std::array<std::byte, 4096> decoded_{};
  wire::InferParser parser_;
  wire::InferResponseWriter writer_;
  int requests_ = 0;
  std::int64_t before_ = 0;
  std::atomic<std::int64_t> after_ = -1;
};

TEST(HttpAllocations, StopOnceTheConnectionIsWarm) {
  const SystemClock clock;
  CountingModel model;
  const auto threads = *NetThreads::start(1, clock);
  const auto server = *HttpServer::start({}, model, *threads);
  const auto client = *HttpClient::connect({.port = server->port()});
  const std::string json =
      R"({"id":"1","inputs":[{"name":"INPUT0","shape":[1,4],"datatype":"FP32","parameters":)"
      R"({"binary_data_size":16}},{"name":"INPUT1","shape":[2],"datatype":"FP32","data":[1,2]}],)"
      R"("outputs":[{"name":"OUTPUT0"}]})";
  const std::string body = json + std::string(16, '\1');
  const std::array<PreparedRequest::Header, 1> headers{
      {{"Inference-Header-Content-Length", std::to_string(json.size())}}};
  const PreparedRequest request("POST", "/v2/models/m/infer", headers,
                                std::as_bytes(std::span(body)));
  for (int i = 0; i < CountingModel::kLast; ++i) {
    const auto response = client->exchange(request);
    ASSERT_TRUE(response) << response.error().message;
    ASSERT_EQ(response->status, 200);
  }
  EXPECT_EQ(model.allocations(), 0);
}

}  // namespace
}  // namespace corelane::net
