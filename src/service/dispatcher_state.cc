// What the dispatcher tells about itself.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/result.h"
#include "service/dispatcher.h"
#include "service/served_version.h"
#include "service/stats.h"

namespace corelane::service {

void Dispatcher::count_refusal(const ServedVersion& version, ErrorCode code) {
  ++counts_of(version).refused[static_cast<std::size_t>(code)];
}

bool Dispatcher::ready(const ServedVersion& version) const { return count_live(version) > 0; }

std::string Dispatcher::why_not_ready(const ServedVersion& version) const {
  if (ready(version)) return "";
  std::string reasons;
  for (const LaneState& lane : lanes_) {
    if (!reasons.empty()) reasons += "; ";
    const LaneState::Load load = lane.loads[version.index];
    const std::string& reason = load == LaneState::Load::kFailed ? lane.reasons[version.index]
                                : lane.up                        ? std::string("loading")
                                                                 : lane.why_down;
    reasons += fmt::format("lane {}: {}", lane.stats.name, reason);
  }
  return reasons;
}

std::string Dispatcher::report(const ServedVersion& version) const {
  for (const LaneState& lane : lanes_) {
    if (!lane.reports[version.index].empty()) return lane.reports[version.index];
  }
  return "";
}

bool Dispatcher::settled() const {
  return std::all_of(lanes_.begin(), lanes_.end(), [](const LaneState& lane) {
    if (!lane.was_up && lane.deaths_before_up >= kHopeless) return true;
    return lane.up && std::find(lane.loads.begin(), lane.loads.end(), LaneState::Load::kPending) ==
                          lane.loads.end();
  });
}

VersionStats& Dispatcher::counts_of(const ServedVersion& version) {
  for (const auto& stats : stats_) {
    if (stats->model == version.manifest.name && stats->version == version.manifest.version) {
      return *stats;
    }
  }
  stats_.push_back(std::make_unique<VersionStats>());
  stats_.back()->model = version.manifest.name;
  stats_.back()->version = version.manifest.version;
  return *stats_.back();
}

ServiceStats Dispatcher::stats() const {
  ServiceStats all;
  const auto place_of = [&](const ServedVersion& version) -> VersionStats& {
    const auto found = std::find_if(stats_.begin(), stats_.end(), [&](const auto& stats) {
      return stats.get() == of(version).stats;
    });
    return all.versions[static_cast<std::size_t>(found - stats_.begin())];
  };
  for (const auto& stats : stats_) all.versions.push_back(*stats);
  for (const auto& entry : entries_) {
    if (entry) place_of(*entry->version).waiting += entry->queue.size();
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const LaneState& lane = lanes_[i];
    for (const auto& entry : entries_) {
      if (!entry || entry->retired || !serves(lane, *entry->version)) continue;
      place_of(*entry->version)
          .held_by.push_back({.lane = i, .report = lane.reports[entry->version->index]});
    }
    all.lanes.push_back(lane.stats);
    all.lanes.back().up = lane.up;
    if (lane.running) place_of(*lane.running->version).running += lane.running->jobs.size();
  }
  return all;
}

}  // namespace corelane::service
