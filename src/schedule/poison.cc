#include "schedule/poison.h"

#include <algorithm>
#include <cstdint>

namespace corelane::schedule {

bool PoisonBook::holds_any_of(std::uint64_t bytes) const {
  return std::ranges::find(digests_, bytes, &InputDigest::bytes) != digests_.end();
}

bool PoisonBook::holds(const InputDigest& digest) const {
  return std::ranges::find(digests_, digest) != digests_.end();
}

void PoisonBook::remember(const InputDigest& digest) {
  if (holds(digest)) return;
  if (digests_.size() < kLimit) {
    digests_.push_back(digest);
    return;
  }
  digests_[oldest_] = digest;
  oldest_ = (oldest_ + 1) % kLimit;
}

}  // namespace corelane::schedule
