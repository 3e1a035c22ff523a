#include "lane/pool.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/result.h"
#include "device/lane_plan.h"
#include "lane/arena.h"
#include "lane/lane.h"
#include "lane/load_spec.h"
#include "lane/process_lane.h"
#include "lane/shared_memory.h"
#include "lane/supervisor.h"
#include "lane/worker_keeper.h"

namespace corelane::lane {
namespace {

class ProcessPool final : public LanePool {
 public:
  explicit ProcessPool(std::unique_ptr<Arena> arena) : arena_(std::move(arena)) {}

  Status add_lane(const PoolOptions& options, const device::LaneCores& cores, const Clock& clock);
  Status start(const PoolOptions& options, const Clock& clock);

  Arena& arena() override { return *arena_; }
  std::span<Lane* const> lanes() override { return views_; }

  SlotId load(const LoadSpec& spec, std::span<const LaneId> on) override {
    check(std::ranges::all_of(
              on, [&](LaneId id) { return static_cast<std::size_t>(id) < lanes_.size(); }),
          "a model is loaded on lanes that there are");
    const SlotId slot{next_slot_.fetch_add(1)};
    LoadSpec absolute = spec;
    std::error_code failed;
    if (auto path = std::filesystem::absolute(spec.folder, failed); !failed) {
      absolute.folder = std::move(path);
    }
    supervisor_->ask(
        Supervisor::Load{.slot = slot, .spec = std::move(absolute), .on = {on.begin(), on.end()}});
    return slot;
  }

  void unload(SlotId slot) override { supervisor_->ask(Supervisor::Unload{.slot = slot}); }

  void restart(LaneId lane, std::string reason) override {
    check(static_cast<std::size_t>(lane) < lanes_.size(), "a lane that there is is restarted");
    supervisor_->ask(Supervisor::Restart{.lane = lane, .reason = std::move(reason)});
  }

 private:
  std::unique_ptr<Arena> arena_;
  std::vector<std::unique_ptr<ProcessLane>> lanes_;
  std::vector<Lane*> views_;
  std::atomic<std::uint32_t> next_slot_{1};
  std::unique_ptr<Supervisor> supervisor_;  // last: its workers end before what they use goes
};

Status ProcessPool::add_lane(const PoolOptions& options, const device::LaneCores& cores,
                             const Clock& clock) {
  auto outputs = ProcessLane::make_outputs(options.output_limit);
  if (!outputs) {
    return std::move(outputs).error();
  }
  auto event = make_eventfd();
  if (!event) {
    return std::move(event).error();
  }
  const LaneId id{static_cast<std::uint32_t>(lanes_.size())};
  lanes_.push_back(std::make_unique<ProcessLane>(
      LaneInfo{.id = id, .name = to_string(cores), .cores = cores.cpus, .threads = cores.threads},
      *std::move(outputs), *std::move(event),
      [this, id](std::string why) { restart(id, std::move(why)); }, clock));
  views_.push_back(lanes_.back().get());
  return {};
}

Status ProcessPool::start(const PoolOptions& options, const Clock& clock) {
  auto wake = make_eventfd();
  if (!wake) {
    return std::move(wake).error();
  }
  std::vector<std::unique_ptr<WorkerKeeper>> keepers;
  for (std::size_t k = 0; k < lanes_.size(); ++k) {
    WorkerSetup setup{.executable = options.executable,
                      .cpus = options.lanes[k].cpus,
                      .options = {.lane = lanes_[k]->info().name,
                                  .threads = options.lanes[k].threads,
                                  .engines = options.engines,
                                  .arena = arena_->fd(),
                                  .spin = options.spin},
                      .restart_delay = options.restart_delay,
                      .longest_batch = options.longest_batch};
    keepers.push_back(std::make_unique<WorkerKeeper>(*lanes_[k], std::move(setup), clock));
  }
  supervisor_ = std::make_unique<Supervisor>(std::move(keepers), *std::move(wake), clock);
  return {};
}

}  // namespace

Result<std::unique_ptr<LanePool>> LanePool::start(const PoolOptions& options, const Clock& clock) {
  std::error_code failed;
  if (!std::filesystem::exists(options.executable, failed)) {
    return not_found("the workers' program " + options.executable.string() + " does not exist");
  }
  auto arena = Arena::create(options.arena);
  if (!arena) {
    return std::move(arena).error();
  }
  auto pool = std::make_unique<ProcessPool>(*std::move(arena));
  for (const device::LaneCores& cores : options.lanes) {
    auto added = pool->add_lane(options, cores, clock);
    if (!added) {
      return in_context(std::move(added), "lane " + to_string(cores));
    }
  }
  auto started = pool->start(options, clock);
  if (!started) {
    return std::move(started).error();
  }
  return std::unique_ptr<LanePool>(std::move(pool));
}

}  // namespace corelane::lane
