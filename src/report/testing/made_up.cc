#include "report/testing/made_up.h"

#include <fmt/format.h>

#include "bench/result.h"

namespace corelane::report {

bench::ExperimentResult made_up(const MadeUp& what) {
  bench::ExperimentResult result;
  result.id = fmt::format("{}-{}-{}-{}-{}", what.model, what.precision, what.batch, what.lanes,
                          what.concurrency);
  result.experiment.study = "made-up";
  result.experiment.model = what.model;
  result.experiment.engine = "openvino";
  result.experiment.precision = what.precision;
  result.experiment.batch = what.batch;
  result.experiment.lanes = what.lanes;
  result.experiment.concurrency = what.concurrency;
  result.machine.cpu = what.cpu;
  result.machine.cores = 2;
  result.started_at = what.started_at;
  result.items_per_second = what.items_per_second;
  result.items_per_second_low = what.items_per_second * 0.99;
  result.items_per_second_high = what.items_per_second * 1.01;
  result.latency.p50 = what.p95 * 0.9;
  result.latency.p95 = what.p95;
  result.latency.p99 = what.p95 * 1.1;
  return result;
}

}  // namespace corelane::report
