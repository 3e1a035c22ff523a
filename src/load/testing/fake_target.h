#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "base/result.h"
#include "load/target.h"

namespace corelane::load {

/// Answers with `items` each, or as a given function says; counts what it was sent. Lets other
/// threads run in between, so that a load that never waits leaves room for who conducts it.
class FakeTarget final : public Target {
 public:
  explicit FakeTarget(std::int64_t items = 1) : items_(items) {}
  explicit FakeTarget(std::function<Result<Answer>(std::uint64_t)> reply)
      : reply_(std::move(reply)) {}

  Result<Answer> send(std::uint64_t turn) override {
    sent_.fetch_add(1, std::memory_order_relaxed);
    std::this_thread::yield();
    return reply_ ? reply_(turn) : Result<Answer>(Answer{.items = items_});
  }

  std::int64_t sent() const { return sent_; }

 private:
  std::int64_t items_ = 1;
  std::function<Result<Answer>(std::uint64_t)> reply_;
  std::atomic<std::int64_t> sent_{0};
};

}  // namespace corelane::load
