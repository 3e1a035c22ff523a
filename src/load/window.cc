#include "load/window.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/units.h"
#include "load/closed_loop.h"
#include "load/sample.h"
#include "stats/distribution.h"
#include "stats/throughput.h"

namespace corelane::load {
namespace {

struct SplitPart {
  const char* name;
  Nanos Split::* part;
};

constexpr SplitPart kSplitParts[] = {{"queue", &Split::queue},
                                     {"gather", &Split::gather},
                                     {"compute", &Split::compute},
                                     {"write", &Split::write}};

/// The share of a request's time that lies in the window.
double share_inside(const Sample& sample, const LoadRun& run) {
  const Nanos inside = std::min(sample.done, run.closed) - std::max(sample.sent, run.opened);
  const Nanos whole = sample.done - sample.sent;
  return whole > Nanos(0) ? to_seconds(inside) / to_seconds(whole) : 1.0;
}

stats::Distribution distribution_of(const std::vector<const Sample*>& samples,
                                    Nanos Split::* part) {
  std::vector<double> values;
  for (const Sample* sample : samples) {
    values.push_back(to_millis(sample->split.*part));
  }
  return stats::summarise(std::move(values));
}

}  // namespace

Measurement measure(const LoadRun& run) {
  Measurement result;
  std::vector<stats::Work> work;
  std::vector<double> latencies;
  std::vector<const Sample*> told;
  for (const Sample& sample : run.samples) {
    if (sample.done <= run.opened) {
      ++result.warmup_requests;
      continue;
    }
    if (sample.sent >= run.closed) {
      continue;
    }
    ++result.counts.sent;
    if (sample.ok) {
      work.push_back(
          {.from = sample.sent, .to = sample.done, .items = static_cast<double>(sample.items)});
      result.lane_seconds += to_seconds(sample.split.lane) * share_inside(sample, run);
    }
    if (sample.done > run.closed) {
      ++result.counts.unfinished;
    } else if (!sample.ok) {
      ++result.counts.failed;
    } else {
      ++result.counts.ok;
      result.items += sample.items;
      latencies.push_back(to_millis(latency(sample)));
      if (sample.split.known) {
        told.push_back(&sample);
      }
    }
  }
  result.items_per_second = stats::throughput(work, run.opened, run.closed);
  result.latency = stats::summarise(std::move(latencies));
  if (!told.empty()) {
    for (const auto& [name, part] : kSplitParts) {
      result.split[name] = distribution_of(told, part);
    }
  }
  return result;
}

}  // namespace corelane::load
