// What the HTTP layer alone costs: a server that answers an infer-sized request by its own bytes,
// without lanes.
//   http_null [PORT] [THREADS]     serves until killed, prints its port; drive it with any HTTP
//   load http_null --load CONNECTIONS SECONDS     drives itself and prints requests per second and
//   CPU per request
#include <sys/resource.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "wire/v2_infer.h"
#include "wire/v2_response.h"

namespace corelane {
namespace {

using net::BodyPlace;
using net::Exchange;
using net::HeaderView;
using net::Placement;
using net::RequestContext;
using net::RequestView;

class NoMemory final : public wire::DecodeMemory {
 public:
  Result<std::span<std::byte>> allocate(std::size_t) override {
    return Error{ErrorCode::kResourceExhausted, "send binary tensors"};
  }
};

/// Parses a v2 request with binary tensors and answers with the inputs as outputs. For one net
/// thread.
class NullModel final : public net::Handler {
 public:
  Placement place(const RequestView& /*head*/, std::uint64_t /*length*/) override {
    return BodyPlace{};
  }
  void drop(RequestContext* /*context*/) override {}
  void serve(const RequestView& request, RequestContext* /*context*/, Exchange exchange) override {
    const auto header = request.header("Inference-Header-Content-Length");
    const auto length = wire::parse_json_length(header.value_or(""), request.body.size());
    if (!length) return fail(exchange, length.error());
    const auto parsed = parser_.parse(request.body, *length, memory_);
    if (!parsed) return fail(exchange, parsed.error());
    outputs_.clear();
    for (const auto& input : parsed->inputs) {
      outputs_.push_back(
          {.name = input.name,
           .tensor = {.dtype = input.dtype, .shape = input.shape, .bytes = input.data},
           .binary = true});
    }
    const auto written =
        writer_.write({.model_name = "null", .id = parsed->id, .outputs = outputs_});
    if (!written) return fail(exchange, written.error());
    const std::string json_length = std::to_string(written->json_length);
    const HeaderView said{.name = "Inference-Header-Content-Length", .value = json_length};
    exchange.answer({.content_type = "application/octet-stream",
                     .headers = {&said, 1},
                     .body = written->pieces});
  }

 private:
  static void fail(Exchange& exchange, const Error& error) {
    const std::string body = wire::error_body(error.message);
    const std::span<const std::byte> piece = std::as_bytes(std::span(body));
    exchange.answer({.status = 400, .body = {&piece, 1}});
  }

  NoMemory memory_;
  wire::InferParser parser_;
  wire::InferResponseWriter writer_;
  std::vector<wire::ResponseOutputView> outputs_;
};

net::PreparedRequest null_request() {
  const std::string json =
      R"({"id":"1","inputs":[{"name":"INPUT0","shape":[1,16],"datatype":"FP32","parameters":)"
      R"({"binary_data_size":64}}],"outputs":[{"name":"OUTPUT0","parameters":{"binary_data":true}}]})";
  std::string body = json + std::string(64, '\1');
  const std::vector<net::PreparedRequest::Header> headers = {
      {"Content-Type", "application/octet-stream"},
      {"Inference-Header-Content-Length", std::to_string(json.size())}};
  return {"POST", "/v2/models/null/infer", headers, std::as_bytes(std::span(body))};
}

double cpu_seconds(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int serve(std::uint16_t port, std::size_t threads_count) {
  const SystemClock clock;
  NullModel model;
  const auto threads = *net::NetThreads::start(threads_count, clock);
  const auto server = net::HttpServer::start({.port = port}, model, *threads);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().message.c_str()), 1;
  std::printf("%u\n", (*server)->port());
  std::fflush(stdout);
  clock.sleep_until(Nanos::max() / 2);
  return 0;
}

int load(std::size_t connections, double seconds) {
  const SystemClock clock;
  NullModel model;
  const auto threads = *net::NetThreads::start(1, clock);
  const auto server = *net::HttpServer::start({}, model, *threads);
  const net::PreparedRequest request = null_request();
  const Nanos until = clock.now() + from_seconds(seconds);
  std::atomic<std::int64_t> done = 0;
  std::vector<std::jthread> clients;
  for (std::size_t i = 0; i < connections; ++i) {
    clients.emplace_back([&] {
      const auto client = *net::HttpClient::connect({.port = server->port()});
      std::int64_t count = 0;
      while (clock.now() < until) {
        const auto response = client->exchange(request);
        if (!response || response->status != 200) std::abort();
        ++count;
      }
      done += count;
    });
  }
  clients.clear();
  const double cpu = cpu_seconds(RUSAGE_SELF);
  std::printf("%zu connections: %.0f requests/s, %.2f us of CPU a request, client included\n",
              connections, static_cast<double>(done) / seconds,
              1e6 * cpu / static_cast<double>(done));
  return 0;
}

}  // namespace
}  // namespace corelane

int main(int count, char** arguments) {
  const std::vector<std::string_view> words(arguments + 1, arguments + count);
  const auto number = [&](std::size_t i, int otherwise) {
    return i < words.size() ? std::atoi(arguments[i + 1]) : otherwise;
  };
  if (!words.empty() && words[0] == "--load") {
    return corelane::load(static_cast<std::size_t>(number(1, 1)), number(2, 2));
  }
  return corelane::serve(static_cast<std::uint16_t>(number(0, 0)),
                         static_cast<std::size_t>(number(1, 1)));
}
