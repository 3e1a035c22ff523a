#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "lane/arena.h"
#include "net/http.h"
#include "serve/http_counters.h"
#include "serve/infer_call.h"
#include "serve/model_keeper.h"
#include "serve/route.h"
#include "service/service.h"
#include "wire/v2_infer.h"

namespace corelane::serve {

/// The v2 protocol's REST routes and /metrics, over a service. Bodies with binary tensors are read
/// straight into the arena. Used by the net threads at once; what is borrowed outlives it.
class Handler final : public net::Handler {
 public:
  Handler(service::Service& service, lane::Arena& arena, const Clock& clock, HttpCounters& counters,
          ModelKeeper* keeper, std::size_t net_threads);

  net::Placement place(const net::RequestView& head, std::uint64_t length) override;
  void drop(net::RequestContext* context) override;
  void serve(const net::RequestView& request, net::RequestContext* context,
             net::Exchange exchange) override;

  /// From now on the server says that it is not ready. Thread-safe.
  void announce_end() { ending_.store(true); }

 private:
  void serve_infer(const net::RequestView& request, const RouteView& route, InferCall& call,
                   net::Exchange exchange);
  std::optional<std::span<const std::byte>> unpack(std::string_view coding,
                                                   const net::RequestView& request,
                                                   const RouteView& route, InferCall& call);
  static void refuse(InferCall& call, const RouteView& route, int status, std::string_view message,
                     std::span<const net::HeaderView> headers);
  Result<wire::InferRequestView> parse(const net::RequestView& request,
                                       std::span<const std::byte> body, const RouteView& route,
                                       InferCall& call);
  void serve_ready(net::Exchange& exchange);
  void serve_model(const RouteView& route, net::Exchange& exchange);
  void serve_stats(const RouteView& route, net::Exchange& exchange);
  void serve_model_ready(const RouteView& route, net::Exchange& exchange);
  void serve_metrics(net::Exchange& exchange);

  service::Service& service_;
  lane::Arena& arena_;
  const Clock& clock_;
  HttpCounters& counters_;
  ModelKeeper* keeper_;  // null: what is served cannot be changed
  InferCalls calls_;
  std::atomic<bool> ending_{false};
  std::vector<wire::InferParser> parsers_;  // of each net thread
};

}  // namespace corelane::serve
