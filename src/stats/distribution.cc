#include "stats/distribution.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "base/check.h"

namespace corelane::stats {

double percentile(std::span<const double> sorted, double percent) {
  check(!sorted.empty(), "a percentile needs values");
  check(percent > 0 && percent <= 100, "a percentile lies in (0, 100]");
  const double count = static_cast<double>(sorted.size());
  // The product of two exact numbers may round up past an integer (0.55 * 100): a relative slack
  // far below 1 / count keeps the rank where it belongs.
  const double rank = std::ceil(percent / 100.0 * count * (1 - 1e-12));
  return sorted[static_cast<std::size_t>(std::clamp(rank, 1.0, count)) - 1];
}

Distribution summarise(std::vector<double> values) {
  if (values.empty()) {
    return {};
  }
  std::sort(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {.mean = sum / static_cast<double>(values.size()),
          .p50 = percentile(values, 50),
          .p90 = percentile(values, 90),
          .p95 = percentile(values, 95),
          .p99 = percentile(values, 99),
          .min = values.front(),
          .max = values.back()};
}

}  // namespace corelane::stats
