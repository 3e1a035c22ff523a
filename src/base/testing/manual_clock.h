#pragma once

#include <atomic>

#include "base/clock.h"
#include "base/units.h"

namespace corelane {

/// A clock that moves only when told to; sleep_until moves it there. Thread-safe.
class ManualClock final : public Clock {
 public:
  Nanos now() const override { return Nanos(now_.load()); }
  Nanos since_epoch() const override { return now(); }
  void sleep_until(Nanos time) const override { now_.store(time.count()); }

  void advance(Nanos by) { now_.fetch_add(by.count()); }

 private:
  mutable std::atomic<Nanos::rep> now_{0};
};

}  // namespace corelane
