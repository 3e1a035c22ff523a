#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/lane.h"
#include "lane/load_spec.h"
#include "lane/process_lane.h"
#include "lane/shared_memory.h"
#include "lane/worker_keeper.h"

namespace corelane::lane {

/// Keeps one worker for each lane alive, on a thread of its own that owns the processes and their
/// control sockets. Thread-safe. Destroying it ends the workers.
class Supervisor {
 public:
  struct Load {
    SlotId slot{};
    LoadSpec spec;
    std::vector<LaneId> on;
  };
  struct Unload {
    SlotId slot{};
  };
  struct Restart {
    LaneId lane{};
    std::string reason;
  };
  using Work = std::variant<Load, Unload, Restart>;

  /// One keeper for each lane, in the lanes' order.
  Supervisor(std::vector<std::unique_ptr<WorkerKeeper>> keepers, FileDescriptor wake,
             const Clock& clock);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  void ask(Work work);

 private:
  void run(const std::stop_token& stop);
  void wait(const std::stop_token& stop);
  void do_work();
  void stop_all();

  std::vector<std::unique_ptr<WorkerKeeper>> keepers_;  // the thread's alone
  FileDescriptor wake_;
  const Clock& clock_;
  Guarded<std::deque<Work>> work_;
  std::jthread thread_;
};

}  // namespace corelane::lane
