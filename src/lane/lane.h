#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "lane/tensor_ref.h"
#include "tensor/view.h"

namespace corelane::lane {

/// A lane's place in the plan: 0, 1, ...
enum class LaneId : std::uint32_t {};
/// A loaded (model, version, precision), the same number on every lane.
enum class SlotId : std::uint32_t {};

/// One request of a batch: its inputs in the manifest's order.
struct Member {
  std::span<const TensorRef> inputs;
};

/// What a lane runs at once. All members fit each other: same slot; along the batch dimension their
/// rows are stacked, along the other named dimensions the worker pads to the largest member or,
/// where `padded_to` names a larger size, to that. Borrowed for the call.
struct Batch {
  SlotId slot{};
  std::span<const Member> members;
  /// One size for each of the manifest's dimensions in their (alphabetical) order; 0: the largest
  /// member's.
  std::span<const std::int64_t> padded_to;
};

/// When what happened in the worker, by the monotonic clock that all processes of this boot share.
struct BatchTiming {
  Nanos received{};
  Nanos gathered{};  // inputs stacked and padded
  Nanos ran{};
  Nanos written{};  // outputs cut and in lane memory
};

/// A batch has been run or has failed as a whole. `outputs` and the bytes they name are the lane's
/// and stay valid until Lane::release(batch); failed batches are released too. Shapes and sizes
/// have been checked, the bytes have not: a worker that runs wild may change them at any time, so
/// whoever walks BYTES elements checks each length.
struct BatchDone {
  std::uint64_t batch = 0;
  Status status;
  std::size_t outputs_per_member = 0;
  /// Output k of member m is outputs[m * outputs_per_member + k]; empty when failed.
  std::span<const tensor::TensorView> outputs;
  BatchTiming timing;
};

/// A load asked for has ended. `report` is the engine's JSON: device, precisions, memory.
struct ModelLoaded {
  SlotId slot{};
  Status status;
  std::string report;
  Nanos took{};
};

/// An unload asked for has ended and the worker has given the memory back. `before` and `after` are
/// the worker's memory around it (own_memory()); both 0 where no worker ran.
struct ModelUnloaded {
  SlotId slot{};
  Bytes before{};
  Bytes after{};
};

/// The worker runs and has tried to load everything that its lane should hold (a ModelLoaded came
/// before for each).
struct LaneUp {
  int pid = 0;
};

/// The worker has gone, and a new one is being started. Comes after the BatchDone of everything
/// that it finished; what else had been dispatched to it is in `lost_batches` (oldest first, at
/// most kDepth), was not answered, never will be, and needs no release().
struct LaneDown {
  std::string reason;  // "killed by signal 9"
  std::vector<std::uint64_t> lost_batches;
};

using LaneEvent = std::variant<BatchDone, ModelLoaded, ModelUnloaded, LaneUp, LaneDown>;

struct LaneInfo {
  LaneId id{};
  std::string name;        // "cpu:0-1"
  std::vector<int> cores;  // logical CPUs
  int threads = 1;         // compute threads of its models
};

/// One lane as the service sees it. A fake for tests is in lane/testing/.
///
/// Threads: one thread drives a lane, which means that it waits for event_fd() to be readable and
/// then calls next_event() until it is empty. dispatch() and release() may be called from any
/// thread. dispatch() only after LaneUp, while fewer than kDepth batches are unanswered or
/// unreleased.
///
/// Nothing dispatched is lost in silence: for each number that dispatch() returned comes either one
/// BatchDone or its mention in a LaneDown.
class Lane {
 public:
  /// Batches that may be with a lane: one that runs and one whose outputs are still being read.
  static constexpr std::size_t kDepth = 2;

  virtual ~Lane() = default;
  virtual const LaneInfo& info() const = 0;
  /// Hands a batch over and returns its number (1, 2, ... over the lane's life). Does not block.
  /// kResourceExhausted when the batch's description does not fit the channel: dispatch fewer
  /// members. kUnavailable when LaneDown has been taken from next_event() meanwhile.
  virtual Result<std::uint64_t> dispatch(const Batch& batch) = 0;
  /// Readable when next_event() may have something. Never read or written by the caller.
  virtual int event_fd() const = 0;
  /// nullopt: nothing now, and event_fd() becomes readable when that changes.
  virtual std::optional<LaneEvent> next_event() = 0;
  virtual void release(std::uint64_t batch) = 0;
};

}  // namespace corelane::lane
