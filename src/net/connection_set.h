#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "base/guarded.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/http_connection.h"
#include "net/http_server.h"

namespace corelane::net {

/// How many connections a server has, over all its threads. `open`: with a socket; `alive`: with a
/// socket or an answer still owed.
struct ConnectionCounts {
  std::size_t open = 0;
  std::size_t alive = 0;
};

/// The connections of one net thread. Confined to it, except load().
class ConnectionSet final : public ConnectionOwner {
 public:
  /// All borrowed; `counts` is shared with the other threads' sets.
  ConnectionSet(const HttpServerOptions& options, Handler& handler, EventLoop& loop,
                std::size_t thread, Guarded<ConnectionCounts>& counts);

  /// Begins to check deadlines.
  void start();
  /// Takes over a non-blocking socket; counted already.
  void add(int socket, bool refused);
  /// No connection gets a second request from now on.
  void drain();
  void close_idle();
  void close_all();
  /// Stops checking deadlines; the set may be destroyed once no connection is alive.
  void stop();

  EventLoop& loop() const { return setting_.loop; }
  /// Connections now. Thread-safe.
  std::size_t load() const { return load_.load(std::memory_order_relaxed); }
  /// Counts a connection that add() will bring. Thread-safe.
  void expect_one() { load_.fetch_add(1, std::memory_order_relaxed); }

  void closed(HttpConnection& connection) override;
  void finished(HttpConnection& connection) override;

 private:
  template <typename Do>
  void for_each(Do&& act);

  ConnectionSetting setting_;
  Guarded<ConnectionCounts>& counts_;
  std::unordered_map<HttpConnection*, std::unique_ptr<HttpConnection>> connections_;
  std::atomic<std::size_t> load_ = 0;
  std::uint64_t tick_ = 0;
  bool draining_ = false;
};

}  // namespace corelane::net
