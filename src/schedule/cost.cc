#include "schedule/cost.h"

#include <cstdint>
#include <string_view>

#include "base/units.h"

namespace corelane::schedule {

double volume(const Sizes& sizes) {
  double product = 1;
  for (const std::int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

Nanos LinearCost::batch_time(std::int64_t rows, const Sizes& sizes) const {
  constexpr double kNanosPerUnit = 1000;
  const double units = overhead_ + static_cast<double>(rows) * volume(sizes);
  return Nanos(static_cast<std::int64_t>(units * kNanosPerUnit));
}

double assumed_overhead(std::string_view precision) {
  if (precision == "int8") return 54;
  if (precision == "bf16" || precision == "f16") return 16;
  return 4;
}

}  // namespace corelane::schedule
