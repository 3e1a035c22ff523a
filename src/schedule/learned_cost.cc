#include "schedule/learned_cost.h"

#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "base/units.h"
#include "schedule/cost.h"

namespace corelane::schedule {
namespace {

double units(std::int64_t rows, const Sizes& sizes) {
  return static_cast<double>(rows) * volume(sizes);
}

}  // namespace

LearnedCost::LearnedCost(double overhead) : overhead_(overhead), fixed_(overhead * per_unit_) {
  check(overhead > 0, "a cost to be learned starts from an overhead above 0");
}

Nanos LearnedCost::batch_time(std::int64_t rows, const Sizes& sizes) const {
  return Nanos(static_cast<std::int64_t>(fixed_ + per_unit_ * units(rows, sizes)));
}

void LearnedCost::observe(std::int64_t rows, const Sizes& sizes, Nanos time) {
  const double x = units(rows, sizes);
  const double scale = overhead_ + x;
  const double expected = fixed_ + per_unit_ * x;
  double took = static_cast<double>((time + kHopTime).count());
  if (weight_ >= kTrust) took = std::min(took, kWorstSurprise * expected);
  if (took * kWorstSurprise < expected) forget();
  const double u = 1 / scale;
  const double v = x / scale;
  const double y = took / scale;
  const double kept = 1 - 1 / kMemory;
  for (double* sum : {&weight_, &uu_, &uv_, &vv_, &uy_, &vy_, &y_}) *sum *= kept;
  weight_ += 1;
  uu_ += u * u;
  uv_ += u * v;
  vv_ += v * v;
  uy_ += u * y;
  vy_ += v * y;
  y_ += y;
  fit();
}

void LearnedCost::forget() {
  for (double* sum : {&weight_, &uu_, &uv_, &vv_, &uy_, &vy_, &y_}) *sum = 0;
}

void LearnedCost::fit() {
  // Under the assumed shape every y is the same. Its fixed part counts as kTrust further runs that
  // tell of nothing else.
  const double assumed = overhead_ * y_ / weight_;
  const double trust = kTrust * uu_ / weight_;
  const double uu = uu_ + trust;
  const double uy = uy_ + trust * assumed;
  const double determinant = uu * vv_ - uv_ * uv_;
  if (determinant <= 0) return;  // runs of no volume teach nothing
  const double fixed = (uy * vv_ - vy_ * uv_) / determinant;
  const double per_unit = (vy_ * uu - uy * uv_) / determinant;
  // Noise can push either below zero: then all the time is the other's.
  fixed_ = std::max(fixed, 0.0);
  if (fixed < 0) {
    per_unit_ = vy_ / vv_;
  } else if (per_unit < 0) {
    fixed_ = uy / uu;
    per_unit_ = 0;
  } else {
    per_unit_ = per_unit;
  }
}

}  // namespace corelane::schedule
