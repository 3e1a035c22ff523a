#include "lane/testing/fake_lane.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/guarded.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/lane.h"
#include "tensor/view.h"

namespace corelane::lane {
namespace {

/// An answered batch's outputs, owned until release().
struct Outputs {
  std::deque<std::vector<std::byte>> bytes;
  std::vector<tensor::TensorView> views;
};

}  // namespace

struct FakeLane::State {
  bool up = false;  // between the LaneUp and the LaneDown taken
  std::uint64_t next_number = 1;
  std::vector<Dispatched> dispatched;
  std::vector<std::uint64_t> unanswered;
  std::map<std::uint64_t, Outputs> unreleased;
  std::vector<std::uint64_t> released;
  std::deque<LaneEvent> events;
  std::optional<Error> refusal;

  void answer(std::uint64_t batch) {
    const auto found = std::ranges::find(unanswered, batch);
    check(found != unanswered.end(), "a test answers only batches that are unanswered");
    unanswered.erase(found);
  }
};

FakeLane::FakeLane(LaneInfo info)
    : info_(std::move(info)),
      event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      state_(std::make_unique<Guarded<State>>()) {
  check(event_fd_ >= 0, "a test can have an eventfd");
}

FakeLane::~FakeLane() { close(event_fd_); }

void FakeLane::post(LaneEvent event) {
  state_->with([&](State& state) { state.events.push_back(std::move(event)); });
  check(eventfd_write(event_fd_, 1) == 0, "an eventfd takes a wake-up");
}

void FakeLane::up(int pid) { post(LaneUp{.pid = pid}); }

void FakeLane::down(std::string reason) {
  post(LaneDown{.reason = std::move(reason), .lost_batches = {}});
}

void FakeLane::loaded(SlotId slot, Status status, std::string report) {
  post(ModelLoaded{
      .slot = slot, .status = std::move(status), .report = std::move(report), .took = {}});
}

void FakeLane::unloaded(SlotId slot, Bytes before, Bytes after) {
  post(ModelUnloaded{.slot = slot, .before = before, .after = after});
}

void FakeLane::finish(std::uint64_t batch,
                      const std::vector<std::vector<tensor::TensorView>>& outputs,
                      BatchTiming timing) {
  BatchDone done{.batch = batch,
                 .status = {},
                 .outputs_per_member = outputs.empty() ? 0 : outputs.front().size(),
                 .outputs = {},
                 .timing = timing};
  state_->with([&](State& state) {
    state.answer(batch);
    Outputs& kept = state.unreleased[batch];
    for (const auto& member : outputs) {
      check(member.size() == done.outputs_per_member, "all members have as many outputs");
      for (tensor::TensorView view : member) {
        kept.bytes.emplace_back(view.bytes.begin(), view.bytes.end());
        view.bytes = kept.bytes.back();
        kept.views.push_back(view);
      }
    }
    done.outputs = kept.views;
  });
  post(std::move(done));
}

void FakeLane::fail(std::uint64_t batch, Error error) {
  state_->with([&](State& state) {
    state.answer(batch);
    state.unreleased[batch];
  });
  post(BatchDone{.batch = batch,
                 .status = std::move(error),
                 .outputs_per_member = 0,
                 .outputs = {},
                 .timing = {}});
}

void FakeLane::refuse_next(Error error) {
  state_->with([&](State& state) { state.refusal = std::move(error); });
}

std::vector<FakeLane::Dispatched> FakeLane::dispatched() const {
  return state_->with([](const State& state) { return state.dispatched; });
}

std::vector<std::uint64_t> FakeLane::released() const {
  return state_->with([](const State& state) { return state.released; });
}

Result<std::uint64_t> FakeLane::dispatch(const Batch& batch) {
  return state_->with([&](State& state) -> Result<std::uint64_t> {
    if (state.refusal) {
      return *std::exchange(state.refusal, std::nullopt);
    }
    if (!state.up) {
      return unavailable("lane " + info_.name + " is down");
    }
    check(state.unanswered.size() + state.unreleased.size() < kDepth,
          "a lane has fewer than kDepth batches unanswered or unreleased when it gets another");
    check(!batch.members.empty(), "a batch has a member");
    Dispatched copy{.number = state.next_number++,
                    .slot = batch.slot,
                    .members = {},
                    .padded_to = {batch.padded_to.begin(), batch.padded_to.end()}};
    for (const Member& member : batch.members) {
      copy.members.emplace_back(member.inputs.begin(), member.inputs.end());
    }
    state.unanswered.push_back(copy.number);
    state.dispatched.push_back(std::move(copy));
    return state.unanswered.back();
  });
}

std::optional<LaneEvent> FakeLane::next_event() {
  return state_->with([&](State& state) -> std::optional<LaneEvent> {
    if (state.events.empty()) {
      eventfd_t count = 0;
      eventfd_read(event_fd_, &count);  // fails when nothing was written, and that is fine
      return std::nullopt;
    }
    LaneEvent event = std::move(state.events.front());
    state.events.pop_front();
    if (std::holds_alternative<LaneUp>(event)) {
      state.up = true;
    } else if (auto* down = std::get_if<LaneDown>(&event)) {
      state.up = false;
      down->lost_batches = std::exchange(state.unanswered, {});
    }
    return event;
  });
}

void FakeLane::release(std::uint64_t batch) {
  state_->with([&](State& state) {
    check(state.unreleased.erase(batch) == 1, "only an answered batch is released, and once");
    state.released.push_back(batch);
  });
}

}  // namespace corelane::lane
