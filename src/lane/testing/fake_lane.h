#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/lane.h"

namespace corelane::lane {

/// A lane without a worker that a test drives by hand: it records what is dispatched, and hands out
/// the events that the test posts, in the order posted. It breaks the program (check) where its
/// user breaks the contract of Lane. Thread-safe, so that events can be posted from another thread
/// than the driving one.
///
///     FakeLane lane({.name = "cpu:0"});
///     lane.up();
///     ... code under test dispatches ...
///     lane.finish(lane.dispatched().back().number, {{output_of_member_0}, {output_of_member_1}});
class FakeLane final : public Lane {
 public:
  /// What one dispatch() brought, copied.
  struct Dispatched {
    std::uint64_t number = 0;
    SlotId slot{};
    std::vector<std::vector<TensorRef>> members;
    std::vector<std::int64_t> padded_to;
  };

  explicit FakeLane(LaneInfo info);
  ~FakeLane() override;
  FakeLane(const FakeLane&) = delete;
  FakeLane& operator=(const FakeLane&) = delete;

  void up(int pid = 1);
  /// Posts LaneDown; what is unanswered when it is taken is lost. up() starts the next worker.
  void down(std::string reason = "killed by signal 9");
  void loaded(SlotId slot, Status status = {}, std::string report = "{}");
  void unloaded(SlotId slot, Bytes before = {}, Bytes after = {});
  /// Answers a batch: one list of outputs for each member, all of one length. The bytes are copied
  /// and live until release().
  void finish(std::uint64_t batch, const std::vector<std::vector<tensor::TensorView>>& outputs,
              BatchTiming timing = {});
  void fail(std::uint64_t batch, Error error);
  /// The next dispatch() answers with this instead of taking the batch.
  void refuse_next(Error error);

  std::vector<Dispatched> dispatched() const;
  /// Numbers given to release(), in order.
  std::vector<std::uint64_t> released() const;

  const LaneInfo& info() const override { return info_; }
  Result<std::uint64_t> dispatch(const Batch& batch) override;
  int event_fd() const override { return event_fd_; }
  std::optional<LaneEvent> next_event() override;
  void release(std::uint64_t batch) override;

 private:
  struct State;

  void post(LaneEvent event);

  LaneInfo info_;
  int event_fd_;
  std::unique_ptr<Guarded<State>> state_;
};

}  // namespace corelane::lane
