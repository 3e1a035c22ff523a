#include "lane/worker_book.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <variant>

#include "base/result.h"
#include "base/units.h"
#include "lane/control_messages.h"
#include "lane/lane.h"
#include "lane/load_spec.h"

namespace corelane::lane {

WorkerBook::Steps WorkerBook::load(SlotId slot, const LoadSpec& spec) {
  Steps steps;
  held_[slot] = {.spec = spec};
  if (phase_ != Phase::kDown) {
    queue_.push_back(LoadCommand{.slot = slot, .spec = spec});
    go_on(steps);
  }
  return steps;
}

WorkerBook::Steps WorkerBook::unload(SlotId slot) {
  Steps steps;
  if (held_.erase(slot) == 0) {
    return steps;
  }
  if (phase_ == Phase::kDown) {
    steps.post.emplace_back(ModelUnloaded{.slot = slot});
  } else {
    queue_.push_back(UnloadCommand{.slot = slot});
    go_on(steps);
  }
  return steps;
}

WorkerBook::Steps WorkerBook::started() {
  phase_ = Phase::kStarting;
  for (const auto& [slot, held] : held_) {
    queue_.push_back(LoadCommand{.slot = slot, .spec = held.spec});
  }
  return {};
}

WorkerBook::Steps WorkerBook::reported(const Report& report) {
  Steps steps;
  if (std::holds_alternative<Ready>(report)) {
    steps.broken = phase_ != Phase::kStarting;
    phase_ = Phase::kCatchingUp;
  } else if (const auto* unloaded = std::get_if<ModelUnloaded>(&report)) {
    const auto* asked = outstanding_ ? std::get_if<UnloadCommand>(&*outstanding_) : nullptr;
    steps.broken = asked == nullptr || asked->slot != unloaded->slot;
    steps.post.emplace_back(*unloaded);
    outstanding_.reset();
  } else {
    loaded(std::get<ModelLoaded>(report), steps);
  }
  if (steps.broken) {
    steps.post.clear();
    return steps;
  }
  go_on(steps);
  return steps;
}

void WorkerBook::loaded(const ModelLoaded& report, Steps& steps) {
  const auto* asked = outstanding_ ? std::get_if<LoadCommand>(&*outstanding_) : nullptr;
  if (asked == nullptr || asked->slot != report.slot) {
    steps.broken = true;
    return;
  }
  const auto held = held_.find(report.slot);
  if (held != held_.end()) {
    held->second.deaths = 0;
    if (!report.status) {
      held_.erase(held);
    }
  }
  steps.post.emplace_back(report);
  outstanding_.reset();
}

WorkerBook::Steps WorkerBook::died() {
  Steps steps;
  if (outstanding_) {
    queue_.push_front(*std::move(outstanding_));
    outstanding_.reset();
    const auto* loading = std::get_if<LoadCommand>(&queue_.front());
    const auto held = loading == nullptr ? held_.end() : held_.find(loading->slot);
    if (held != held_.end() && ++held->second.deaths >= kMostDeathsOfALoad) {
      steps.post.emplace_back(
          ModelLoaded{.slot = held->first,
                      .status = internal_error("the worker died each time it loaded the model"),
                      .report = "{}",
                      .took = {}});
      held_.erase(held);
    }
  }
  for (const Command& command : queue_) {
    if (const auto* unload = std::get_if<UnloadCommand>(&command)) {
      steps.post.emplace_back(ModelUnloaded{.slot = unload->slot});
    }
  }
  queue_.clear();
  phase_ = Phase::kDown;
  return steps;
}

void WorkerBook::go_on(Steps& steps) {
  if (phase_ == Phase::kStarting || outstanding_) {
    return;
  }
  if (!queue_.empty()) {
    outstanding_ = std::move(queue_.front());
    queue_.pop_front();
    steps.send = outstanding_;
  } else if (phase_ == Phase::kCatchingUp) {
    phase_ = Phase::kUp;
    steps.up = true;
  }
}

Nanos restart_delay(Nanos base, int deaths_in_a_row, double random) {
  constexpr Nanos kMost = std::chrono::seconds(10);
  Nanos delay = std::min(base, kMost);
  for (int death = 1; death < deaths_in_a_row && delay < kMost; ++death) {
    delay = std::min(2 * delay, kMost);
  }
  return delay + from_seconds(to_seconds(delay) * random / 4);
}

}  // namespace corelane::lane
