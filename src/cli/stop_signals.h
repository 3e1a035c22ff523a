#pragma once

#include <signal.h>

#include <chrono>
#include <ctime>

#include "base/units.h"

namespace corelane::cli {

/// SIGINT and SIGTERM, taken by waiting for them. Construct before any thread starts; used by the
/// thread that made it.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  void wait() const {
    int signal = 0;
    sigwait(&signals_, &signal);
  }
  bool came_within(Nanos time) const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
    return sigtimedwait(&signals_, nullptr, &limit) > 0;
  }
  /// The next signal ends the process at once, and the workers with it.
  void let_the_next_one_kill() const { pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr); }

 private:
  sigset_t signals_{};
};

}  // namespace corelane::cli
