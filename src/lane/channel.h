#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/channel_layout.h"
#include "lane/lane.h"
#include "tensor/view.h"

namespace corelane::lane {

/// Prepares zeroed memory of sizeof(ChannelLayout) bytes, aligned to 64. Both ends use it then.
ChannelLayout& format_channel(std::span<std::byte> memory);

/// The worker's way in: fails when the memory is not what this build's server writes.
Result<ChannelLayout*> open_channel(std::span<std::byte> memory);

/// What a completion slot said, checked and copied, so that the worker cannot change it any more.
struct Completion {
  Status status;
  std::size_t outputs_per_member = 0;
  BatchTiming timing;
};

/// The server's end. Borrows the layout. Thread-compatible.
class ServerEnd {
 public:
  explicit ServerEnd(ChannelLayout& layout) : layout_(layout) {}

  /// Writes the batch into a slot whose last batch has been completed. kResourceExhausted when the
  /// description is too long, kInvalidArgument when the members differ in their number of inputs.
  /// wake_worker() must follow.
  Status submit(std::size_t slot, const Batch& batch);

  /// A system call only when the worker sleeps.
  void wake_worker();

  /// nullopt: not completed yet. kInternal: the worker breaks the protocol; it must be ended.
  /// Otherwise fills `outputs` with members x outputs_per_member views into `memory`, the slot's
  /// output memory.
  std::optional<Result<Completion>> completion(std::size_t slot, std::size_t members,
                                               std::span<const std::byte> memory,
                                               std::vector<tensor::TensorView>& outputs) const;

  /// From now on the worker writes the event eventfd when it completes something. What it completed
  /// before is seen by a look that follows this call.
  void driver_sleeps();
  void driver_is_awake();
  /// Whether the worker has taken the wish to be woken since driver_sleeps().
  bool was_woken() const;

 private:
  ChannelLayout& layout_;
  std::uint64_t submitted_ = 0;
  std::array<std::uint64_t, Lane::kDepth> numbers_{};  // of the batch last put into each slot
};

/// The worker's end. Borrows everything. Confined to the worker's infer thread, except stop().
class WorkerEnd {
 public:
  /// `event_fd` is an eventfd that wakes the driver. Before it sleeps, the worker looks for its
  /// next batch for as long as `spin` says.
  WorkerEnd(ChannelLayout& layout, int event_fd, const Clock& clock, Nanos spin)
      : layout_(layout), event_fd_(event_fd), clock_(clock), spin_(spin) {}

  /// Waits for the next batch and returns the slot it is in; nullopt after stop().
  std::optional<std::size_t> next();
  const SubmissionSlot& submission(std::size_t slot) const { return layout_.submissions[slot]; }
  /// To be filled before complete().
  CompletionSlot& completion(std::size_t slot) { return layout_.completions[slot]; }
  void complete(std::size_t slot);

  /// Thread-safe; ends next().
  void stop();

 private:
  std::optional<std::size_t> find_next();
  std::optional<std::size_t> look_for_a_while();

  ChannelLayout& layout_;
  int event_fd_;
  const Clock& clock_;
  Nanos spin_;
  std::uint64_t taken_ = 0;
  std::uint32_t stopping_ = 0;  // atomic
};

/// For a batch that failed: what complete() is to say.
void write_error(CompletionSlot& completion, ErrorCode code, std::string_view message);

}  // namespace corelane::lane
