#include "net/http_server.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/guarded.h"
#include "base/result.h"
#include "net/connection_set.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/listener.h"

namespace corelane::net {
namespace {

constexpr std::size_t kAcceptsInARow = 64;
constexpr std::size_t kRefusedAtOnce = 64;  // connections over the limit that are told so

/// Runs `work` on the loop's thread and waits for it. Not from that thread.
void run_on(EventLoop& loop, const std::function<void()>& work) {
  check(!loop.in_thread(), "a net thread does not wait for itself");
  Guarded<bool> done(false);
  loop.post([&] {
    work();
    done.with([&](bool& value) {
      value = true;
      done.notify_all();  // under the lock: once it is free, `done` may be gone
    });
  });
  done.when([](bool value) { return value; }, [](bool) {});
}

class Server final : public HttpServer, private Watcher {
 public:
  Server(const HttpServerOptions& options, Handler& handler, NetThreads& threads, Listener listener)
      : options_(options), port_(listener.port()), listener_(std::move(listener)) {
    const auto loops = threads.loops();
    for (std::size_t i = 0; i < loops.size(); ++i) {
      sets_.push_back(std::make_unique<ConnectionSet>(options_, handler, *loops[i], i, counts_));
    }
  }

  ~Server() override {
    stop_accepting();
    on_each([](ConnectionSet& set) { set.close_all(); });
    wait_for([](const ConnectionCounts& counts) { return counts.alive == 0; });
    on_each([](ConnectionSet& set) { set.stop(); });
  }

  Status begin() {
    on_each([](ConnectionSet& set) { set.start(); });
    Status watched;
    run_on(acceptor(), [&] {
      watched = acceptor().watch(listener_->fd(), *this);
      retry_ = acceptor().every(std::chrono::milliseconds(100), [this] { accept_again(); });
    });
    return watched;
  }

  std::uint16_t port() const override { return port_; }
  bool drain(Nanos limit) override;

 private:
  EventLoop& acceptor() const { return sets_.front()->loop(); }

  void on_each(const std::function<void(ConnectionSet&)>& act) {
    for (const auto& set : sets_) run_on(set->loop(), [&] { act(*set); });
  }

  template <typename Ready>
  void wait_for(Ready&& ready) {
    counts_.when(ready, [](const ConnectionCounts&) {});
  }

  void ready(const Readiness& /*readiness*/) override { accept_some(); }
  bool accept_some();
  void accept_again();
  void hand_over(int socket);
  void stop_accepting();

  HttpServerOptions options_;
  std::uint16_t port_;
  Guarded<ConnectionCounts> counts_;
  std::vector<std::unique_ptr<ConnectionSet>> sets_;

  // Confined to the first loop.
  std::optional<Listener> listener_;
  bool out_of_descriptors_ = false;
  std::uint64_t retry_ = 0;
};

/// False when nobody waits any more.
bool Server::accept_some() {
  for (std::size_t i = 0; i < kAcceptsInARow; ++i) {
    const int socket = listener_->accept();
    if (socket >= 0) {
      hand_over(socket);
    } else if (socket == -EMFILE || socket == -ENFILE || socket == -ENOMEM || socket == -ENOBUFS) {
      out_of_descriptors_ = true;  // the listener would be ready again and again
      acceptor().want(listener_->fd(), *this, {});
      return false;
    } else if (socket == -EAGAIN) {
      return false;
    }
  }
  return true;
}

void Server::accept_again() {
  if (!listener_ || !std::exchange(out_of_descriptors_, false)) return;
  acceptor().want(listener_->fd(), *this, {.readable = true});
}

void Server::hand_over(int socket) {
  const std::size_t open = counts_.with([](ConnectionCounts& counts) {
    ++counts.alive;
    return ++counts.open;
  });
  const bool refused = open > options_.max_connections;
  if (open > options_.max_connections + kRefusedAtOnce) {
    ::close(socket);
    counts_.with([](ConnectionCounts& counts) {
      --counts.alive;
      --counts.open;
    });
    return;
  }
  ConnectionSet& set =
      **std::min_element(sets_.begin(), sets_.end(),
                         [](const auto& a, const auto& b) { return a->load() < b->load(); });
  set.expect_one();
  if (set.loop().in_thread()) {
    set.add(socket, refused);
  } else {
    set.loop().post([&set, socket, refused] { set.add(socket, refused); });
  }
}

void Server::stop_accepting() {
  run_on(acceptor(), [this] {
    if (!listener_) return;
    while (accept_some()) {
    }  // whoever is connected already is served
    acceptor().unwatch(listener_->fd(), *this);
    acceptor().cancel(retry_);
    listener_.reset();
  });
}

bool Server::drain(Nanos limit) {
  stop_accepting();
  on_each([](ConnectionSet& set) { set.drain(); });
  const Nanos grace = std::min<Nanos>(limit / 4, std::chrono::milliseconds(500));
  Guarded<bool> in_time(true);
  std::uint64_t idle_tick = 0;
  std::uint64_t limit_tick = 0;
  run_on(acceptor(), [&] {
    // Idle clients get a moment in which the request they are just sending is still served.
    idle_tick = acceptor().every(grace, [this] {
      for (const auto& set : sets_) set->loop().post([&set] { set->close_idle(); });
    });
    limit_tick = acceptor().every(limit, [&] {
      in_time.with([](bool& value) { value = false; });
      for (const auto& set : sets_) set->loop().post([&set] { set->close_all(); });
    });
  });
  wait_for([](const ConnectionCounts& counts) { return counts.open == 0; });
  run_on(acceptor(), [&] {
    acceptor().cancel(idle_tick);
    acceptor().cancel(limit_tick);
  });
  return in_time.with([](bool value) { return value; });
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options,
                                                      Handler& handler, NetThreads& threads) {
  auto listener = Listener::open(options.address, options.port);
  if (!listener) return listener.error();
  auto server = std::make_unique<Server>(options, handler, threads, std::move(*listener));
  if (Status begun = server->begin(); !begun) return begun.error();
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace corelane::net
