#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/units.h"
#include "schedule/cost.h"

namespace corelane::schedule {

/// The least part of a request's own cost that joining a batch has to save.
inline constexpr double kLeastGain = 0.05;

inline constexpr std::uint32_t kNoLane = std::numeric_limits<std::uint32_t>::max();

/// A request in the queue, as far as the choice needs it.
struct Waiting {
  std::int64_t rows = 1;
  Sizes sizes = unit_sizes();
  Nanos since{};                       // when it was accepted
  std::uint32_t avoid_lane = kNoLane;  // its last batch killed that lane's worker
  bool alone = false;                  // shares a batch with nobody
};

/// What a free lane finds: the requests of one slot, oldest first.
struct QueueSnapshot {
  std::span<const Waiting> waiting;
  std::uint32_t lane = 0;         // the free lane that asks
  std::size_t live_lanes = 1;     // lanes that serve this slot, busy or not
  std::size_t sharing_lanes = 1;  // of these: idle ones, this one too, and those that run this slot
  std::int64_t running_rows = 0;  // rows of this slot that lanes run now
};

struct BatchLimits {
  std::int64_t max_rows = 0;     // the version's largest batch; 0: no batch, one request a run
  std::uint32_t paddable = 0;    // bit k: requests of unlike size k may share a run
  std::size_t max_members = 64;  // what one message to a lane holds
};

/// The members by their place in QueueSnapshot::waiting, ascending; empty: nothing here for this
/// lane now. `padded` is the largest size of each dimension among them. `members` points into the
/// BatchChooser and is valid until its next call.
struct BatchChoice {
  std::span<const std::uint32_t> members;
  std::int64_t rows = 0;
  Sizes padded = unit_sizes();
};

/// Decides what a lane that has just become free runs next. A pure decision; the class only keeps
/// its scratch memory, so that no call allocates after the first few. Thread-compatible.
///
/// The oldest request that may run on this lane is always a member, so nobody starves. Others join
/// it, those of the nearest size first, as long as
///  - all rows fit BatchLimits::max_rows, sizes that must not be padded are equal,
///  - joining saves at least kLeastGain of what running the newcomer on its own costs: less than
///    that is not worth making the others wait, and bounds padding, and
///  - the lane takes no more than its share of all rows that wait or run: a lane that took all that
///    waits would keep it waiting for one long batch while the others run single requests.
/// Nothing waits for company: under no load a batch is one request.
class BatchChooser {
 public:
  BatchChoice choose(const QueueSnapshot& queue, const BatchLimits& limits, const CostModel& cost);

 private:
  struct Candidate {
    double distance = 0;
    std::uint32_t index = 0;
  };
  void collect_candidates(const QueueSnapshot& queue, std::uint32_t oldest,
                          const BatchLimits& limits);

  std::vector<Candidate> candidates_;
  std::vector<std::uint32_t> members_;
};

/// Which slot's queue a free lane serves: the one whose oldest request has waited longest. `oldest`
/// holds kNothingWaits for an empty queue. Returns the index, or oldest.size() where all are empty.
std::size_t choose_slot(std::span<const Nanos> oldest);

/// The entry of choose_slot for an empty queue.
inline constexpr Nanos kNothingWaits = Nanos::max();

}  // namespace corelane::schedule
