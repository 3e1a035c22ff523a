#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"
#include "schedule/choose_batch.h"
#include "service/job.h"

namespace corelane::service {

/// The requests of one version that wait, oldest first, with the scheduler's view of them kept
/// beside. Thread-compatible. Its memory is kept, so that it stops allocating once it has been
/// full.
class Queue {
 public:
  bool empty() const { return jobs_.empty(); }
  std::size_t size() const { return jobs_.size(); }
  std::span<const schedule::Waiting> waiting() const { return waiting_; }
  /// The jobs at the same places.
  std::span<const JobPtr> jobs() const { return jobs_; }
  /// When the oldest was accepted; schedule::kNothingWaits for none.
  Nanos oldest() const;

  void push(JobPtr job);
  /// Puts a job where its time of acceptance belongs.
  void insert(JobPtr job);
  /// Takes the members (ascending places in waiting()) out, into `jobs`.
  void take(std::span<const std::uint32_t> members, std::vector<JobPtr>& jobs);

 private:
  std::vector<schedule::Waiting> waiting_;
  std::vector<JobPtr> jobs_;
};

}  // namespace corelane::service
