#pragma once

#include "base/units.h"

namespace corelane {

/// The only source of time. Thread-safe. `main` makes a SystemClock and passes it in; tests pass a
/// ManualClock (base/testing/manual_clock.h).
class Clock {
 public:
  virtual ~Clock() = default;
  /// Monotonic; the origin is arbitrary, the same for all processes of one boot.
  virtual Nanos now() const = 0;
  /// Wall clock, since 1970-01-01T00:00:00Z.
  virtual Nanos since_epoch() const = 0;
  /// Returns at `time` (of now()) or a little later.
  virtual void sleep_until(Nanos time) const = 0;
};

class SystemClock final : public Clock {
 public:
  Nanos now() const override;
  Nanos since_epoch() const override;
  void sleep_until(Nanos time) const override;
};

}  // namespace corelane
