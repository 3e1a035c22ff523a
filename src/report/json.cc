#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/result.h"
#include "price/catalogue.h"
#include "report/choice.h"
#include "report/report.h"
#include "report/sinks.h"
#include "report/study.h"
#include "report/tables.h"

namespace corelane::report {
namespace {

using Json = nlohmann::ordered_json;

/// Raised when a field is renamed, removed or means something else; added ones do not raise it.
constexpr int kFormat = 1;

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json price_json(const std::optional<price::Price>& price) {
  if (!price) {
    return nullptr;
  }
  return {{"instance", price->instance}, {"usd_per_hour", price->per_hour.value},
          {"basis", price->basis},       {"region", price->region},
          {"source", price->source},     {"date", price->date},
          {"note", price->note}};
}

Json machine_json(const bench::Machine& machine) {
  return {{"cpu", machine.cpu},
          {"cpu_flags", machine.cpu_flags},
          {"cores", machine.cores},
          {"cpu_quota", machine.cpu_quota},
          {"memory_bytes", machine.memory_bytes},
          {"governor", machine.governor},
          {"kernel", machine.kernel},
          {"versions", machine.versions}};
}

Json split_json(const bench::ExperimentResult& result) {
  Json split = Json::object();
  for (const auto& [part, distribution] : result.split) {
    split[part] = distribution.mean;
  }
  return split;
}

Json known_limit(const bench::ExperimentResult& r, double limit) {
  return r.items_per_second_high > r.items_per_second_low ? Json(limit) : Json(nullptr);
}

Json point_json(const Point& point, const std::vector<std::string>& roles) {
  const bench::ExperimentResult& r = point.result;
  Json json = {{"id", r.id},
               {"engine", r.experiment.engine},
               {"precision", r.experiment.precision},
               {"batch", r.experiment.batch},
               {"lanes", r.experiment.lanes},
               {"concurrency", r.experiment.concurrency},
               {"items_per_second", r.items_per_second},
               {"items_per_second_low", known_limit(r, r.items_per_second_low)},
               {"items_per_second_high", known_limit(r, r.items_per_second_high)},
               {"latency_ms",
                {{"mean", r.latency.mean},
                 {"p50", r.latency.p50},
                 {"p90", r.latency.p90},
                 {"p95", r.latency.p95},
                 {"p99", r.latency.p99}}},
               {"split_mean_ms", split_json(r)},
               {"usd_per_million", nullptr},
               {"lane_busy", r.lane_busy},
               {"memory_bytes", r.memory_bytes},
               {"roles", roles}};
  if (point.per_million) {
    json["usd_per_million"] = finite(point.per_million->value);
  }
  if (!r.valid) {
    json["invalid_because"] = r.invalid_because;
  }
  return json;
}

Json points_json(const Workload& workload, const Answer* answer) {
  Json points = Json::array();
  for (std::size_t i = 0; i < workload.points.size(); ++i) {
    points.push_back(point_json(
        workload.points[i], answer != nullptr ? roles_of(*answer, i) : std::vector<std::string>()));
  }
  return points;
}

Json choice_json(const Workload& workload, const Answer& answer) {
  if (!answer.choice) {
    return nullptr;
  }
  const Choice& choice = *answer.choice;
  const auto id = [&](std::size_t index) { return workload.points[index].result.id; };
  const bool holds = choice.reason != ChoiceReason::kNothingInLimit;
  return {{"limit_holds", holds},
          {"chosen", holds ? Json(id(choice.chosen)) : Json(nullptr)},
          {"cheapest", id(choice.cheapest)},
          {"knee", id(choice.knee)},
          {"start", id(choice.start)},
          {"times_cheaper_than_start",
           times_cheaper(workload.points[choice.chosen], workload.points[choice.start])}};
}

Json workload_json(const Workload& workload, const Answer* answer) {
  Json json = {{"title", title_of(workload)}, {"model", workload.model},
               {"version", workload.version}, {"shape", workload.shape},
               {"target", workload.target},   {"load", workload.load}};
  if (answer != nullptr) {
    json["answer"] = answer->sentence;
    json["why"] = answer->why;
    json["choice"] = choice_json(workload, *answer);
  }
  json["points"] = points_json(workload, answer);
  json["invalid"] = Json::array();
  for (const Point& point : workload.invalid) {
    json["invalid"].push_back(point_json(point, {}));
  }
  return json;
}

/// `answers` is empty or has one a workload.
Json study_json(const Study& study, const std::vector<Answer>& answers) {
  Json json = {{"studies", study.names},
               {"machine", machine_json(study.machine)},
               {"price", price_json(study.price)},
               {"first_started", study.first_started},
               {"last_started", study.last_started},
               {"workloads", Json::array()},
               {"left_out", Json::array()}};
  for (std::size_t w = 0; w < study.workloads.size(); ++w) {
    json["workloads"].push_back(
        workload_json(study.workloads[w], answers.empty() ? nullptr : &answers[w]));
  }
  for (const LeftOut& left_out : study.left_out) {
    json["left_out"].push_back(
        {{"id", left_out.id}, {"what", left_out.what}, {"why", left_out.why}});
  }
  return json;
}

}  // namespace

std::string to_json(const Report& report) {
  Json json = {{"format", kFormat},
               {"made_by", report.made_by},
               {"made_at", report.made_at},
               {"command", report.command},
               {"p95_limit_ms", report.p95_limit ? Json(*report.p95_limit) : Json(nullptr)},
               {"limit_holds", limit_holds(report)},
               {"notes", report.notes},
               {"here", study_json(report.study, report.answers)}};
  if (report.against) {
    json["there"] = study_json(*report.against, {});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace corelane::report
