#include "lane/process_lane.h"

#include <fcntl.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/channel.h"
#include "lane/channel_layout.h"
#include "lane/lane.h"
#include "lane/shared_memory.h"
#include "tensor/view.h"

namespace corelane::lane {
namespace {

// Output memory of a batch that is kept for the next one. More is given back when it is released.
constexpr std::size_t kKeep = std::size_t{16} << 20;

std::size_t used_bytes(std::span<const tensor::TensorView> outputs,
                       std::span<const std::byte> memory) {
  std::size_t used = 0;
  for (const tensor::TensorView& view : outputs) {
    used = std::max(
        used, static_cast<std::size_t>(view.bytes.data() - memory.data()) + view.bytes.size());
  }
  return used;
}

}  // namespace

Result<std::unique_ptr<LaneChannel>> LaneChannel::create() {
  auto memory = make_shared_memory("corelane-channel", {sizeof(ChannelLayout)});
  if (!memory) {
    return std::move(memory).error();
  }
  auto mapping = Mapping::of(memory->get(), Mapping::Access::kReadWrite);
  if (!mapping) {
    return std::move(mapping).error();
  }
  ServerEnd end(format_channel(mapping->bytes()));
  return std::unique_ptr<LaneChannel>(
      new LaneChannel{.memory = *std::move(memory), .mapping = *std::move(mapping), .end = end});
}

Result<ProcessLane::Outputs> ProcessLane::make_outputs(Bytes of_one_batch) {
  constexpr std::uint64_t kRound = 4096 * 16;  // whole pages of any size that Linux has
  const std::uint64_t part = (of_one_batch.count + kRound - 1) / kRound * kRound;
  auto memory = make_shared_memory("corelane-outputs", {part * kDepth});
  if (!memory) {
    return std::move(memory).error();
  }
  auto mapping = Mapping::of(memory->get(), Mapping::Access::kRead);
  if (!mapping) {
    return std::move(mapping).error();
  }
  return Outputs{.memory = *std::move(memory), .mapping = *std::move(mapping)};
}

ProcessLane::ProcessLane(LaneInfo info, Outputs outputs, FileDescriptor event, OnBroken on_broken,
                         const Clock& clock)
    : info_(std::move(info)),
      outputs_(std::move(outputs)),
      event_(std::move(event)),
      on_broken_(std::move(on_broken)),
      clock_(clock) {}

std::span<const std::byte> ProcessLane::memory_of(std::size_t slot) const {
  const std::size_t part = outputs_.mapping.bytes().size() / kDepth;
  return outputs_.mapping.bytes().subspan(slot * part, part);
}

Result<std::uint64_t> ProcessLane::dispatch(const Batch& batch) {
  return state_.with([&](State& state) -> Result<std::uint64_t> {
    if (state.channel == nullptr || !state.broken.empty()) {
      return unavailable("lane " + info_.name + " is down");
    }
    const auto free = std::ranges::find(state.slots, Use::kFree, &Slot::use);
    check(free != state.slots.end(),
          "a lane has fewer than kDepth batches unanswered or unreleased when it gets another");
    auto submitted =
        state.channel->end.submit(static_cast<std::size_t>(free - state.slots.begin()), batch);
    if (!submitted) {
      return std::move(submitted).error();
    }
    free->use = Use::kRunning;
    free->number = state.next_number++;
    free->members = batch.members.size();
    free->dispatched = clock_.now();
    state.channel->end.wake_worker();
    return free->number;
  });
}

std::optional<LaneEvent> ProcessLane::next_event() {
  std::string newly_broken;
  auto event = state_.with([&](State& state) {
    const bool was_broken = !state.broken.empty();
    auto next = next_event_locked(state);
    if (!was_broken) {
      newly_broken = state.broken;
    }
    return next;
  });
  if (!newly_broken.empty()) {
    on_broken_(std::move(newly_broken));
  }
  return event;
}

std::optional<LaneEvent> ProcessLane::next_event_locked(State& state) {
  // Completions first: when a LaneDown has been posted, its worker had ended before, and all that
  // it completed is seen here.
  auto event = take_completion(state);
  if (!event && state.posted.empty()) {
    prepare_sleep(state);
    event = take_completion(state);
  } else if (!event) {
    event = take_posted(state);
  }
  state.delivered = event.has_value();
  return event;
}

std::optional<LaneEvent> ProcessLane::take_completion(State& state) {
  if (state.channel == nullptr || !state.broken.empty()) {
    return std::nullopt;
  }
  Slot* oldest = nullptr;
  for (Slot& slot : state.slots) {
    if (slot.use == Use::kRunning && (oldest == nullptr || slot.number < oldest->number)) {
      oldest = &slot;
    }
  }
  if (oldest == nullptr) {
    return std::nullopt;
  }
  const auto index = static_cast<std::size_t>(oldest - state.slots.data());
  auto completion =
      state.channel->end.completion(index, oldest->members, memory_of(index), oldest->outputs);
  if (!completion) {
    return std::nullopt;
  }
  if (!*completion) {
    state.broken = completion->error().message;
    return std::nullopt;
  }
  oldest->use = Use::kDone;
  state.last_done = clock_.now();
  return BatchDone{.batch = oldest->number,
                   .status = std::move((*completion)->status),
                   .outputs_per_member = (*completion)->outputs_per_member,
                   .outputs = oldest->outputs,
                   .timing = (*completion)->timing};
}

LaneEvent ProcessLane::take_posted(State& state) {
  Posted next = std::move(state.posted.front());
  state.posted.pop_front();
  if (std::holds_alternative<LaneUp>(next.event)) {
    state.channel = std::move(next.channel);
    state.broken.clear();
  } else if (auto* down = std::get_if<LaneDown>(&next.event)) {
    if (!state.broken.empty()) {
      down->reason = state.broken + " (" + down->reason + ")";
    }
    state.channel.reset();
    for (Slot& slot : state.slots) {
      if (slot.use == Use::kRunning) {
        down->lost_batches.push_back(slot.number);
        slot.use = Use::kFree;
      }
    }
    std::ranges::sort(down->lost_batches);
  }
  return std::move(next.event);
}

void ProcessLane::prepare_sleep(State& state) {
  // The eventfd is read only when somebody may have written it: the worker, who then has taken the
  // wish to be woken; post(); or whoever made the driver call although nothing had happened (the
  // worker may take the wish first and write later).
  const bool woken = state.channel != nullptr && state.channel->end.was_woken();
  if (woken || state.post_wrote || !state.delivered) {
    eventfd_t count = 0;
    eventfd_read(event_.get(), &count);
    state.post_wrote = false;
  }
  if (state.channel != nullptr) {
    state.channel->end.driver_sleeps();
  }
}

void ProcessLane::release(std::uint64_t batch) {
  const auto [index, used] = state_.with([&](State& state) {
    const auto found = std::ranges::find_if(state.slots, [&](const Slot& slot) {
      return slot.use == Use::kDone && slot.number == batch;
    });
    check(found != state.slots.end(), "only an answered batch is released, and once");
    const auto place = static_cast<std::size_t>(found - state.slots.begin());
    return std::pair(place, used_bytes(found->outputs, memory_of(place)));
  });
  if (used > kKeep) {
    (void)fallocate(outputs_.memory.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(index * memory_of(index).size() + kKeep),
                    static_cast<off_t>(used - kKeep));
  }
  state_.with([place = index](State& state) { state.slots[place].use = Use::kFree; });
}

std::optional<Nanos> ProcessLane::running_since() const {
  return state_.with([](const State& state) {
    std::optional<Nanos> since;
    for (const Slot& slot : state.slots) {
      if (slot.use == Use::kRunning) {
        since = std::min(since.value_or(Nanos::max()), slot.dispatched);
      }
    }
    return since ? std::optional(std::max(*since, state.last_done)) : since;
  });
}

void ProcessLane::post(LaneEvent event) { add({.event = std::move(event), .channel = nullptr}); }

void ProcessLane::post_up(int pid, std::unique_ptr<LaneChannel> channel) {
  add({.event = LaneUp{.pid = pid}, .channel = std::move(channel)});
}

void ProcessLane::post_down(std::string reason) {
  add({.event = LaneDown{.reason = std::move(reason), .lost_batches = {}}, .channel = nullptr});
}

void ProcessLane::add(Posted posted) {
  state_.with([&](State& state) {
    state.posted.push_back(std::move(posted));
    state.post_wrote = true;
  });
  eventfd_write(event_.get(), 1);
}

}  // namespace corelane::lane
