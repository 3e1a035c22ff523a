#include "lane/supervisor.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <deque>
#include <memory>
#include <stop_token>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "lane/lane.h"
#include "lane/shared_memory.h"
#include "lane/worker_keeper.h"

namespace corelane::lane {
namespace {

constexpr Nanos kTimeToEnd = std::chrono::seconds(2);

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

/// Sleeps until a descriptor is readable or `until` has come. Negative descriptors never are.
void sleep_until_ready(std::vector<pollfd>& waits, Nanos now, Nanos until) {
  constexpr Nanos kLongest = std::chrono::hours(1);
  const Nanos time = std::clamp(until - now, Nanos::zero(), kLongest);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
  ppoll(waits.data(), waits.size(), &limit, nullptr);
}

}  // namespace

Supervisor::Supervisor(std::vector<std::unique_ptr<WorkerKeeper>> keepers, FileDescriptor wake,
                       const Clock& clock)
    : keepers_(std::move(keepers)),
      wake_(std::move(wake)),
      clock_(clock),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Supervisor::~Supervisor() {
  thread_.request_stop();
  eventfd_write(wake_.get(), 1);
}

void Supervisor::ask(Work work) {
  work_.with([&](std::deque<Work>& queue) { queue.push_back(std::move(work)); });
  eventfd_write(wake_.get(), 1);
}

void Supervisor::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    do_work();
    for (const auto& keeper : keepers_) {
      keeper->look(clock_.now());
    }
    wait(stop);
  }
  stop_all();
}

void Supervisor::do_work() {
  auto queue = work_.with([](std::deque<Work>& waiting) { return std::exchange(waiting, {}); });
  const auto keeper = [&](LaneId id) -> WorkerKeeper& {
    return *keepers_.at(static_cast<std::size_t>(id));
  };
  for (const Work& work : queue) {
    std::visit(
        Overloaded{[&](const Load& load) {
                     for (const LaneId lane : load.on) {
                       keeper(lane).load(load.slot, load.spec);
                     }
                   },
                   [&](const Unload& unload) {
                     for (const auto& each : keepers_) {
                       each->unload(unload.slot);
                     }
                   },
                   [&](const Restart& restart) { keeper(restart.lane).kill(restart.reason); }},
        work);
  }
}

void Supervisor::wait(const std::stop_token& stop) {
  std::vector<pollfd> waits{{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
  const Nanos now = clock_.now();
  Nanos due = Nanos::max();
  for (const auto& keeper : keepers_) {
    waits.push_back({.fd = keeper->pidfd(), .events = POLLIN, .revents = 0});
    waits.push_back({.fd = keeper->control_fd(), .events = POLLIN, .revents = 0});
    due = std::min(due, keeper->due(now));
  }
  if (!stop.stop_requested()) {
    sleep_until_ready(waits, clock_.now(), due);
  }
  eventfd_t count = 0;
  eventfd_read(wake_.get(), &count);
}

void Supervisor::stop_all() {
  for (const auto& keeper : keepers_) {
    keeper->stop();
  }
  const Nanos deadline = clock_.now() + kTimeToEnd;
  bool killed = false;
  for (;;) {
    std::vector<pollfd> waits;
    for (const auto& keeper : keepers_) {
      if (!keeper->gone()) {
        waits.push_back({.fd = keeper->pidfd(), .events = POLLIN, .revents = 0});
      }
    }
    if (waits.empty()) {
      return;
    }
    const Nanos now = clock_.now();
    if (now >= deadline && !killed) {
      killed = true;
      for (const auto& keeper : keepers_) {
        keeper->kill("did not end when asked");
      }
    }
    sleep_until_ready(waits, now, killed ? Nanos::max() : deadline);
  }
}

}  // namespace corelane::lane
