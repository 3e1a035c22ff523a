#include "service/queue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/units.h"
#include "schedule/choose_batch.h"
#include "service/job.h"

namespace corelane::service {

Nanos Queue::oldest() const {
  return waiting_.empty() ? schedule::kNothingWaits : waiting_.front().since;
}

void Queue::push(JobPtr job) {
  waiting_.push_back(job->waiting);
  jobs_.push_back(std::move(job));
}

void Queue::insert(JobPtr job) {
  const auto later = std::upper_bound(
      waiting_.begin(), waiting_.end(), job->waiting.since,
      [](Nanos since, const schedule::Waiting& other) { return since < other.since; });
  const auto place = later - waiting_.begin();
  waiting_.insert(later, job->waiting);
  jobs_.insert(jobs_.begin() + place, std::move(job));
}

void Queue::take(std::span<const std::uint32_t> members, std::vector<JobPtr>& jobs) {
  std::size_t kept = 0;
  std::size_t next_member = 0;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (next_member < members.size() && members[next_member] == i) {
      jobs.push_back(std::move(jobs_[i]));
      ++next_member;
      continue;
    }
    if (kept != i) {
      jobs_[kept] = std::move(jobs_[i]);
      waiting_[kept] = waiting_[i];
    }
    ++kept;
  }
  jobs_.resize(kept);
  waiting_.resize(kept);
}

}  // namespace corelane::service
