#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

namespace corelane {

/// A value that can only be reached with its lock held. Thread-safe.
template <typename T>
class Guarded {
 public:
  template <typename... Args>
  explicit Guarded(Args&&... args) : value_(std::forward<Args>(args)...) {}

  template <typename Use>
  decltype(auto) with(Use&& use) {
    std::lock_guard lock(mutex_);
    return std::invoke(std::forward<Use>(use), value_);
  }

  template <typename Use>
  decltype(auto) with(Use&& use) const {
    std::lock_guard lock(mutex_);
    return std::invoke(std::forward<Use>(use), value_);
  }

  /// Blocks until ready(value), then runs use(value). Whoever changes the value calls notify_all().
  template <typename Ready, typename Use>
  decltype(auto) when(Ready&& ready, Use&& use) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return std::invoke(ready, value_); });
    return std::invoke(std::forward<Use>(use), value_);
  }

  void notify_all() { changed_.notify_all(); }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  T value_;
};

}  // namespace corelane
