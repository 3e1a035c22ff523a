#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "bench/result.h"
#include "price/catalogue.h"
#include "report/curve.h"

namespace corelane::report {

/// One measured configuration.
struct Point {
  bench::ExperimentResult result;
  std::optional<Usd> per_million;  // nothing without a price
};

Sample sample_of(const Point& point);
std::vector<Sample> samples_of(const std::vector<Point>& points);

/// What is being served: configurations are only compared inside one of these, where an item is the
/// same work. Points stand by precision (f32 first), lanes, batch, concurrency.
struct Workload {
  std::string model;
  std::int64_t version = 1;
  std::map<std::string, std::string> shape;
  std::string target;
  std::string load;
  std::vector<Point> points;   // valid ones
  std::vector<Point> invalid;  // measured, but not to be believed; result.invalid_because says why
};

/// "bert-base (128 tokens)", "resnet50 (over http)". The version is named from 2 on.
std::string title_of(const Workload& workload);

/// A result that was read and does not count at all: measured again later, or elsewhere.
struct LeftOut {
  std::string id;
  std::string what;  // "bert-base, f32, batch 8, cpu:0-1, concurrency 1"
  std::string why;
};

/// All that one machine was measured for. Workloads stand by model, then shape, then target.
struct Study {
  std::vector<std::string> names;  // of the bench studies the results come from
  bench::Machine machine;
  std::optional<price::Price> price;
  std::vector<Workload> workloads;
  std::vector<LeftOut> left_out;
  std::string first_started;
  std::string last_started;
};

/// Sorts results into workloads. Of results for the same experiment the newest counts; a study is
/// of one machine, that of the newest result. kNotFound where there is nothing to show.
Result<Study> build_study(std::vector<bench::ExperimentResult> results,
                          std::optional<price::Price> price);

/// What curves of a workload run over: the batch, or where it has but one the concurrency.
enum class Axis { kBatch, kConcurrency };
Axis axis_of(const Workload& workload);
std::int64_t axis_value(Axis axis, const bench::Experiment& experiment);

/// The points that stand in curves over the axis: for each precision, lane plan and value of it the
/// cheapest (curve.h). Indices of workload.points, in their order.
std::vector<std::size_t> best_along(const Workload& workload, Axis axis);

/// "bf16, batch 8, 2 lanes of 1 core, concurrency 2".
std::string describe(const bench::Experiment& experiment);

}  // namespace corelane::report
