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
  ++stats_[version.index].refused[static_cast<std::size_t>(code)];
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
  constexpr std::size_t kHopeless = 3;  // a worker that dies this often before it is up stays away
  return std::all_of(lanes_.begin(), lanes_.end(), [](const LaneState& lane) {
    if (!lane.was_up && lane.deaths_before_up >= kHopeless) return true;
    return lane.up && std::find(lane.loads.begin(), lane.loads.end(), LaneState::Load::kPending) ==
                          lane.loads.end();
  });
}

ServiceStats Dispatcher::stats() const {
  ServiceStats all{.versions = stats_};
  for (const ServedVersion* version : versions_) {
    all.versions[version->index].waiting = queues_[version->index].size();
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const LaneState& lane = lanes_[i];
    for (const ServedVersion* version : versions_) {
      if (!serves(lane, *version)) continue;
      all.versions[version->index].held_by.push_back(
          {.lane = i, .report = lane.reports[version->index]});
    }
    all.lanes.push_back(lane.stats);
    all.lanes.back().up = lane.up;
    if (lane.running)
      all.versions[lane.running->version->index].running += lane.running->jobs.size();
  }
  return all;
}

}  // namespace corelane::service
