#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"

namespace corelane::service {

/// What one lane says of a version that it was asked to load.
struct LaneLoad {
  enum class State {
    kPending,
    kLoaded,
    kFailed,
    kNoLane,  // its worker has died so often that nothing is to be expected of it
  };
  std::string lane;
  State state = State::kPending;
  std::string reason{};  // why failed, or why the lane is down
};

/// A lane's own memory around an unload.
struct LaneMemory {
  std::string lane;
  Bytes before{};
  Bytes after{};
};

struct LoadDecision {
  enum class Next { kWait, kServe, kGiveUp };
  Next next = Next::kWait;
  std::string reason{};  // of kGiveUp
};

/// Whether a version may take requests: once every lane that can be expected to has loaded it. One
/// lane that cannot load it is enough to give up: what runs is better than a version that half the
/// machine refuses. Decided only when nobody is still at it, so that giving up finds all lanes at
/// rest.
LoadDecision decide_load(std::span<const LaneLoad> lanes);

/// What tells one build of a version from another.
struct VersionKey {
  std::int64_t version = 0;
  std::string precision{};
  std::string stamp{};  // VersionToServe::stamp

  friend bool operator==(const VersionKey&, const VersionKey&) = default;
};

/// How to get from the versions of a model that are served to those that are wanted: places in the
/// two lists. What is the same stays where it is. An empty stamp is never the same as another.
struct ChangePlan {
  std::vector<std::size_t> keep;    // of `served`
  std::vector<std::size_t> retire;  // of `served`
  std::vector<std::size_t> load;    // of `wanted`
};
ChangePlan plan_change(std::span<const VersionKey> served, std::span<const VersionKey> wanted);

}  // namespace corelane::service
