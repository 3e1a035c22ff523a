#include "report/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "price/cost.h"
#include "report/words.h"

namespace corelane::report {
namespace {

using bench::Experiment;
using bench::ExperimentResult;

/// A server's address is where, not what: two servers on two ports do the same work.
std::string target_kind(const std::string& target) { return target.substr(0, target.find("://")); }

auto workload_key(const Experiment& e) {
  return std::tuple(e.model, e.version, e.shape, target_kind(e.target), e.load);
}

/// What tells configurations of one workload apart.
auto configuration_key(const Experiment& e) {
  return std::tuple(e.precision != "f32", e.precision, e.engine, e.lanes, e.batch, e.concurrency);
}

auto experiment_key(const ExperimentResult& r) {
  return std::pair(workload_key(r.experiment), configuration_key(r.experiment));
}

/// Machines whose figures may stand in one curve. Versions may differ: results are taken again when
/// they change, and the newest counts.
auto machine_key(const bench::Machine& m) { return std::tuple(m.cpu, m.cores, m.cpu_quota); }

LeftOut left_out(const ExperimentResult& result, std::string why) {
  return {.id = result.id,
          .what = result.experiment.model + ", " + describe(result.experiment),
          .why = std::move(why)};
}

/// Keeps what was measured on the machine of the newest result, and the newest of each experiment.
std::vector<ExperimentResult> newest(std::vector<ExperimentResult> results,
                                     std::vector<LeftOut>& dropped) {
  std::ranges::stable_sort(results, std::greater{}, &ExperimentResult::started_at);
  std::map<decltype(experiment_key(results.front())), std::string> seen;
  std::vector<ExperimentResult> kept;
  const bench::Machine machine = results.front().machine;
  for (ExperimentResult& result : results) {
    if (machine_key(result.machine) != machine_key(machine)) {
      dropped.push_back(left_out(result, "measured on another machine: " + result.machine.cpu));
      continue;
    }
    const auto [first, is_new] = seen.try_emplace(experiment_key(result), result.started_at);
    if (is_new) {
      kept.push_back(std::move(result));
    } else {
      dropped.push_back(left_out(result, "measured again at " + first->second));
    }
  }
  return kept;
}

Workload& workload_of(std::vector<Workload>& workloads, const Experiment& e) {
  const auto found = std::ranges::find_if(workloads, [&](const Workload& w) {
    return std::tuple(w.model, w.version, w.shape, w.target, w.load) == workload_key(e);
  });
  if (found != workloads.end()) {
    return *found;
  }
  return workloads.emplace_back(Workload{.model = e.model,
                                         .version = e.version,
                                         .shape = e.shape,
                                         .target = target_kind(e.target),
                                         .load = e.load,
                                         .points = {},
                                         .invalid = {}});
}

std::optional<Usd> cost_of(const ExperimentResult& result,
                           const std::optional<price::Price>& price) {
  if (!price) {
    return std::nullopt;
  }
  return price::per_million(price->per_hour, result.items_per_second);
}

}  // namespace

Sample sample_of(const Point& point) {
  return {.items_per_second = point.result.items_per_second, .p95 = point.result.latency.p95};
}

std::vector<Sample> samples_of(const std::vector<Point>& points) {
  std::vector<Sample> samples;
  samples.reserve(points.size());
  std::ranges::transform(points, std::back_inserter(samples), sample_of);
  return samples;
}

std::string title_of(const Workload& workload) {
  std::vector<std::string> details;
  for (const auto& [dimension, value] : workload.shape) {
    const bool fixed = value.find_first_not_of("0123456789") == std::string::npos;
    const std::string file = std::filesystem::path(value).filename().string();
    details.push_back(fixed ? fmt::format("{} {}", value, dimension)
                            : fmt::format("{} from {}", dimension, file));
  }
  if (workload.target != "lanes") {
    details.push_back("over " + workload.target);
  }
  if (workload.load != "closed") {
    details.push_back(workload.load + " load");
  }
  std::string title = workload.model;
  if (workload.version > 1) {
    title += fmt::format("@{}", workload.version);
  }
  return details.empty() ? title : fmt::format("{} ({})", title, fmt::join(details, ", "));
}

Result<Study> build_study(std::vector<ExperimentResult> results,
                          std::optional<price::Price> price) {
  if (results.empty()) {
    return not_found("no results to report on; `corelane bench` measures some");
  }
  Study study;
  study.price = std::move(price);
  results = newest(std::move(results), study.left_out);
  study.machine = results.front().machine;
  study.last_started = results.front().started_at;
  study.first_started = results.back().started_at;
  std::ranges::stable_sort(results, {}, experiment_key);
  std::set<std::string> names;
  for (ExperimentResult& result : results) {
    names.insert(result.experiment.study);
    Workload& workload = workload_of(study.workloads, result.experiment);
    auto& points = result.valid ? workload.points : workload.invalid;
    points.push_back({.result = std::move(result), .per_million = std::nullopt});
    points.back().per_million = cost_of(points.back().result, study.price);
  }
  study.names.assign(names.begin(), names.end());
  return study;
}

Axis axis_of(const Workload& workload) {
  const auto batch = [](const Point& point) { return point.result.experiment.batch; };
  const bool one_batch = std::ranges::adjacent_find(workload.points, std::not_equal_to{}, batch) ==
                         workload.points.end();
  return one_batch ? Axis::kConcurrency : Axis::kBatch;
}

std::int64_t axis_value(Axis axis, const Experiment& experiment) {
  return axis == Axis::kBatch ? experiment.batch : experiment.concurrency;
}

std::vector<std::size_t> best_along(const Workload& workload, Axis axis) {
  std::map<std::tuple<bool, std::string, std::string, std::string, std::int64_t>,
           std::vector<std::size_t>>
      groups;
  for (std::size_t i = 0; i < workload.points.size(); ++i) {
    const Experiment& e = workload.points[i].result.experiment;
    groups[{e.precision != "f32", e.precision, e.engine, e.lanes, axis_value(axis, e)}].push_back(
        i);
  }
  std::vector<std::size_t> best;
  for (const auto& [key, members] : groups) {
    std::vector<Sample> samples;
    for (const std::size_t i : members) {
      samples.push_back(sample_of(workload.points[i]));
    }
    best.push_back(members[*cheapest(samples)]);
  }
  return best;
}

std::string describe(const Experiment& e) {
  return fmt::format("{}, batch {}, {}, concurrency {}",
                     e.precision.empty() ? "as served" : e.precision, e.batch,
                     lanes_in_words(e.lanes), e.concurrency);
}

}  // namespace corelane::report
