#include "service/change_rules.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

namespace corelane::service {

LoadDecision decide_load(std::span<const LaneLoad> lanes) {
  using State = LaneLoad::State;
  using Next = LoadDecision::Next;
  bool loaded = false;
  bool failed = false;
  std::string reasons;
  for (const LaneLoad& lane : lanes) {
    if (lane.state == State::kPending) return {.next = Next::kWait};
    loaded = loaded || lane.state == State::kLoaded;
    failed = failed || lane.state == State::kFailed;
    if (lane.state == State::kLoaded) continue;
    if (!reasons.empty()) reasons += "; ";
    reasons += "lane " + lane.lane + ": " + lane.reason;
  }
  if (loaded && !failed) return {.next = Next::kServe};
  return {.next = Next::kGiveUp, .reason = reasons};
}

ChangePlan plan_change(std::span<const VersionKey> served, std::span<const VersionKey> wanted) {
  const auto same = [](const VersionKey& a, const VersionKey& b) {
    return !a.stamp.empty() && a == b;
  };
  ChangePlan plan;
  for (std::size_t i = 0; i < served.size(); ++i) {
    const bool stays = std::any_of(wanted.begin(), wanted.end(),
                                   [&](const VersionKey& key) { return same(served[i], key); });
    (stays ? plan.keep : plan.retire).push_back(i);
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool there = std::any_of(served.begin(), served.end(),
                                   [&](const VersionKey& key) { return same(wanted[i], key); });
    if (!there) plan.load.push_back(i);
  }
  return plan;
}

}  // namespace corelane::service
