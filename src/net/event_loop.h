#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"

namespace corelane::net {

/// What a descriptor is ready for, as a set.
struct Readiness {
  bool readable = false;
  bool writable = false;
  bool closed = false;  // the other side has gone altogether, or the descriptor has an error
};

/// Told when its descriptor is ready, on the loop's thread. Level-triggered: told again until the
/// cause is gone, so read what is there or unwatch.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void ready(const Readiness& readiness) = 0;
};

/// One thread's loop over descriptors (epoll), posted work and coarse ticks. Confined to the thread
/// that runs it, except post(), stop() and in_thread(); before run() starts, to the thread that
/// made it.
class EventLoop {
 public:
  virtual ~EventLoop() = default;

  /// Tells `watcher` when `fd` is readable. The fd and the watcher are borrowed until unwatch().
  /// kIo when the kernel refuses the descriptor.
  virtual Status watch(int fd, Watcher& watcher) = 0;
  /// From now on: readable and/or writable. `closed` is always told. Precondition: watched.
  virtual void want(int fd, Watcher& watcher, const Readiness& wanted) = 0;
  /// No call reaches the watcher after this, though its descriptor was found ready already.
  virtual void unwatch(int fd, Watcher& watcher) = 0;

  /// Runs `work` on the loop's thread, soon, in the order posted. Thread-safe. What is posted after
  /// the loop has ended is destroyed without being run.
  virtual void post(std::function<void()> work) = 0;
  /// Like post, from the loop's own thread and without waking or locking: runs after the callback
  /// that is running now.
  virtual void defer(std::function<void()> work) = 0;
  /// Calls `work` about every `period`, never more often, until cancel() of the number returned.
  virtual std::uint64_t every(Nanos period, std::function<void()> work) = 0;
  virtual void cancel(std::uint64_t tick) = 0;

  /// Clock::now() when this round of callbacks began.
  virtual Nanos now() const = 0;
  virtual bool in_thread() const = 0;

  /// Runs callbacks in this thread until stop(); posted work that is there by then is still run.
  virtual void run() = 0;
  virtual void stop() = 0;

  static Result<std::unique_ptr<EventLoop>> create(const Clock& clock);
};

/// Threads that each run an EventLoop: they own the sockets and drive the lanes. Watch what shall
/// be driven through post() or, from the loop's thread, directly. Ends and joins when destroyed.
class NetThreads {
 public:
  virtual ~NetThreads() = default;
  /// At least one; borrowed.
  virtual std::span<EventLoop* const> loops() const = 0;
  /// Ends the loops and joins the threads. The loops live on, so that descriptors can be unwatched.
  virtual void stop() = 0;

  /// Precondition: count > 0.
  static Result<std::unique_ptr<NetThreads>> start(std::size_t count, const Clock& clock);
};

}  // namespace corelane::net
