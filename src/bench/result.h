#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corelane::bench {

/// One point of a sweep as a value. Its id is a hash of this, of the model's digest and of the
/// machine.
struct Experiment {
  std::string study;
  std::string model;
  std::int64_t version = 1;
  std::string model_sha256;
  std::string engine;                        // "openvino"
  std::string precision;                     // "f32", "bf16"
  std::int64_t batch = 1;                    // items in one request
  std::string lanes;                         // "cpu:0|cpu:1"; for a server: as it says, or ""
  std::int64_t concurrency = 1;              // client threads, each with one request under way
  std::map<std::string, std::string> shape;  // {"tokens": "128"} or {"tokens": "lengths.txt"}
  std::string target = "lanes";              // or "http://127.0.0.1:8000"
  std::string load = "closed";
  double seconds = 0;  // of the measuring window, at least
  std::int64_t seed = 1;
};

/// The machine and the software that a result holds for.
struct Machine {
  std::string cpu;  // "AMD EPYC 9R14"
  std::vector<std::string>
      cpu_flags;           // those that decide: avx512f, avx512_vnni, avx512_bf16, amx_bf16, ...
  std::int64_t cores = 0;  // usable by this process
  double cpu_quota = 0;    // cores; 0: none
  std::uint64_t memory_bytes = 0;
  std::string governor;  // "" where the machine does not say
  std::string kernel;
  std::map<std::string, std::string> versions;  // corelane, openvino, torch
};

struct Counts {
  std::int64_t sent = 0;
  std::int64_t ok = 0;
  std::int64_t failed = 0;
  std::int64_t unfinished = 0;  // sent == ok + failed + unfinished
};

/// Milliseconds, exact over all samples of the window (nearest rank).
struct Distribution {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  double min = 0;
  double max = 0;
};

/// What was measured for one experiment: results/<study>/<id>.json. docs/formats/result.md is its
/// page.
struct ExperimentResult {
  std::string id;
  Experiment experiment;
  Machine machine;
  std::string started_at;  // "2026-11-30T21:40:14Z"
  double warmup_seconds = 0;
  std::int64_t warmup_requests = 0;
  double window_seconds = 0;
  Counts counts;
  std::int64_t items = 0;  // batch x successful requests of the window
  double items_per_second = 0;
  double items_per_second_low = 0;  // 95 % interval over the window's slices
  double items_per_second_high = 0;
  Distribution latency;
  std::map<std::string, Distribution>
      split;                       // "queue", "gather", "compute", "write" where the target tells
  double lane_busy = 0;            // share of the window in which lanes computed; 0: not known
  std::uint64_t memory_bytes = 0;  // proportional set size of server and workers; 0: not known
  bool valid = true;
  std::vector<std::string> invalid_because;
  std::string samples_file;  // beside it: "<id>.samples.csv"
};

/// docs/formats/result.md. Errors name the file and the field.
Result<ExperimentResult> parse_result(std::string_view json, const std::string& where);
Result<ExperimentResult> read_result(const std::filesystem::path& file);
std::string write_result(const ExperimentResult& result);

}  // namespace corelane::bench
