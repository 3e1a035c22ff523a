#pragma once

#include <chrono>
#include <cstdint>

#include "base/units.h"
#include "schedule/cost.h"

namespace corelane::schedule {

/// What each run costs besides the worker's own time: the hops to it and back. It keeps batches
/// worth forming for models that compute next to nothing.
inline constexpr Nanos kHopTime = std::chrono::microseconds(20);

/// The linear cost of one version, fitted to the runs seen so far: time = a + b * rows * volume.
///
/// Least squares of the relative error, old runs forgotten exponentially (kMemory), with the
/// assumed shape a / b = overhead counting as kTrust runs of its own. So before the first run, and
/// as long as all runs are of one size, it is LinearCost(overhead) in the unit of the times seen.
/// A run that took more than kWorstSurprise times the expectation counts as that much: something
/// else may have slowed it. Nothing makes a run faster than it can be, so one that took less than
/// the expectation by that factor shows that what was learned is wrong, and all begins anew.
///
/// Thread-compatible. No call allocates.
class LearnedCost final : public CostModel {
 public:
  /// Precondition: overhead > 0, in units of volume.
  explicit LearnedCost(double overhead);

  Nanos batch_time(std::int64_t rows, const Sizes& sizes) const override;

  /// A run of `rows` rows, all of `sizes` after padding, took `time` in the worker.
  void observe(std::int64_t rows, const Sizes& sizes, Nanos time);

 private:
  static constexpr double kMemory = 200;
  static constexpr double kTrust = 4;
  static constexpr double kWorstSurprise = 3;

  void forget();
  void fit();

  double overhead_;
  double per_unit_ = 1000;  // b, ns
  double fixed_;            // a, ns
  double weight_ = 0;       // runs that count, and sums over them; with x = rows * volume:
  double uu_ = 0;           // u = 1 / (overhead + x)
  double uv_ = 0;           // v = x / (overhead + x)
  double vv_ = 0;
  double uy_ = 0;  // y = time / (overhead + x)
  double vy_ = 0;
  double y_ = 0;
};

}  // namespace corelane::schedule
