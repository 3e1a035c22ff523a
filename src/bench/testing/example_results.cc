#include "bench/testing/example_results.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/result.h"

namespace corelane::bench {
namespace {

/// Items per second at large batches on two cores, and the batch at which half of the gain of
/// batching is reached.
struct Speed {
  const char* model;
  const char* precision;
  double items_per_second;
  double half_at;
};

constexpr Speed kSpeeds[] = {{"bert-base", "f32", 9.4, 0.15},
                             {"bert-base", "bf16", 20.5, 0.9},
                             {"resnet50", "f32", 27.0, 0.2},
                             {"resnet50", "bf16", 55.0, 0.5}};

struct Lanes {
  const char* plan;
  std::int64_t concurrency;
  double efficiency;  // against the better plan
};

constexpr Lanes kLanes[] = {{"cpu:0|cpu:1", 2, 1.0}, {"cpu:0-1", 1, 0.94}};

/// The same everywhere and for ever, unlike the standard library's.
std::string number_as_id(std::size_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>((number + 1) * 0x9E3779B97F4A7C15ULL));
  return text;
}

double rounded(double value) { return std::round(value * 1000) / 1000; }

Machine example_machine() {
  return {.cpu = "Example CPU (synthetic)",
          .cpu_flags = {"avx2", "avx512_bf16", "avx512_vnni", "avx512f"},
          .cores = 2,
          .cpu_quota = 0,
          .memory_bytes = std::uint64_t{16} << 30,
          .governor = "performance",
          .kernel = "6.1.0",
          .versions = {{"corelane", "0.1.0"}, {"openvino", "2026.4.1"}}};
}

Distribution around(double median, double spread) {
  return {.mean = rounded(median * (1 + spread / 4)),
          .p50 = rounded(median),
          .p90 = rounded(median * (1 + spread)),
          .p95 = rounded(median * (1 + 1.5 * spread)),
          .p99 = rounded(median * (1 + 2.5 * spread)),
          .min = rounded(median * (1 - spread)),
          .max = rounded(median * (1 + 3 * spread))};
}

ExperimentResult example(const Speed& speed, const Lanes& lanes, std::int64_t batch,
                         std::size_t number) {
  const double b = static_cast<double>(batch);
  const double per_second = speed.items_per_second * lanes.efficiency * b / (b + speed.half_at);
  const double millis = 1000 * b * static_cast<double>(lanes.concurrency) / per_second;
  ExperimentResult result;
  result.id = number_as_id(number);
  result.experiment = {.study = "example",
                       .model = speed.model,
                       .model_sha256 = number_as_id(speed.model[0]),
                       .engine = "openvino",
                       .precision = speed.precision,
                       .batch = batch,
                       .lanes = lanes.plan,
                       .concurrency = lanes.concurrency,
                       .shape = {},
                       .seconds = 10,
                       .min_requests = 20};
  if (speed.model[0] == 'b') {
    result.experiment.shape = {{"tokens", "128"}};
  }
  result.machine = example_machine();
  result.started_at = "2026-01-02T03:04:05Z";
  result.warmup_seconds = rounded(std::fmax(2, 3 * millis / 1000));
  result.warmup_requests = 3 * lanes.concurrency;
  const auto ok = static_cast<std::int64_t>(std::fmax(20, 10 * per_second / b));
  result.counts = {.sent = ok + lanes.concurrency, .ok = ok, .unfinished = lanes.concurrency};
  result.items = ok * batch;
  result.window_seconds = rounded(static_cast<double>(result.items) / per_second);
  result.items_per_second = rounded(per_second);
  result.items_per_second_low = rounded(per_second * 0.99);
  result.items_per_second_high = rounded(per_second * 1.01);
  result.latency = around(millis, 0.02);
  result.split = {{"queue", around(0.02, 0.5)},
                  {"gather", around(0.05 * b, 0.1)},
                  {"compute", around(millis * 0.99, 0.02)},
                  {"write", around(0.01 * b, 0.1)}};
  result.lane_busy = 0.985;
  result.generator_cores = 0.004;
  result.memory_bytes = std::uint64_t{700} << 20;
  result.engine_report =
      std::string(R"({"device":"cpu","precision":{")") + speed.precision + R"(":312}})";
  return result;
}

/// Requests of many lengths: more of them a second, a wider spread.
ExperimentResult of_mixed_lengths(ExperimentResult result, std::size_t number) {
  result.id = number_as_id(number);
  result.experiment.shape = {{"tokens", "lengths.txt"}};
  for (double* rate :
       {&result.items_per_second, &result.items_per_second_low, &result.items_per_second_high}) {
    *rate = rounded(*rate * 2.7);
  }
  result.window_seconds = rounded(static_cast<double>(result.items) / result.items_per_second);
  result.latency = around(result.latency.p50 / 3, 0.6);
  result.split["compute"] = around(result.latency.p50 * 0.98, 0.6);
  return result;
}

}  // namespace

std::vector<ExperimentResult> example_study() {
  std::vector<ExperimentResult> results;
  for (const Speed& speed : kSpeeds) {
    for (const Lanes& lanes : kLanes) {
      for (const std::int64_t batch : {1, 4, 8, 16, 32}) {
        results.push_back(example(speed, lanes, batch, results.size()));
        if (speed.model[0] == 'b' && batch <= 4) {
          results.push_back(of_mixed_lengths(results.back(), results.size()));
        }
      }
    }
  }
  results.back().valid = false;
  results.back().invalid_because = {
      "only 6 requests were answered in the window, 20 were asked for"};
  results.back().counts = {.sent = 8, .ok = 6, .failed = 1, .unfinished = 1};
  results.back().items = 6 * results.back().experiment.batch;
  return results;
}

}  // namespace corelane::bench
