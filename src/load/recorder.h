#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "load/sample.h"

namespace corelane::load {

/// The samples of one client, in memory that is there before the clock starts. One thread records;
/// any thread may read what has been recorded so far.
class Recorder {
 public:
  explicit Recorder(std::size_t capacity) : samples_(capacity) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  bool full() const { return count_.load(std::memory_order_relaxed) == samples_.size(); }

  /// Precondition: !full(). Neither allocates nor locks.
  void record(const Sample& sample) {
    const std::size_t count = count_.load(std::memory_order_relaxed);
    samples_[count] = sample;
    // Publishes the sample: who sees the new count sees it whole.
    count_.store(count + 1, std::memory_order_release);
  }

  std::span<const Sample> recorded() const {
    return {samples_.data(), count_.load(std::memory_order_acquire)};
  }

 private:
  std::vector<Sample> samples_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace corelane::load
