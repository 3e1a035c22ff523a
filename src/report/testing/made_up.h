#pragma once

#include <cstdint>
#include <string>

#include "bench/result.h"

namespace corelane::report {

/// What a test says of a result; the rest is the same for all.
struct MadeUp {
  std::string precision = "f32";
  std::int64_t batch = 1;
  double items_per_second = 10;
  double p95 = 100;
  std::string lanes = "cpu:0-1";
  std::int64_t concurrency = 1;
  std::string model = "bert";
  std::string started_at = "2026-01-02T03:04:05Z";
  std::string cpu = "Example CPU";
};

/// A valid result that nobody measured. Its id is made of its fields.
bench::ExperimentResult made_up(const MadeUp& what);

}  // namespace corelane::report
