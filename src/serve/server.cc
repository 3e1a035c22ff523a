#include "serve/server.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "serve/grpc_server.h"
#include "serve/handler.h"
#include "serve/http_counters.h"

namespace corelane::serve {
namespace {

/// Drives one lane from a net thread.
class LaneWatcher final : public net::Watcher {
 public:
  LaneWatcher(service::Service& service, lane::Lane& lane, net::EventLoop& loop)
      : service_(service), lane_(lane), loop_(loop) {}

  void ready(const net::Readiness&) override { service_.drive(lane_.info().id); }
  lane::Lane& lane() { return lane_; }
  net::EventLoop& loop() { return loop_; }

 private:
  service::Service& service_;
  lane::Lane& lane_;
  net::EventLoop& loop_;
};

std::vector<std::string> names_of(const std::vector<service::ServedModel>& models) {
  std::vector<std::string> names;
  names.reserve(models.size());
  for (const service::ServedModel& model : models) names.push_back(model.name);
  return names;
}

constexpr Nanos kDeadlineTick = std::chrono::milliseconds(5);

class Front final : public Server {
 public:
  Front(service::Service& service, lane::LanePool& pool, const Clock& clock, ModelKeeper* keeper,
        std::unique_ptr<net::NetThreads> threads)
      : service_(service),
        threads_(std::move(threads)),
        arena_(pool.arena()),
        clock_(clock),
        counters_(names_of(service.models())),
        handler_(service, arena_, clock, counters_, keeper, threads_->loops().size()) {
    std::size_t next = 0;
    for (lane::Lane* lane : pool.lanes()) {
      net::EventLoop& loop = *threads_->loops()[next++ % threads_->loops().size()];
      watchers_.push_back(std::make_unique<LaneWatcher>(service, *lane, loop));
    }
  }

  ~Front() override {
    grpc_.reset();
    http_.reset();
    threads_->stop();
    for (const auto& watcher : watchers_) {
      watcher->loop().unwatch(watcher->lane().event_fd(), *watcher);
    }
  }
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  Status listen(const ServerOptions& options) {
    for (const auto& watcher : watchers_) {
      watcher->loop().post([&watched = *watcher] {
        const Status status = watched.loop().watch(watched.lane().event_fd(), watched);
        check(status.has_value(), "the kernel watches a lane's descriptor");
        watched.ready({});  // what came before
      });
    }
    net::EventLoop& first = *threads_->loops().front();
    first.post([&first, &service = service_] {
      first.every(kDeadlineTick, [&service] { service.expire(); });
    });
    auto http = net::HttpServer::start({.address = options.address, .port = options.port}, handler_,
                                       *threads_);
    if (!http) return std::move(http).error();
    http_ = *std::move(http);
    if (!options.grpc) return {};
    auto grpc = GrpcServer::start(service_, arena_, clock_, counters_, *options.grpc);
    if (!grpc) return std::move(grpc).error();
    grpc_ = *std::move(grpc);
    return {};
  }

  std::uint16_t port() const override { return http_->port(); }
  std::optional<std::uint16_t> grpc_port() const override {
    return grpc_ ? std::optional(grpc_->port()) : std::nullopt;
  }

  bool drain(Nanos limit) override {
    handler_.announce_end();
    bool grpc_ended = true;
    std::jthread grpc([&] { grpc_ended = !grpc_ || grpc_->drain(limit); });
    const bool http_ended = http_->drain(limit);
    grpc.join();
    return grpc_ended && http_ended;
  }

 private:
  service::Service& service_;
  std::unique_ptr<net::NetThreads> threads_;
  lane::Arena& arena_;
  const Clock& clock_;
  HttpCounters counters_;
  Handler handler_;
  std::vector<std::unique_ptr<LaneWatcher>> watchers_;
  std::unique_ptr<net::HttpServer> http_;
  std::unique_ptr<GrpcServer> grpc_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(service::Service& service, lane::LanePool& pool,
                                              const Clock& clock, const ServerOptions& options) {
  auto threads = net::NetThreads::start(options.net_threads, clock);
  if (!threads) return std::move(threads).error();
  auto server = std::make_unique<Front>(service, pool, clock, options.keeper, *std::move(threads));
  if (auto status = server->listen(options); !status) return std::move(status).error();
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace corelane::serve
