#pragma once

#include <string>
#include <vector>

#include "serve/http_counters.h"
#include "service/service.h"
#include "service/stats.h"

namespace corelane::serve {

/// Everything that /metrics tells, read at one moment each.
struct MetricsSnapshot {
  service::ServiceStats service;
  std::vector<service::ServedModel> models;
  std::vector<HttpCounters::Count> answers;
  Bytes arena_in_use;
  Bytes arena_capacity;
};

/// The Prometheus text format, version 0.0.4. docs/guide/serve.md describes each metric.
std::string render_metrics(const MetricsSnapshot& snapshot);

}  // namespace corelane::serve
