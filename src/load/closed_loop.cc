#include "load/closed_loop.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <latch>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/guarded.h"
#include "load/recorder.h"

namespace corelane::load {
namespace {

constexpr Nanos kTick = std::chrono::milliseconds(50);
constexpr std::size_t kMaxSamples = std::size_t{1} << 22;  // of all clients together
constexpr std::size_t kMaxSamplesOfClient = std::size_t{1} << 18;
constexpr std::size_t kMaxSettlingGroup = 16;
constexpr std::int64_t kHopeless = 100;  // failures without one success

/// Off the measured path: touched only when a request fails.
struct Failures {
  std::atomic<std::int64_t> count{0};
  Guarded<std::string> first;

  void keep(const Error& error) {
    ++count;
    first.with([&](std::string& text) {
      if (text.empty()) text = error.message;
    });
  }
};

/// Takes part in nothing but sending: no allocation, lock or log unless a request fails.
void drive(std::stop_token stop, Target& target, Recorder& recorder, const Clock& clock,
           Failures& failures) {
  for (std::uint64_t turn = 0; !stop.stop_requested() && !recorder.full(); ++turn) {
    const Nanos sent = clock.now();
    const Result<Answer> answer = target.send(turn);
    Sample sample{.scheduled = sent, .sent = sent, .done = clock.now(), .ok = bool(answer)};
    if (answer) {
      sample.items = answer->items;
      sample.split = answer->split;
    } else {
      failures.keep(answer.error());
    }
    recorder.record(sample);
  }
}

/// The client threads and what they have recorded. Confined to the thread that runs the load.
class Clients {
 public:
  Clients(std::span<Target* const> targets, const Clock& clock) {
    const std::size_t capacity = std::min(kMaxSamplesOfClient, kMaxSamples / targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      recorders_.push_back(std::make_unique<Recorder>(capacity));
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
      threads_.emplace_back(
          [this, target = targets[i], &recorder = *recorders_[i], &clock](std::stop_token stop) {
            start_.wait();
            drive(std::move(stop), *target, recorder, clock, failures_);
          });
    }
  }

  void start() { start_.count_down(); }

  std::int64_t answered() const {
    std::int64_t sum = 0;
    for (const auto& recorder : recorders_) {
      sum += static_cast<std::int64_t>(recorder->recorded().size());
    }
    return sum;
  }

  /// What a window from `opened` to `now` would count. Not a difference of two counts: a client
  /// notes the time of an answer before it records it, so that one from before the window may be
  /// recorded within.
  std::int64_t answered_between(Nanos opened, Nanos now) const {
    std::int64_t sum = 0;
    for (const auto& recorder : recorders_) {
      const auto recorded = recorder->recorded();
      const auto first = std::partition_point(recorded.begin(), recorded.end(),
                                              [&](const Sample& s) { return s.done <= opened; });
      sum += std::partition_point(first, recorded.end(),
                                  [&](const Sample& s) { return s.sent < now; }) -
             first;
    }
    return sum;
  }

  bool any_full() const {
    return std::any_of(recorders_.begin(), recorders_.end(),
                       [](const auto& recorder) { return recorder->full(); });
  }

  /// Each client's latest turns, twice as many as make a group.
  bool settled() const {
    std::size_t fewest = kMaxSettlingGroup * 2;
    for (const auto& recorder : recorders_) {
      fewest = std::min(fewest, recorder->recorded().size());
    }
    const std::size_t group = fewest / 2;
    if (group == 0) {
      return false;
    }
    std::vector<Sample> latest;
    for (const auto& recorder : recorders_) {
      const auto last = recorder->recorded().last(2 * group);
      latest.insert(latest.end(), last.begin(), last.end());
    }
    std::sort(latest.begin(), latest.end(),
              [](const Sample& a, const Sample& b) { return a.done < b.done; });
    std::vector<Nanos> latencies;
    for (const Sample& sample : latest) {
      latencies.push_back(latency(sample));
    }
    return has_settled(latencies, group * recorders_.size());
  }

  std::int64_t failed() const { return failures_.count; }

  Nanos cpu_time() {
    Nanos sum{};
    for (std::jthread& thread : threads_) {
      clockid_t id{};
      timespec time{};
      if (pthread_getcpuclockid(thread.native_handle(), &id) == 0 &&
          clock_gettime(id, &time) == 0) {
        sum += std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
      }
    }
    return sum;
  }

  void stop() {
    for (std::jthread& thread : threads_) {
      thread.request_stop();
    }
    for (std::jthread& thread : threads_) {
      thread.join();
    }
  }

  std::vector<Sample> samples() const {
    std::vector<Sample> all;
    for (const auto& recorder : recorders_) {
      const auto samples = recorder->recorded();
      all.insert(all.end(), samples.begin(), samples.end());
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Sample& a, const Sample& b) { return a.done < b.done; });
    return all;
  }

  std::string first_error() {
    return failures_.first.with([](const std::string& first) { return first; });
  }

 private:
  std::vector<std::unique_ptr<Recorder>> recorders_;
  std::latch start_{1};
  Failures failures_;
  std::vector<std::jthread> threads_;
};

/// Follows the phases until the window may close; fills in the run's times.
class Conductor {
 public:
  Conductor(Clients& clients, const LoadLimits& limits, const Clock& clock, const Watch& watch)
      : clients_(clients), limits_(limits), clock_(clock), watch_(watch) {}

  void warm_up(LoadRun& run) {
    begin_phase();
    run.started = phase_began_;
    while (!run.interrupted && !over() &&
           !warmed_up(limits_, clock_.now() - phase_began_, clients_.settled())) {
      run.interrupted = !tick(true);
    }
  }

  void measure(LoadRun& run) {
    begin_phase();
    run.opened = phase_began_;
    const Nanos cpu_before = clients_.cpu_time();
    while (!run.interrupted && !over() &&
           !measured_enough(limits_, clock_.now() - phase_began_, answered())) {
      run.interrupted = !tick(false);
    }
    run.closed = std::max(clock_.now(), run.opened + Nanos(1));
    run.generator_cores =
        to_seconds(clients_.cpu_time() - cpu_before) / to_seconds(run.closed - run.opened);
  }

 private:
  void begin_phase() {
    phase_began_ = clock_.now();
    failed_before_ = clients_.failed();
  }

  std::int64_t answered() const { return clients_.answered_between(phase_began_, clock_.now()); }

  /// Nothing more would be learnt.
  bool over() const {
    const std::int64_t failed = clients_.failed();
    return clients_.any_full() || (failed >= kHopeless && failed == clients_.answered());
  }

  bool tick(bool warming_up) const {
    clock_.sleep_until(clock_.now() + kTick);
    return watch_({.warming_up = warming_up,
                   .elapsed = clock_.now() - phase_began_,
                   .answered = answered(),
                   .failed = clients_.failed() - failed_before_});
  }

  Clients& clients_;
  const LoadLimits& limits_;
  const Clock& clock_;
  const Watch& watch_;
  Nanos phase_began_{};
  std::int64_t failed_before_ = 0;
};

}  // namespace

LoadRun run_closed_loop(std::span<Target* const> targets, const LoadLimits& limits,
                        const Clock& clock, const Watch& watch) {
  check(!targets.empty(), "a load has clients");
  Clients clients(targets, clock);
  Conductor conductor(clients, limits, clock, watch);
  LoadRun run{.clients = static_cast<std::int64_t>(targets.size())};
  clients.start();
  conductor.warm_up(run);
  conductor.measure(run);
  clients.stop();
  run.samples = clients.samples();
  run.first_error = clients.first_error();
  return run;
}

}  // namespace corelane::load
