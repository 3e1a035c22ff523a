#include "service/stats.h"

#include <algorithm>
#include <cstddef>

#include "base/units.h"

namespace corelane::service {

void Histogram::add(Nanos duration) {
  const auto limit = std::lower_bound(kLimits.begin(), kLimits.end(), to_seconds(duration));
  ++counts_[static_cast<std::size_t>(limit - kLimits.begin())];
  ++count_;
  sum_ += duration;
}

}  // namespace corelane::service
