#include "serve/handler.h"

#include <fmt/format.h>

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
#include "lane/arena.h"
#include "model/manifest.h"
#include "net/http.h"
#include "serve/answers.h"
#include "serve/infer_call.h"
#include "serve/metrics.h"
#include "serve/route.h"
#include "service/service.h"
#include "wire/http_status.h"
#include "wire/v2_infer.h"
#include "wire/v2_response.h"

namespace corelane::serve {
namespace {

constexpr std::string_view kJsonLength = "Inference-Header-Content-Length";

std::vector<std::string> names_of(const std::vector<service::ServedModel>& models) {
  std::vector<std::string> names;
  for (const service::ServedModel& model : models) names.push_back(model.name);
  return names;
}

net::Refusal refusal_of(const Error& error) {
  const int status = wire::http_status(error.code);
  return {.status = status, .message = error.message, .retry_after = status == 503 ? "1" : ""};
}

wire::TensorMetadata describe(const model::TensorSpec& spec) {
  wire::TensorMetadata tensor{.name = spec.name, .dtype = spec.type, .shape = {}};
  for (const model::Dim& dim : spec.shape) {
    const auto* size = std::get_if<std::int64_t>(&dim);
    tensor.shape.push_back(size != nullptr ? *size : -1);
  }
  return tensor;
}

}  // namespace

Handler::Handler(service::Service& service, lane::Arena& arena, const Clock& clock,
                 std::size_t net_threads)
    : service_(service),
      arena_(arena),
      clock_(clock),
      counters_(names_of(service.models())),
      calls_(arena, counters_),
      parsers_(net_threads) {}

net::Placement Handler::place(const net::RequestView& head, std::uint64_t length) {
  const RouteView route = parse_route(head.path);
  if (route.resource != Resource::kInfer || head.method != "POST") return net::BodyPlace{};
  InferCall& call = calls_.take();
  const auto header = head.header(kJsonLength);
  if (!header) return net::BodyPlace{.memory = {}, .context = &call};
  auto json_length = wire::parse_json_length(*header, length);
  auto memory = json_length ? call.place_body(*json_length, length)
                            : Result<std::span<std::byte>>(json_length.error());
  if (!memory) {
    calls_.give_back(call);
    const net::Refusal refusal = refusal_of(memory.error());
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
  if (route.resource != Resource::kNone && request.method != method_of(route.resource)) {
    answer_text(exchange, 405, "application/json", wire::error_body("Method Not Allowed"));
    return;
  }
  switch (route.resource) {
    case Resource::kLive:
      return answer_text(exchange, 200, "", "");
    case Resource::kReady:
      return serve_ready(exchange);
    case Resource::kServer:
      return answer_text(exchange, 200, "application/json",
                         wire::write_server_metadata({.name = "corelane",
                                                      .version = CORELANE_VERSION,
                                                      .extensions = {"binary_tensor_data"}}));
    case Resource::kModel:
      return serve_model(route, exchange);
    case Resource::kModelReady:
      return serve_model_ready(route, exchange);
    case Resource::kMetrics:
      return serve_metrics(exchange);
    case Resource::kInfer:
    case Resource::kNone:
      answer_error(exchange, not_found(fmt::format("nothing at '{}'; see /v2", request.path)));
  }
}

void Handler::serve_infer(const net::RequestView& request, const RouteView& route, InferCall& call,
                          net::Exchange exchange) {
  call.expect_answer(std::move(exchange));
  std::optional<std::uint64_t> json_length;
  if (const auto header = request.header(kJsonLength)) {
    auto parsed = wire::parse_json_length(*header, request.body.size());
    if (!parsed) return call.refuse(route.model, parsed.error());
    json_length = *parsed;
  }
  auto parsed = parsers_[request.thread].parse(request.body, json_length, call);
  if (!parsed) return call.refuse(route.model, parsed.error());
  service_.submit(call.make_request(*parsed, route.model, route.version, clock_.now()), call);
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
  wire::ModelMetadata metadata{
      .name = (*manifest)->name, .versions = {}, .platform = {}, .inputs = {}, .outputs = {}};
  for (const service::ServedModel& model : service_.models()) {
    if (model.name != metadata.name) continue;
    metadata.versions.push_back(std::to_string(model.version));
    const auto precision = (*manifest)->precisions.find(model.precision);
    if (model.version == (*manifest)->version && precision != (*manifest)->precisions.end()) {
      metadata.platform = precision->second.engine;
    }
  }
  for (const auto& input : (*manifest)->inputs) metadata.inputs.push_back(describe(input));
  for (const auto& output : (*manifest)->outputs) metadata.outputs.push_back(describe(output));
  answer_text(exchange, 200, "application/json", wire::write_model_metadata(metadata));
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
