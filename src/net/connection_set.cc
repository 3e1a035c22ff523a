#include "net/connection_set.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/guarded.h"
#include "base/units.h"
#include "net/event_loop.h"
#include "net/http.h"
#include "net/http_connection.h"
#include "net/http_server.h"

namespace corelane::net {
namespace {

/// Deadlines are kept to about a quarter of the shortest.
Nanos tick_period(const HttpServerOptions& options) {
  const Nanos shortest =
      std::min({options.idle_timeout, options.head_timeout, options.transfer_timeout});
  return std::clamp<Nanos>(shortest / 4, std::chrono::milliseconds(10), std::chrono::seconds(1));
}

}  // namespace

ConnectionSet::ConnectionSet(const HttpServerOptions& options, Handler& handler, EventLoop& loop,
                             std::size_t thread, Guarded<ConnectionCounts>& counts)
    : setting_{.options = options,
               .handler = handler,
               .loop = loop,
               .owner = *this,
               .thread = thread},
      counts_(counts) {}

void ConnectionSet::start() {
  tick_ = setting_.loop.every(tick_period(setting_.options), [this] {
    const Nanos now = setting_.loop.now();
    for_each([&](HttpConnection& connection) { connection.check_deadline(now); });
  });
}

void ConnectionSet::stop() { setting_.loop.cancel(tick_); }

template <typename Do>
void ConnectionSet::for_each(Do&& act) {
  // Connections leave the map only after the callback that is running, so it may be walked.
  for (const auto& [address, connection] : connections_) act(*connection);
}

void ConnectionSet::add(int socket, bool refused) {
  auto connection = std::make_unique<HttpConnection>(setting_, socket);
  HttpConnection& added = *connection;
  connections_.emplace(&added, std::move(connection));
  if (draining_) added.close_after_answer();
  if (refused) {
    added.open_refused();
  } else {
    added.open();
  }
}

void ConnectionSet::drain() {
  draining_ = true;
  for_each([](HttpConnection& connection) { connection.close_after_answer(); });
}

void ConnectionSet::close_idle() {
  for_each([](HttpConnection& connection) { connection.close_if_idle(); });
}

void ConnectionSet::close_all() {
  for_each([](HttpConnection& connection) { connection.close_now(); });
}

void ConnectionSet::closed(HttpConnection& /*connection*/) {
  load_.fetch_sub(1, std::memory_order_relaxed);
  counts_.with([](ConnectionCounts& counts) { --counts.open; });
  counts_.notify_all();
}

void ConnectionSet::finished(HttpConnection& connection) {
  setting_.loop.defer([this, &connection] {
    connections_.erase(&connection);
    counts_.with([](ConnectionCounts& counts) { --counts.alive; });
    counts_.notify_all();
  });
}

}  // namespace corelane::net
