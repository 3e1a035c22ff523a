#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/units.h"
#include "lane/control_messages.h"
#include "lane/lane.h"
#include "lane/load_spec.h"

namespace corelane::lane {

/// What a lane should hold and how far its worker is: decides what to send to the worker and what
/// to tell the lane's driver. A pure state machine; the supervisor carries out what it says.
/// Thread-compatible.
class WorkerBook {
 public:
  /// What to do, in this order.
  struct Steps {
    std::vector<LaneEvent> post;
    std::optional<Command> send;
    bool up = false;      // the worker has caught up: LaneUp
    bool broken = false;  // the worker said what it could not have to say: kill it
  };

  Steps load(SlotId slot, const LoadSpec& spec);
  Steps unload(SlotId slot);
  Steps started();
  Steps reported(const Report& report);
  Steps died();

  /// A worker that died twice while it loaded a model is not given that model again.
  static constexpr int kMostDeathsOfALoad = 2;

 private:
  enum class Phase { kDown, kStarting, kCatchingUp, kUp };
  struct Held {
    LoadSpec spec;
    int deaths = 0;  // of workers that were loading it
  };

  void go_on(Steps& steps);
  void loaded(const ModelLoaded& report, Steps& steps);

  Phase phase_ = Phase::kDown;
  std::map<SlotId, Held> held_;
  std::deque<Command> queue_;           // not yet sent
  std::optional<Command> outstanding_;  // sent, not answered
};

/// How long to wait before a worker is started again: `base` doubled with each death in a row, at
/// most 10 s, and up to a quarter more by `random` in [0, 1), so that workers that died of one
/// cause do not come back as one herd. Precondition: deaths >= 1.
Nanos restart_delay(Nanos base, int deaths_in_a_row, double random);

}  // namespace corelane::lane
