#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/result.h"
#include "lane/channel.h"
#include "lane/lane.h"
#include "lane/shared_memory.h"
#include "tensor/view.h"

namespace corelane::lane {

/// The channel to one worker process: made for it and gone with it.
struct LaneChannel {
  FileDescriptor memory;
  Mapping mapping;
  ServerEnd end;

  static Result<std::unique_ptr<LaneChannel>> create();
};

/// A lane whose batches run in a worker process. The supervisor posts what happens to the process;
/// events are handed out in an order that makes LaneDown the last word about a worker. Thread-safe.
class ProcessLane final : public Lane {
 public:
  /// Output memory is shared with every worker that the lane ever has.
  struct Outputs {
    FileDescriptor memory;
    Mapping mapping;  // kRead
  };
  /// Called, without a lock held, when the worker breaks the channel's protocol: end it.
  using OnBroken = std::function<void(std::string why)>;

  /// Borrows the clock.
  ProcessLane(LaneInfo info, Outputs outputs, FileDescriptor event, OnBroken on_broken,
              const Clock& clock);

  static Result<Outputs> make_outputs(Bytes of_one_batch);

  const LaneInfo& info() const override { return info_; }
  Result<std::uint64_t> dispatch(const Batch& batch) override;
  int event_fd() const override { return event_.get(); }
  std::optional<LaneEvent> next_event() override;
  void release(std::uint64_t batch) override;

  /// For the supervisor.
  int outputs_fd() const { return outputs_.memory.get(); }
  /// Since when the worker is at the batch that it is at; nullopt when it has none.
  std::optional<Nanos> running_since() const;
  void post(LaneEvent event);
  /// The channel is used from the moment on that LaneUp is taken.
  void post_up(int pid, std::unique_ptr<LaneChannel> channel);
  /// Precondition: the worker has been reaped, so that nothing more is completed.
  void post_down(std::string reason);

 private:
  enum class Use { kFree, kRunning, kDone };
  struct Slot {
    Use use = Use::kFree;
    std::uint64_t number = 0;
    std::size_t members = 0;
    Nanos dispatched{};
    std::vector<tensor::TensorView> outputs;
  };
  struct Posted {
    LaneEvent event;
    std::unique_ptr<LaneChannel> channel;  // of LaneUp
  };
  struct State {
    std::unique_ptr<LaneChannel> channel;  // null while down
    std::string broken;                    // why the channel is not to be used any more
    std::array<Slot, kDepth> slots;
    std::uint64_t next_number = 1;
    Nanos last_done{};  // when a completion was last taken: a batch behind it began about then
    std::deque<Posted> posted;
    bool post_wrote = false;  // the eventfd, since it was last drained
    bool delivered = false;   // something, since the last nullopt
  };

  void add(Posted posted);
  std::optional<LaneEvent> next_event_locked(State& state);
  std::optional<LaneEvent> take_completion(State& state);
  LaneEvent take_posted(State& state);
  void prepare_sleep(State& state);
  std::span<const std::byte> memory_of(std::size_t slot) const;

  LaneInfo info_;
  Outputs outputs_;
  FileDescriptor event_;
  OnBroken on_broken_;
  const Clock& clock_;
  Guarded<State> state_;
};

}  // namespace corelane::lane
