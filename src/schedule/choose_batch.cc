#include "schedule/choose_batch.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/units.h"
#include "schedule/cost.h"

namespace corelane::schedule {
namespace {

bool may_run_here(const Waiting& request, const QueueSnapshot& queue) {
  return request.avoid_lane != queue.lane || queue.live_lanes < 2;
}

bool sizes_agree(const Waiting& a, const Waiting& b, std::uint32_t paddable) {
  for (std::size_t dim = 0; dim < kMaxDims; ++dim) {
    const bool may_differ = ((paddable >> dim) & 1U) != 0;
    if (!may_differ && a.sizes[dim] != b.sizes[dim]) return false;
  }
  return true;
}

Sizes larger_of(const Sizes& a, const Sizes& b) {
  Sizes larger = a;
  for (std::size_t dim = 0; dim < kMaxDims; ++dim) larger[dim] = std::max(a[dim], b[dim]);
  return larger;
}

std::int64_t share_of_rows(const QueueSnapshot& queue) {
  std::int64_t rows = queue.running_rows;
  for (const Waiting& request : queue.waiting) rows += request.rows;
  const auto lanes = static_cast<std::int64_t>(std::max<std::size_t>(queue.sharing_lanes, 1));
  return (rows + lanes - 1) / lanes;
}

}  // namespace

void BatchChooser::collect_candidates(const QueueSnapshot& queue, std::uint32_t oldest,
                                      const BatchLimits& limits) {
  candidates_.clear();
  const Waiting& first = queue.waiting[oldest];
  const double first_volume = volume(first.sizes);
  bool alike = true;
  for (std::uint32_t i = oldest + 1; i < queue.waiting.size(); ++i) {
    const Waiting& request = queue.waiting[i];
    if (request.alone || !may_run_here(request, queue)) continue;
    if (!sizes_agree(first, request, limits.paddable)) continue;
    const double distance = std::abs(volume(request.sizes) - first_volume);
    alike = alike && distance == 0;
    candidates_.push_back({.distance = distance, .index = i});
  }
  if (alike) return;
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.index < b.index;
  });
}

BatchChoice BatchChooser::choose(const QueueSnapshot& queue, const BatchLimits& limits,
                                 const CostModel& cost) {
  const auto first = std::find_if(queue.waiting.begin(), queue.waiting.end(),
                                  [&](const Waiting& r) { return may_run_here(r, queue); });
  members_.clear();
  if (first == queue.waiting.end()) return {};
  const auto oldest = static_cast<std::uint32_t>(first - queue.waiting.begin());
  members_.push_back(oldest);
  BatchChoice choice{.members = {}, .rows = first->rows, .padded = first->sizes};

  const std::int64_t row_limit = std::min(limits.max_rows, share_of_rows(queue));
  if (!first->alone && choice.rows < row_limit) {
    collect_candidates(queue, oldest, limits);
    Nanos time = cost.batch_time(choice.rows, choice.padded);
    for (const Candidate& candidate : candidates_) {
      if (choice.rows >= row_limit || members_.size() >= limits.max_members) break;
      const Waiting& request = queue.waiting[candidate.index];
      if (choice.rows + request.rows > row_limit) continue;
      const Sizes padded = larger_of(choice.padded, request.sizes);
      const Nanos together = cost.batch_time(choice.rows + request.rows, padded);
      const Nanos alone = cost.batch_time(request.rows, request.sizes);
      if (together - time > alone * (1 - kLeastGain)) continue;
      members_.push_back(candidate.index);
      choice.rows += request.rows;
      choice.padded = padded;
      time = together;
    }
    std::sort(members_.begin(), members_.end());
  }
  choice.members = members_;
  return choice;
}

std::size_t choose_slot(std::span<const Nanos> oldest) {
  const auto longest = std::min_element(oldest.begin(), oldest.end());
  if (longest == oldest.end() || *longest == kNothingWaits) return oldest.size();
  return static_cast<std::size_t>(longest - oldest.begin());
}

}  // namespace corelane::schedule
