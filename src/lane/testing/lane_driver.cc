#include "lane/testing/lane_driver.h"

#include <poll.h>

#include <chrono>
#include <optional>

#include "base/units.h"
#include "lane/lane.h"

namespace corelane::lane {

bool wait_readable(int fd, Nanos limit) {
  pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&wait, 1, static_cast<int>(limit / std::chrono::milliseconds(1))) == 1;
}

std::optional<LaneEvent> wait_event(Lane& lane, Nanos limit) {
  for (;;) {
    if (auto event = lane.next_event()) {
      return event;
    }
    if (!wait_readable(lane.event_fd(), limit)) {
      return std::nullopt;
    }
  }
}

}  // namespace corelane::lane
