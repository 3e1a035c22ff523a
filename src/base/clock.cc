#include "base/clock.h"

#include <time.h>

#include <cerrno>
#include <chrono>
#include <ctime>

#include "base/units.h"

namespace corelane {
namespace {

Nanos read(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

}  // namespace

Nanos SystemClock::now() const { return read(CLOCK_MONOTONIC); }

Nanos SystemClock::since_epoch() const { return read(CLOCK_REALTIME); }

void SystemClock::sleep_until(Nanos time) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const timespec until{.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace corelane
