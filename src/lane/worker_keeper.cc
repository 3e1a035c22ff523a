#include "lane/worker_keeper.h"

#include <signal.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/control_messages.h"
#include "lane/control_socket.h"
#include "lane/lane.h"
#include "lane/process_lane.h"
#include "lane/worker_book.h"
#include "lane/worker_options.h"
#include "lane/worker_process.h"

namespace corelane::lane {
namespace {

// A worker that was up for so long has not died in a row with the one before.
constexpr Nanos kSteady = std::chrono::seconds(10);

}  // namespace

WorkerKeeper::WorkerKeeper(ProcessLane& lane, WorkerSetup setup, const Clock& clock)
    : lane_(lane),
      setup_(std::move(setup)),
      clock_(clock),
      random_(static_cast<std::minstd_rand::result_type>(clock.now().count() + 1)) {}

void WorkerKeeper::kill(const std::string& reason) {
  if (process_ && kill_reason_.empty()) {
    kill_reason_ = reason;
    process_->send_signal(SIGKILL);
  }
}

void WorkerKeeper::look(Nanos now) {
  if (!process_) {
    if (now >= start_at_) {
      start(now);
    }
    return;
  }
  // The end is looked for first, but what was said before it is heard first.
  const auto how = process_->ended();
  read_reports();
  if (how) {
    note_end(*how, now);
  } else {
    kill_if_it_hangs(now);
  }
}

Nanos WorkerKeeper::due(Nanos now) const {
  // A batch that begins later is over its time later than this.
  return process_ ? lane_.running_since().value_or(now) + setup_.longest_batch : start_at_;
}

void WorkerKeeper::kill_if_it_hangs(Nanos now) {
  const auto since = lane_.running_since();
  if (since && now >= *since + setup_.longest_batch) {
    kill("a batch takes longer than " +
         std::to_string(setup_.longest_batch / std::chrono::milliseconds(1)) + " ms");
  }
}

void WorkerKeeper::start(Nanos now) {
  const Status started = try_to_start();
  if (!started) {
    note_end("not started: " + started.error().message, now);
  }
}

Status WorkerKeeper::try_to_start() {
  auto channel = LaneChannel::create();
  if (!channel) {
    return std::move(channel).error();
  }
  auto sockets = ControlSocket::make_pair();
  if (!sockets) {
    return std::move(sockets).error();
  }
  WorkerOptions options = setup_.options;
  options.channel = (*channel)->memory.get();
  options.control = sockets->second.fd();
  options.outputs = lane_.outputs_fd();
  options.event = lane_.event_fd();
  auto process = WorkerProcess::start(setup_.executable, setup_.cpus, std::move(options));
  if (!process) {
    return std::move(process).error();
  }
  process_ = *std::move(process);
  control_ = std::move(sockets->first);
  channel_ = *std::move(channel);
  carry_out(book_.started());
  return {};
}

void WorkerKeeper::read_reports() {
  for (;;) {
    const auto message = control_->receive(ControlSocket::Wait::kNo);
    if (!message) {
      // Gone: its end is near or has been seen. Anything else is a breach.
      if (message.error().code != ErrorCode::kUnavailable) {
        kill(message.error().message);
      }
      return;
    }
    if (!*message) {
      return;
    }
    const auto report = parse_report(**message);
    if (!report) {
      return kill(report.error().message);
    }
    const WorkerBook::Steps steps = book_.reported(*report);
    if (steps.broken) {
      return kill("said what it had not been asked: " + **message);
    }
    carry_out(steps);
  }
}

void WorkerKeeper::carry_out(const WorkerBook::Steps& steps) {
  for (const LaneEvent& event : steps.post) {
    lane_.post(event);
  }
  if (steps.send) {
    const Status sent = control_->send(to_json(*steps.send), ControlSocket::Wait::kNo);
    if (!sent) {
      kill(sent.error().message);
    }
  }
  if (steps.up) {
    up_since_ = clock_.now();
    lane_.post_up(process_->pid(), std::move(channel_));
  }
}

void WorkerKeeper::note_end(const std::string& how, Nanos now) {
  const std::string reason = kill_reason_.empty() ? how : kill_reason_ + " (" + how + ")";
  const bool was_steady = up_since_ != Nanos::max() && now - up_since_ >= kSteady;
  deaths_in_a_row_ = was_steady ? 1 : deaths_in_a_row_ + 1;
  const double random = static_cast<double>(random_() - std::minstd_rand::min()) /
                        (static_cast<double>(std::minstd_rand::max()) + 1);
  const Nanos delay = restart_delay(setup_.restart_delay, deaths_in_a_row_, random);
  log(LogLevel::kWarning, "lane " + lane_.info().name + ": worker " +
                              (process_ ? std::to_string(process_->pid()) : std::string()) + " " +
                              reason + "; next one in " +
                              std::to_string(delay / std::chrono::milliseconds(1)) + " ms");
  start_at_ = now + delay;
  up_since_ = Nanos::max();
  kill_reason_.clear();
  process_.reset();
  control_.reset();
  channel_.reset();
  carry_out(book_.died());
  lane_.post_down(reason);
}

void WorkerKeeper::stop() {
  start_at_ = Nanos::max();
  if (process_) {
    // One that does not read is killed when its time is over.
    (void)control_->send(to_json(Command(StopCommand{})), ControlSocket::Wait::kNo);
  }
}

bool WorkerKeeper::gone() {
  if (process_ && process_->ended()) {
    process_.reset();
    control_.reset();
  }
  return !process_;
}

}  // namespace corelane::lane
