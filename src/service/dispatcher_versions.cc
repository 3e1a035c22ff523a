#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "lane/lane.h"
#include "service/change_rules.h"
#include "service/dispatcher.h"
#include "service/served_version.h"

namespace corelane::service {

std::shared_ptr<const ServedVersion> Dispatcher::add(std::shared_ptr<ServedVersion> version,
                                                     lane::SlotId slot) {
  const auto free = std::find(entries_.begin(), entries_.end(), nullptr);
  const auto index = static_cast<std::size_t>(free - entries_.begin());
  if (free == entries_.end()) entries_.emplace_back();
  version->index = index;
  version->slot = slot;
  entries_[index] =
      std::make_unique<Entry>(Entry{.version = version, .stats = &counts_of(*version)});
  for (LaneState& lane : lanes_) {
    lane.loads.resize(entries_.size(), LaneState::Load::kAbsent);
    lane.reasons.resize(entries_.size());
    lane.reports.resize(entries_.size());
    lane.loads[index] = LaneState::Load::kPending;
    lane.reasons[index].clear();
    lane.reports[index].clear();
  }
  return version;
}

bool Dispatcher::accepts(const ServedVersion& version) const {
  const Entry* entry = entries_[version.index].get();
  return entry != nullptr && entry->version.get() == &version && !entry->retired;
}

bool Dispatcher::drained(const ServedVersion& version) const {
  return of(version).queue.empty() &&
         std::none_of(lanes_.begin(), lanes_.end(),
                      [&](const LaneState& lane) { return runs(lane, version); });
}

void Dispatcher::unloading(const ServedVersion& version) {
  check(of(version).retired && drained(version), "only what nobody uses is unloaded");
  using Load = LaneState::Load;
  for (LaneState& lane : lanes_) {
    Load& load = lane.loads[version.index];
    // A lane whose load failed holds nothing and says nothing more.
    load = load == Load::kFailed ? Load::kAbsent : Load::kUnloading;
  }
}

bool Dispatcher::gone(const ServedVersion& version) const {
  return std::all_of(lanes_.begin(), lanes_.end(), [&](const LaneState& lane) {
    return lane.loads[version.index] == LaneState::Load::kAbsent;
  });
}

void Dispatcher::remove(const ServedVersion& version) {
  check(gone(version), "a lane that holds a version keeps its place");
  entries_[version.index].reset();
}

std::vector<LaneLoad> Dispatcher::loads(const ServedVersion& version) const {
  using Load = LaneState::Load;
  std::vector<LaneLoad> all;
  for (const LaneState& lane : lanes_) {
    const Load load = lane.loads[version.index];
    const bool hopeless = !lane.up && lane.deaths_before_up >= kHopeless;
    all.push_back({.lane = lane.stats.name,
                   .state = load == Load::kLoaded   ? LaneLoad::State::kLoaded
                            : load == Load::kFailed ? LaneLoad::State::kFailed
                            : hopeless              ? LaneLoad::State::kNoLane
                                                    : LaneLoad::State::kPending,
                   .reason = load == Load::kFailed ? lane.reasons[version.index] : lane.why_down});
  }
  return all;
}

std::vector<LaneMemory> Dispatcher::given_back(const ServedVersion& version) const {
  return of(version).given_back;
}

void Dispatcher::load_ended(std::size_t index, const lane::ModelLoaded& loaded) {
  using Load = LaneState::Load;
  LaneState& lane = lanes_[index];
  for (const auto& entry : entries_) {
    if (!entry || entry->version->slot != loaded.slot) continue;
    const std::size_t place = entry->version->index;
    const bool ok = loaded.status.has_value();
    if (lane.loads[place] == Load::kUnloading) {
      // Its end was asked for meanwhile; a load that failed has nothing to end.
      if (!ok) lane.loads[place] = Load::kAbsent;
      continue;
    }
    lane.loads[place] = ok ? Load::kLoaded : Load::kFailed;
    lane.reasons[place] = ok ? "" : loaded.status.error().message;
    lane.reports[place] = ok ? loaded.report : "";
  }
  feed(index);
}

void Dispatcher::unload_ended(std::size_t index, const lane::ModelUnloaded& unloaded) {
  for (const auto& entry : entries_) {
    if (!entry || entry->version->slot != unloaded.slot) continue;
    lanes_[index].loads[entry->version->index] = LaneState::Load::kAbsent;
    entry->given_back.push_back(
        {.lane = lanes_[index].stats.name, .before = unloaded.before, .after = unloaded.after});
  }
}

}  // namespace corelane::service
