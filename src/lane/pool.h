#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "device/lane_plan.h"
#include "lane/arena.h"
#include "lane/lane.h"
#include "lane/load_spec.h"

namespace corelane::lane {

struct PoolOptions {
  std::vector<device::LaneCores> lanes;  // of device::LanePlan
  std::filesystem::path executable;  // `executable worker ...` is a worker; normally /proc/self/exe
  std::filesystem::path engines;     // folder of the engine plug-ins
  Bytes arena{.count = std::uint64_t{4} << 30};
  Bytes output_limit{.count = std::uint64_t{1} << 30};  // of one batch on one lane
  /// Before a worker that died is started again; doubles with each death in a row, up to 10 s.
  Nanos restart_delay{std::chrono::milliseconds(50)};
  /// A worker that has been at one batch for longer hangs, and is killed: LaneDown names the batch.
  Nanos longest_batch{std::chrono::minutes(5)};
  /// How long a worker looks for its next batch before it sleeps. Shortens a round trip by some
  /// microseconds and costs the lane's cores that time after each batch.
  Nanos spin{};
};

/// The lanes of this machine: arena, channels, worker processes and the supervisor thread that
/// restarts them. A worker that dies is started again and loads what its lane holds; nothing else
/// is lost. Thread-safe. Destroying it asks the workers to end, kills those that have not after 2
/// s, and joins the supervisor. Workers ignore SIGINT and SIGTERM, which a terminal or a service
/// manager sends to the whole group: the server decides when they end. They do end when the server
/// dies.
class LanePool {
 public:
  virtual ~LanePool() = default;
  virtual Arena& arena() = 0;
  virtual std::span<Lane* const> lanes() = 0;
  /// Asks the given lanes to load; each answers with a ModelLoaded event. The slot is known at
  /// once.
  virtual SlotId load(const LoadSpec& spec, std::span<const LaneId> on) = 0;
  /// The slot's batches must have ended. Each lane that held it answers with ModelUnloaded; the
  /// number is not used again.
  virtual void unload(SlotId slot) = 0;
  /// Kills the lane's worker (one that hangs); LaneDown with `reason` and a new LaneUp follow.
  virtual void restart(LaneId lane, std::string reason) = 0;

  /// Starts the workers; LaneUp events follow.
  static Result<std::unique_ptr<LanePool>> start(const PoolOptions& options, const Clock& clock);
};

}  // namespace corelane::lane
