#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/units.h"

namespace corelane::schedule {

/// Named dimensions of a request that the scheduler looks at; a model with more is never batched
/// along those beyond.
inline constexpr std::size_t kMaxDims = 8;

/// One size for each named dimension of a model, in the manifest's (alphabetical) order. Unused
/// entries and the batch's own are 1, so that the product is the volume of one row.
using Sizes = std::array<std::int64_t, kMaxDims>;

constexpr Sizes unit_sizes() {
  Sizes sizes{};
  sizes.fill(1);
  return sizes;
}

/// What a batch costs. Only ratios matter to the scheduler. Called by whichever thread chooses a
/// batch, under the service's lock: must not block. A measured profile and the default below are
/// its kinds.
class CostModel {
 public:
  virtual ~CostModel() = default;
  /// Time of one run of `rows` rows that are all padded to `sizes`. Never falls when an argument
  /// grows.
  virtual Nanos batch_time(std::int64_t rows, const Sizes& sizes) const = 0;
};

/// time = overhead + rows * volume, in units of one element of volume (of one row where nothing
/// varies). It fits what was measured for BERT-base within a few per cent; the overhead is what a
/// batch saves: the dearer the arithmetic, the less.
class LinearCost final : public CostModel {
 public:
  explicit LinearCost(double overhead) : overhead_(overhead) {}
  Nanos batch_time(std::int64_t rows, const Sizes& sizes) const override;

 private:
  double overhead_;
};

/// The measured overheads in tokens of BERT-base on one core: f32 4, bf16 16, int8 54. Used as
/// they are for every version that has no profile.
double assumed_overhead(std::string_view precision);

/// Product of the sizes.
double volume(const Sizes& sizes);

}  // namespace corelane::schedule
