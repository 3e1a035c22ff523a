#include "service/stats.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/units.h"
#include "lane/lane.h"

namespace corelane::service {

void Histogram::add(Nanos duration) {
  const auto limit = std::lower_bound(kLimits.begin(), kLimits.end(), to_seconds(duration));
  ++counts_[static_cast<std::size_t>(limit - kLimits.begin())];
  ++count_;
  sum_ += duration;
}

void StepTimes::add(const lane::BatchTiming& timing, std::uint64_t times) {
  const auto weight = static_cast<std::int64_t>(times);
  count_ += times;
  input_ += (timing.gathered - timing.received) * weight;
  compute_ += (timing.ran - timing.gathered) * weight;
  output_ += (timing.written - timing.ran) * weight;
}

}  // namespace corelane::service
