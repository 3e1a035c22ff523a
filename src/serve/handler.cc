#include "serve/handler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/arena.h"
#include "model/manifest.h"
#include "net/http.h"
#include "serve/answers.h"
#include "serve/describe.h"
#include "serve/infer_call.h"
#include "serve/metrics.h"
#include "serve/openapi.h"
#include "serve/repository_routes.h"
#include "serve/route.h"
#include "service/service.h"
#include "wire/compression.h"
#include "wire/http_status.h"
#include "wire/v2_infer.h"
#include "wire/v2_model.h"
#include "wire/v2_response.h"

namespace corelane::serve {
namespace {

constexpr std::string_view kJsonLength = "Inference-Header-Content-Length";
constexpr std::string_view kContentEncoding = "Content-Encoding";

/// Those of the protocol that are served in full.
std::vector<std::string> extensions(bool with_repository) {
  std::vector<std::string> names{"binary_tensor_data", "classification", "model_configuration"};
  if (with_repository) {
    names.insert(names.end(), {"model_repository", "model_repository(unload_dependents)"});
  }
  names.emplace_back("statistics");
  return names;
}

net::Refusal refusal_of(const Error& error) {
  const int status = wire::http_status(error.code);
  return {.status = status, .message = error.message, .retry_after = status == 503 ? "1" : ""};
}

/// The shape that a raw request for this version has; -1: varies.
Result<std::vector<std::int64_t>> raw_dims(const model::Manifest& manifest) {
  if (manifest.inputs.size() != 1) {
    return invalid_argument(fmt::format(
        "a raw request (Inference-Header-Content-Length: 0) is one input's bytes, but {}@{} has {} "
        "inputs",
        manifest.name, manifest.version, manifest.inputs.size()));
  }
  std::vector<std::int64_t> dims;
  for (const model::Dim& dim : manifest.inputs.front().shape) {
    const auto* size = std::get_if<std::int64_t>(&dim);
    const bool batch = dims.empty() && model::max_batch(manifest) > 0;
    dims.push_back(size != nullptr ? *size : batch ? 1 : -1);
  }
  return dims;
}

}  // namespace

Handler::Handler(service::Service& service, lane::Arena& arena, const Clock& clock,
                 HttpCounters& counters, ModelKeeper* keeper, std::size_t net_threads)
    : service_(service),
      arena_(arena),
      clock_(clock),
      counters_(counters),
      keeper_(keeper),
      calls_(arena, counters_),
      parsers_(net_threads) {}

net::Placement Handler::place(const net::RequestView& head, std::uint64_t length) {
  const RouteView route = parse_route(head.path);
  if (route.resource != Resource::kInfer || head.method != "POST") return net::BodyPlace{};
  InferCall& call = calls_.take();
  const auto header = head.header(kJsonLength);
  if (!header || head.header(kContentEncoding)) {
    return net::BodyPlace{.memory = {}, .context = &call};
  }
  auto json_length = wire::parse_json_length(*header, length);
  auto memory = json_length ? call.place(*json_length, length)
                            : Result<std::span<std::byte>>(json_length.error());
  if (!memory) {
    calls_.give_back(call);
    net::Refusal refusal = refusal_of(memory.error());
    counters_.add(route.model, refusal.status);
    return refusal;
  }
  return net::BodyPlace{.memory = *memory, .context = &call};
}

void Handler::drop(net::RequestContext* context) {
  if (context != nullptr) calls_.give_back(static_cast<InferCall&>(*context));
}

void Handler::serve(const net::RequestView& request, net::RequestContext* context,
                    net::Exchange exchange) {
  const RouteView route = parse_route(request.path);
  if (context != nullptr) {
    serve_infer(request, route, static_cast<InferCall&>(*context), std::move(exchange));
    return;
  }
  const std::string_view method = request.method == "HEAD" ? "GET" : request.method;
  if (route.resource != Resource::kNone && method != method_of(route.resource)) {
    return answer_wrong_method(exchange, method_of(route.resource));
  }
  switch (route.resource) {
    case Resource::kLive:
      return answer_text(exchange, 200, "", "");
    case Resource::kReady:
      return serve_ready(exchange);
    case Resource::kServer:
      return answer_json(
          exchange, wire::write_server_metadata({.name = "corelane",
                                                 .version = CORELANE_VERSION,
                                                 .extensions = extensions(keeper_ != nullptr)}));
    case Resource::kOpenApi:
      return answer_json(exchange, openapi_json());
    case Resource::kModel:
    case Resource::kConfig:
      return serve_model(route, exchange);
    case Resource::kStats:
      return serve_stats(route, exchange);
    case Resource::kModelReady:
      return serve_model_ready(route, exchange);
    case Resource::kMetrics:
      return serve_metrics(exchange);
    case Resource::kIndex:
    case Resource::kLoad:
    case Resource::kUnload:
      if (keeper_ == nullptr) {
        answer_error(exchange, not_found("what is served cannot be changed here"));
        return;
      }
      return serve_repository(request, route, *keeper_, std::move(exchange));
    case Resource::kInfer:
    case Resource::kNone:
      answer_error(exchange, not_found(fmt::format("nothing at '{}'; see /v2", request.path)));
  }
}

void Handler::serve_infer(const net::RequestView& request, const RouteView& route, InferCall& call,
                          net::Exchange exchange) {
  const auto accepted = request.header("Accept-Encoding");
  call.expect_answer(std::move(exchange),
                     accepted ? wire::choose_encoding(*accepted) : wire::Encoding::kIdentity);
  std::span<const std::byte> body = request.body;
  if (const auto coding = request.header(kContentEncoding)) {
    const auto unpacked = unpack(*coding, request, route, call);
    if (!unpacked) return;
    body = *unpacked;
  }
  auto parsed = parse(request, body, route, call);
  if (!parsed) return call.refuse(route.model, parsed.error());
  auto asked = call.make_request(*parsed, route.model, route.version, clock_.now());
  if (!asked) return call.refuse(route.model, asked.error());
  service_.submit(*std::move(asked), call);
}

/// The body without its content coding; nullopt: refused.
std::optional<std::span<const std::byte>> Handler::unpack(std::string_view coding,
                                                          const net::RequestView& request,
                                                          const RouteView& route, InferCall& call) {
  const auto encoding = wire::encoding_from_name(coding);
  if (!encoding) {
    static constexpr net::HeaderView kServed{.name = "Accept-Encoding", .value = "gzip, deflate"};
    refuse(call, route, 501,
           fmt::format("Content-Encoding '{}' is not served; gzip and deflate are",
                       coding.substr(0, 80)),
           {&kServed, 1});
    return std::nullopt;
  }
  const auto body = call.unpack_body(request.body, *encoding);
  if (body) return *body;
  const bool too_large = body.error().code == ErrorCode::kResourceExhausted;
  refuse(call, route, too_large ? 413 : 400, body.error().message, {});
  return std::nullopt;
}

void Handler::refuse(InferCall& call, const RouteView& route, int status, std::string_view message,
                     std::span<const net::HeaderView> headers) {
  const std::string body = wire::error_body(message);
  const std::span<const std::byte> piece = std::as_bytes(std::span(body));
  call.refuse(route.model, {.status = status, .headers = headers, .body = {&piece, 1}});
}

Result<wire::InferRequestView> Handler::parse(const net::RequestView& request,
                                              std::span<const std::byte> body,
                                              const RouteView& route, InferCall& call) {
  wire::InferParser& parser = parsers_[request.thread];
  const auto header = request.header(kJsonLength);
  if (!header) return parser.parse(body, std::nullopt, call);
  const auto json_length = wire::parse_json_length(*header, body.size());
  if (!json_length) return json_length.error();
  if (body.data() != request.body.data()) {  // unpacked: its tensors are not in the arena yet
    auto placed = call.place(*json_length, body.size());
    if (!placed) return placed.error();
    std::copy(body.begin(), body.end(), placed->begin());
    body = *placed;
  }
  if (*json_length > 0) return parser.parse(body, *json_length, call);
  const auto manifest = service_.find(route.model, route.version);
  if (!manifest) return manifest.error();
  const auto dims = raw_dims(**manifest);
  if (!dims) return dims.error();
  const model::TensorSpec& input = (*manifest)->inputs.front();
  return parser.parse_raw(body, {.name = input.name, .dtype = input.type, .dims = *dims}, call);
}

void Handler::serve_ready(net::Exchange& exchange) {
  if (ending_.load()) {
    answer_error(exchange, unavailable("the server is shutting down"));
    return;
  }
  answer_text(exchange, service_.ready() ? 200 : 400, "", "");
}

void Handler::serve_model(const RouteView& route, net::Exchange& exchange) {
  const auto manifest = service_.find(route.model, route.version);
  if (!manifest) {
    answer_error(exchange, manifest.error());
    return;
  }
  const auto models = service_.models();
  answer_json(exchange, route.resource == Resource::kConfig
                            ? wire::write_model_config(describe_config(**manifest, models))
                            : wire::write_model_metadata(describe_metadata(**manifest, models)));
}

void Handler::serve_stats(const RouteView& route, net::Exchange& exchange) {
  std::optional<std::int64_t> version;
  if (!route.model.empty()) {
    const auto manifest = service_.find(route.model, route.version);
    if (!manifest) {
      answer_error(exchange, manifest.error());
      return;
    }
    if (!route.version.empty()) version = (*manifest)->version;
  }
  const Nanos boot = clock_.since_epoch() - clock_.now();
  answer_json(exchange, wire::write_model_statistics(
                            describe_statistics(service_.stats(), route.model, version, boot)));
}

void Handler::serve_model_ready(const RouteView& route, net::Exchange& exchange) {
  const auto manifest = service_.find(route.model, route.version);
  if (!manifest) {
    answer_error(exchange, manifest.error());
    return;
  }
  for (const service::ServedModel& model : service_.models()) {
    if (model.name != (*manifest)->name || model.version != (*manifest)->version) continue;
    if (model.ready) return answer_text(exchange, 200, "", "");
    answer_error(exchange, invalid_argument(fmt::format("{}@{} is not ready: {}", model.name,
                                                        model.version, model.reason)));
    return;
  }
  answer_error(exchange, not_found(fmt::format("model '{}' is no longer served", route.model)));
}

void Handler::serve_metrics(net::Exchange& exchange) {
  const std::string text = render_metrics({.service = service_.stats(),
                                           .models = service_.models(),
                                           .answers = counters_.counts(),
                                           .arena_in_use = arena_.in_use(),
                                           .arena_capacity = arena_.capacity()});
  answer_text(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", text);
}

}  // namespace corelane::serve
