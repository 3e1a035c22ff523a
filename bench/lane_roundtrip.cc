// How long a batch takes to a worker process and back when the model costs nothing: the identity
// on one lane, driven by one thread with epoll as the server drives it.
//
//   lane_roundtrip [seconds] [lane's CPU] [driver's CPU, -1: any] [spin in microseconds]
//
// Prints round trips a second, latency, and CPU time of both processes per round trip.
#include <fmt/core.h>
#include <sched.h>
#include <sys/epoll.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "lane/lane.h"
#include "lane/pool.h"
#include "lane/testing/lane_driver.h"
#include "lane/worker.h"
#include "tensor/dtype.h"

namespace corelane {
namespace {

struct Settings {
  double seconds = 2;
  int lane_cpu = 1;
  int driver_cpu = -1;
  Nanos spin{};
};

Nanos cpu_time(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

Nanos cpu_time_of(int pid) {
  clockid_t clock = 0;
  return clock_getcpuclockid(pid, &clock) == 0 ? cpu_time(clock) : Nanos::zero();
}

void pin_this_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  sched_setaffinity(0, sizeof(set), &set);
}

/// One round trip: dispatch, sleep until the lane has something, take it, give its memory back.
bool go_round(lane::Lane& lane, const lane::Batch& batch, int epoll) {
  if (!lane.dispatch(batch)) return false;
  for (;;) {
    while (auto event = lane.next_event()) {
      if (auto* done = std::get_if<lane::BatchDone>(&*event)) {
        lane.release(done->batch);
        return done->status.has_value();
      }
    }
    epoll_event ready{};
    epoll_wait(epoll, &ready, 1, -1);
  }
}

struct Measured {
  std::vector<Nanos> times;
  Nanos wall{};
  Nanos server_cpu{};
  Nanos worker_cpu{};
};

std::optional<Measured> measure(lane::Lane& lane, const lane::Batch& batch, int worker,
                                const Settings& settings) {
  const SystemClock clock;
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event wanted{.events = EPOLLIN, .data = {}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, lane.event_fd(), &wanted);
  for (int round = 0; round < 2000; ++round) {
    if (!go_round(lane, batch, epoll)) return std::nullopt;
  }
  Measured measured;
  measured.times.reserve(std::size_t{1} << 22);
  const Nanos server_before = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
  const Nanos worker_before = cpu_time_of(worker);
  const Nanos start = clock.now();
  for (Nanos last = start; last - start < from_seconds(settings.seconds);) {
    if (!go_round(lane, batch, epoll)) return std::nullopt;
    const Nanos now = clock.now();
    measured.times.push_back(now - last);
    last = now;
  }
  measured.wall = clock.now() - start;
  measured.server_cpu = cpu_time(CLOCK_PROCESS_CPUTIME_ID) - server_before;
  measured.worker_cpu = cpu_time_of(worker) - worker_before;
  return measured;
}

void print(Measured measured) {
  std::ranges::sort(measured.times);
  const auto micros = [](Nanos time) { return static_cast<double>(time.count()) / 1000; };
  const auto count = static_cast<double>(measured.times.size());
  const auto at = [&](double share) {
    return micros(measured.times[static_cast<std::size_t>(share * (count - 1))]);
  };
  fmt::print(
      "{:.0f} round trips/s   p50 {:.1f} us  p99 {:.1f} us   CPU per round trip: "
      "server {:.1f} us, worker {:.1f} us\n",
      count / to_seconds(measured.wall), at(0.5), at(0.99), micros(measured.server_cpu) / count,
      micros(measured.worker_cpu) / count);
}

int run(const Settings& settings) {
  const SystemClock clock;
  lane::PoolOptions options{.lanes = {{.cpus = {settings.lane_cpu}, .threads = 1}},
                            .executable = "/proc/self/exe",
                            .engines = CORELANE_ENGINES,
                            .arena = {.count = 64 << 20},
                            .output_limit = {.count = 64 << 20},
                            .spin = settings.spin};
  auto pool = lane::LanePool::start(options, clock);
  if (!pool) {
    fmt::print(stderr, "{}\n", pool.error().message);
    return 1;
  }
  if (settings.driver_cpu >= 0) pin_this_thread(settings.driver_cpu);
  lane::Lane& lane = *(*pool)->lanes()[0];
  constexpr Nanos kLong = std::chrono::seconds(30);
  const auto up = lane::wait_for<lane::LaneUp>(lane, kLong);
  const std::array on{lane::LaneId{0}};
  const lane::SlotId slot =
      (*pool)->load({.folder = std::filesystem::path(CORELANE_EXAMPLES) / "probe-models/null/1",
                     .precision = "f32"},
                    on);
  const auto loaded = lane::wait_for<lane::ModelLoaded>(lane, kLong);
  if (!up || !loaded || !loaded->status) {
    fmt::print(stderr, "the lane did not load the model\n");
    return 1;
  }
  const std::vector<float> row(16, 1.0F);
  const auto input = lane::place<float>((*pool)->arena(), tensor::DType::kFp32, {1, 16}, row);
  const lane::Member member{.inputs = {&input.ref, 1}};
  auto measured =
      measure(lane, {.slot = slot, .members = {&member, 1}, .padded_to = {}}, up->pid, settings);
  if (!measured) {
    fmt::print(stderr, "a batch failed\n");
    return 1;
  }
  print(*std::move(measured));
  return 0;
}

}  // namespace
}  // namespace corelane

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "worker") {
    const corelane::SystemClock clock;
    return corelane::lane::run_worker(std::span(arguments).subspan(1), clock);
  }
  corelane::Settings settings;
  const auto number = [&](std::size_t k, double otherwise) {
    return k < arguments.size() ? std::strtod(arguments[k].c_str(), nullptr) : otherwise;
  };
  settings.seconds = number(0, settings.seconds);
  settings.lane_cpu = static_cast<int>(number(1, settings.lane_cpu));
  settings.driver_cpu = static_cast<int>(number(2, settings.driver_cpu));
  settings.spin = corelane::from_seconds(number(3, 0) / 1e6);
  return corelane::run(settings);
}
