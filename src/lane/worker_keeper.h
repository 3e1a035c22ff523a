#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/control_socket.h"
#include "lane/lane.h"
#include "lane/load_spec.h"
#include "lane/process_lane.h"
#include "lane/worker_book.h"
#include "lane/worker_options.h"
#include "lane/worker_process.h"

namespace corelane::lane {

/// What a lane's workers are started with.
struct WorkerSetup {
  std::filesystem::path executable;
  std::vector<int> cpus;
  WorkerOptions options;  // the descriptors are filled in for each worker
  Nanos restart_delay{};
  Nanos longest_batch{};
};

/// One lane's worker process, from one start to the next. Confined to the supervisor thread.
class WorkerKeeper {
 public:
  /// Borrows the lane and the clock.
  WorkerKeeper(ProcessLane& lane, WorkerSetup setup, const Clock& clock);

  void load(SlotId slot, const LoadSpec& spec) { carry_out(book_.load(slot, spec)); }
  void unload(SlotId slot) { carry_out(book_.unload(slot)); }
  /// Kills the worker, whose LaneDown will say why.
  void kill(const std::string& reason);

  /// Does what is due: starts a worker, reads what it says, notices its end, kills one that hangs.
  void look(Nanos now);
  /// When look() is due though no descriptor is ready; Nanos::max() for never.
  Nanos due(Nanos now) const;
  /// Those that make look() due when they are readable; -1 while there is no worker.
  int pidfd() const { return process_ ? process_->pidfd() : -1; }
  int control_fd() const { return process_ ? control_->fd() : -1; }

  /// Asks the worker to end after its batch. No further worker is started.
  void stop();
  /// Whether there is no worker any more. Only after stop(); reaps.
  bool gone();

 private:
  void start(Nanos now);
  Status try_to_start();
  void read_reports();
  void kill_if_it_hangs(Nanos now);
  void carry_out(const WorkerBook::Steps& steps);
  void note_end(const std::string& how, Nanos now);

  ProcessLane& lane_;
  WorkerSetup setup_;
  const Clock& clock_;
  WorkerBook book_;
  std::optional<WorkerProcess> process_;
  std::optional<ControlSocket> control_;
  std::unique_ptr<LaneChannel> channel_;  // until LaneUp is posted
  std::string kill_reason_;
  Nanos start_at_{};  // zero: at once
  Nanos up_since_ = Nanos::max();
  int deaths_in_a_row_ = 0;
  std::minstd_rand random_;
};

}  // namespace corelane::lane
