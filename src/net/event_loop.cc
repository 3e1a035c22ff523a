#include "net/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/result.h"
#include "base/units.h"

namespace corelane::net {
namespace {

using Work = std::function<void()>;

struct Tick {
  std::uint64_t number;
  Nanos period;
  Nanos next;
  Work work;
};

/// Work from other threads. `wake_sent`: the eventfd has been written and not been read since.
struct Inbox {
  std::vector<Work> work;
  bool wake_sent = false;
  bool ended = false;
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

class EpollLoop final : public EventLoop {
 public:
  EpollLoop(const Clock& clock, int epoll_fd, int wake_fd)
      : clock_(clock), epoll_(epoll_fd), wake_(wake_fd), now_(clock.now()) {}

  Status open() {
    if (epoll_.get() < 0 || wake_.get() < 0) return errno_error("making an event loop", errno);
    return control(EPOLL_CTL_ADD, wake_.get(), EPOLLIN, nullptr);
  }

  Status watch(int fd, Watcher& watcher) override {
    return control(EPOLL_CTL_ADD, fd, EPOLLIN, &watcher);
  }

  void want(int fd, Watcher& watcher, const Readiness& wanted) override {
    const std::uint32_t events =
        (wanted.readable ? EPOLLIN : 0U) | (wanted.writable ? EPOLLOUT : 0U);
    check(control(EPOLL_CTL_MOD, fd, events, &watcher).has_value(), "only what is watched changes");
  }

  void unwatch(int fd, Watcher& watcher) override {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    for (std::size_t i = next_event_; i < events_found_; ++i) {
      if (events_[i].data.ptr == &watcher) events_[i].data.ptr = this;
    }
  }

  void post(Work work) override {
    const bool wake = inbox_.with([&](Inbox& inbox) {
      if (inbox.ended) return false;
      inbox.work.push_back(std::move(work));
      return !std::exchange(inbox.wake_sent, true);
    });
    if (wake) write_wake();
  }

  void defer(Work work) override { deferred_.push_back(std::move(work)); }

  std::uint64_t every(Nanos period, Work work) override {
    ticks_.push_back({.number = ++last_tick_,
                      .period = period,
                      .next = clock_.now() + period,
                      .work = std::move(work)});
    return last_tick_;
  }

  void cancel(std::uint64_t tick) override {
    std::erase_if(ticks_, [&](const Tick& each) { return each.number == tick; });
  }

  Nanos now() const override { return now_; }
  bool in_thread() const override { return thread_.load() == std::this_thread::get_id(); }

  void run() override {
    thread_ = std::this_thread::get_id();
    while (!stopping_.load(std::memory_order_relaxed)) round();
    run_inbox(inbox_.with([](Inbox& inbox) {
      inbox.ended = true;
      return std::exchange(inbox.work, {});
    }));
    run_deferred();
  }

  void stop() override {
    stopping_ = true;
    write_wake();
  }

 private:
  Status control(int operation, int fd, std::uint32_t events, Watcher* watcher) {
    epoll_event event{};
    event.events = events;
    event.data.ptr = watcher;
    if (::epoll_ctl(epoll_.get(), operation, fd, &event) == 0) return {};
    return errno_error("watching a descriptor", errno);
  }

  void write_wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
  }

  void round() {
    const int found =
        ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), patience());
    now_ = clock_.now();
    events_found_ = found > 0 ? static_cast<std::size_t>(found) : 0;
    for (next_event_ = 0; next_event_ < events_found_;) deliver(events_[next_event_++]);
    run_ticks();
  }

  void deliver(const epoll_event& event) {
    if (event.data.ptr == this) return;  // unwatched since it was found
    if (event.data.ptr == nullptr) {
      take_inbox();
    } else {
      static_cast<Watcher*>(event.data.ptr)
          ->ready({.readable = (event.events & EPOLLIN) != 0,
                   .writable = (event.events & EPOLLOUT) != 0,
                   .closed = (event.events & (EPOLLHUP | EPOLLERR)) != 0});
    }
    run_deferred();
  }

  void take_inbox() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto read = ::read(wake_.get(), &count, sizeof count);
    taken_.clear();
    inbox_.with([&](Inbox& inbox) {
      std::swap(taken_, inbox.work);
      inbox.wake_sent = false;
    });
    run_inbox(std::exchange(taken_, {}));
  }

  void run_inbox(std::vector<Work> work) {
    for (const Work& each : work) {
      each();
      run_deferred();
    }
    work.clear();
    taken_ = std::move(work);  // its memory is used again
  }

  void run_deferred() {
    while (!deferred_.empty()) {
      std::swap(deferred_, deferred_now_);
      for (const Work& each : deferred_now_) each();
      deferred_now_.clear();
    }
  }

  void run_ticks() {
    for (std::size_t i = 0; i < ticks_.size(); ++i) {
      if (now_ < ticks_[i].next) continue;
      ticks_[i].next = now_ + ticks_[i].period;
      const Work work = ticks_[i].work;  // it may add and cancel ticks
      work();
      run_deferred();
    }
  }

  /// Milliseconds until the next tick is due, -1 without ticks.
  int patience() const {
    if (ticks_.empty()) return -1;
    Nanos next = ticks_.front().next;
    for (const Tick& tick : ticks_) next = std::min(next, tick.next);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now_).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }

  const Clock& clock_;
  Descriptor epoll_;
  Descriptor wake_;
  std::atomic<std::thread::id> thread_;
  std::atomic<bool> stopping_ = false;
  Guarded<Inbox> inbox_;
  std::vector<Work> taken_;
  std::vector<Work> deferred_;
  std::vector<Work> deferred_now_;
  std::vector<Tick> ticks_;
  std::uint64_t last_tick_ = 0;
  Nanos now_;
  std::array<epoll_event, 128> events_{};
  std::size_t events_found_ = 0;
  std::size_t next_event_ = 0;
};

class Threads final : public NetThreads {
 public:
  explicit Threads(std::vector<std::unique_ptr<EventLoop>> loops) : owned_(std::move(loops)) {
    for (const auto& loop : owned_) loops_.push_back(loop.get());
    for (EventLoop* loop : loops_) threads_.emplace_back([loop] { loop->run(); });
  }
  ~Threads() override { Threads::stop(); }

  std::span<EventLoop* const> loops() const override { return loops_; }

  void stop() override {
    for (EventLoop* loop : loops_) loop->stop();
    threads_.clear();
  }

 private:
  std::vector<std::unique_ptr<EventLoop>> owned_;
  std::vector<EventLoop*> loops_;
  std::vector<std::jthread> threads_;
};

}  // namespace

Result<std::unique_ptr<EventLoop>> EventLoop::create(const Clock& clock) {
  auto loop = std::make_unique<EpollLoop>(clock, ::epoll_create1(EPOLL_CLOEXEC),
                                          ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (Status opened = loop->open(); !opened) return opened.error();
  return std::unique_ptr<EventLoop>(std::move(loop));
}

Result<std::unique_ptr<NetThreads>> NetThreads::start(std::size_t count, const Clock& clock) {
  check(count > 0, "there is at least one net thread");
  std::vector<std::unique_ptr<EventLoop>> loops;
  for (std::size_t i = 0; i < count; ++i) {
    auto loop = EventLoop::create(clock);
    if (!loop) return in_context(std::move(loop), "starting the net threads");
    loops.push_back(std::move(*loop));
  }
  return std::unique_ptr<NetThreads>(std::make_unique<Threads>(std::move(loops)));
}

}  // namespace corelane::net
