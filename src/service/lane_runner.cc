#include "service/lane_runner.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "lane/lane.h"
#include "service/service.h"

namespace corelane::service {
namespace {

class PollingRunner final : public LaneRunner {
 public:
  PollingRunner(Service& service, std::span<lane::Lane* const> lanes, int stop_fd)
      : lanes_(lanes.begin(), lanes.end()),
        stop_fd_(stop_fd),
        thread_([this, &service] { run(service); }) {}

  ~PollingRunner() override {
    check(eventfd_write(stop_fd_, 1) == 0, "an eventfd takes a wake-up");
    thread_.join();
    close(stop_fd_);
  }
  PollingRunner(const PollingRunner&) = delete;
  PollingRunner& operator=(const PollingRunner&) = delete;

 private:
  void run(Service& service) {
    std::vector<pollfd> waits;
    for (const lane::Lane* lane : lanes_) {
      waits.push_back({.fd = lane->event_fd(), .events = POLLIN, .revents = 0});
    }
    waits.push_back({.fd = stop_fd_, .events = POLLIN, .revents = 0});
    while (waits.back().revents == 0) {
      const int ready = poll(waits.data(), waits.size(), -1);
      check(ready >= 0 || errno == EINTR, "poll of open descriptors succeeds");
      for (std::size_t i = 0; ready > 0 && i < lanes_.size(); ++i) {
        if (waits[i].revents != 0) service.drive(lanes_[i]->info().id);
      }
    }
  }

  std::vector<lane::Lane*> lanes_;
  int stop_fd_;
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<LaneRunner>> run_lanes_on_thread(Service& service,
                                                        std::span<lane::Lane* const> lanes) {
  const int stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (stop_fd < 0) return errno_error("an eventfd for the lanes' thread", errno);
  return std::unique_ptr<LaneRunner>(std::make_unique<PollingRunner>(service, lanes, stop_fd));
}

}  // namespace corelane::service
