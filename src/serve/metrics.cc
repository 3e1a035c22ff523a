#include "serve/metrics.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>
#include <prometheus/text_serializer.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "serve/http_counters.h"
#include "service/service.h"
#include "service/stats.h"

namespace corelane::serve {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

class Families {
 public:
  void begin(const char* name, const char* help, MetricType type) {
    MetricFamily family;
    family.name = name;
    family.help = help;
    family.type = type;
    families_.push_back(std::move(family));
  }
  void add(Labels labels, double value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    if (families_.back().type == MetricType::Counter) {
      metric.counter.value = value;
    } else {
      metric.gauge.value = value;
    }
    families_.back().metric.push_back(std::move(metric));
  }
  void add(Labels labels, const service::Histogram& histogram) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.histogram.sample_count = histogram.count();
    metric.histogram.sample_sum = to_seconds(histogram.sum());
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
      below += histogram.counts()[i];
      const bool last = i == service::Histogram::kLimits.size();
      metric.histogram.bucket.push_back(
          {.cumulative_count = below,
           .upper_bound =
               last ? std::numeric_limits<double>::infinity() : service::Histogram::kLimits[i]});
    }
    families_.back().metric.push_back(std::move(metric));
  }
  std::string text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  std::vector<MetricFamily> families_;
};

Labels labels_of(const service::VersionStats& version) {
  return {{.name = "model", .value = version.model},
          {.name = "version", .value = std::to_string(version.version)}};
}

void add_answers(Families& families, const MetricsSnapshot& snapshot) {
  families.begin("corelane_requests_total", "Infer requests answered, by HTTP status",
                 MetricType::Counter);
  for (const HttpCounters::Count& count : snapshot.answers) {
    families.add({{.name = "model", .value = count.model},
                  {.name = "code", .value = std::to_string(count.status)}},
                 static_cast<double>(count.answers));
  }
}

void add_versions(Families& families, const std::vector<service::VersionStats>& versions) {
  using service::VersionStats;
  struct Number {
    const char* name;
    const char* help;
    MetricType type;
    double (*value)(const VersionStats&);
  };
  static constexpr Number kNumbers[] = {
      {"corelane_accepted_requests_total", "Requests that passed all checks and were queued",
       MetricType::Counter, [](const VersionStats& v) { return double(v.accepted); }},
      {"corelane_succeeded_requests_total", "Accepted requests answered with outputs",
       MetricType::Counter, [](const VersionStats& v) { return double(v.succeeded); }},
      {"corelane_failed_requests_total", "Accepted requests answered with an error",
       MetricType::Counter, [](const VersionStats& v) { return double(v.failed); }},
      {"corelane_items_total", "Rows of succeeded requests", MetricType::Counter,
       [](const VersionStats& v) { return double(v.items); }},
      {"corelane_batches_total", "Runs that succeeded", MetricType::Counter,
       [](const VersionStats& v) { return double(v.batches); }},
      {"corelane_retried_requests_total", "Requests run again because their worker died",
       MetricType::Counter, [](const VersionStats& v) { return double(v.retried); }},
      {"corelane_poison_requests_total", "Requests refused because their inputs killed workers",
       MetricType::Counter, [](const VersionStats& v) { return double(v.poison); }},
      {"corelane_waiting_requests", "Requests in the queue", MetricType::Gauge,
       [](const VersionStats& v) { return double(v.waiting); }},
      {"corelane_running_requests", "Requests with a lane", MetricType::Gauge,
       [](const VersionStats& v) { return double(v.running); }},
  };
  for (const Number& number : kNumbers) {
    families.begin(number.name, number.help, number.type);
    for (const VersionStats& version : versions) {
      families.add(labels_of(version), number.value(version));
    }
  }
  families.begin("corelane_queue_seconds", "From accepted until a worker had the request",
                 MetricType::Histogram);
  for (const VersionStats& version : versions) families.add(labels_of(version), version.queue);
  families.begin("corelane_compute_seconds", "The engine's time for a batch",
                 MetricType::Histogram);
  for (const VersionStats& version : versions) families.add(labels_of(version), version.compute);
}

void add_readiness(Families& families, const std::vector<service::ServedModel>& models) {
  families.begin("corelane_model_ready", "1 while a live lane serves the version",
                 MetricType::Gauge);
  for (const service::ServedModel& model : models) {
    families.add({{.name = "model", .value = model.name},
                  {.name = "version", .value = std::to_string(model.version)},
                  {.name = "precision", .value = model.precision}},
                 model.ready ? 1 : 0);
  }
}

void add_lanes(Families& families, const std::vector<service::LaneStats>& lanes) {
  const auto label = [](const service::LaneStats& lane) {
    return Labels{{.name = "lane", .value = lane.name}};
  };
  families.begin("corelane_lane_up", "1 while the lane's worker runs", MetricType::Gauge);
  for (const auto& lane : lanes) families.add(label(lane), lane.up ? 1 : 0);
  families.begin("corelane_lane_restarts_total", "Workers that replaced a dead one",
                 MetricType::Counter);
  for (const auto& lane : lanes) families.add(label(lane), static_cast<double>(lane.restarts));
  families.begin("corelane_lane_batches_total", "Batches that the lane has ended",
                 MetricType::Counter);
  for (const auto& lane : lanes) families.add(label(lane), static_cast<double>(lane.batches));
  families.begin("corelane_lane_busy_seconds_total", "Time that the lane spent with batches",
                 MetricType::Counter);
  for (const auto& lane : lanes) families.add(label(lane), to_seconds(lane.busy));
}

}  // namespace

std::string render_metrics(const MetricsSnapshot& snapshot) {
  Families families;
  add_answers(families, snapshot);
  add_versions(families, snapshot.service.versions);
  add_readiness(families, snapshot.models);
  add_lanes(families, snapshot.service.lanes);
  families.begin("corelane_arena_bytes", "Memory of requests that wait or run", MetricType::Gauge);
  families.add({{.name = "state", .value = "in_use"}},
               static_cast<double>(snapshot.arena_in_use.count));
  families.add({{.name = "state", .value = "capacity"}},
               static_cast<double>(snapshot.arena_capacity.count));
  return families.text();
}

}  // namespace corelane::serve
