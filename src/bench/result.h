#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stats/distribution.h"

namespace corelane::bench {

using stats::Counts;
using stats::Distribution;

/// The number in a result's "format". A reader refuses a larger one; fields may be added under the
/// same number, and a reader ignores those that it does not know.
inline constexpr std::int64_t kResultFormat = 1;

/// One point of a sweep as a value. Its id is a hash of this (but for the study), of the model's
/// digest and of the machine.
struct Experiment {
  std::string study;
  std::string model;
  std::int64_t version = 1;
  std::string model_sha256;                  // of what is run: the artifact; "" for a server's
  std::string engine;                        // "openvino"
  std::string precision;                     // "f32", "bf16"; "" for a server that does not say
  std::int64_t batch = 1;                    // items in one request
  std::string lanes;                         // "cpu:0|cpu:1"; "" for a server
  std::int64_t concurrency = 1;              // client threads, each with one request under way
  std::map<std::string, std::string> shape;  // {"tokens": "128"} or {"tokens": "lengths.txt"}
  std::string target = "lanes";              // or "http://127.0.0.1:8000"
  std::string tensors;  // of a request to a server: "binary" or "json"; "" for lanes
  std::string load = "closed";
  double seconds = 0;             // of the measuring window, at least
  std::int64_t min_requests = 0;  // answered in the window, at least
  std::int64_t seed = 1;

  friend bool operator==(const Experiment&, const Experiment&) = default;
};

/// The machine and the software that a result holds for.
struct Machine {
  std::string cpu;  // "AMD EPYC 9R14"
  /// Those that decide: avx512f, avx512_vnni, avx512_bf16, amx_bf16, ...
  std::vector<std::string> cpu_flags;
  std::int64_t cores = 0;  // usable by this process
  double cpu_quota = 0;    // cores; 0: none
  std::uint64_t memory_bytes = 0;
  std::string governor;  // "" where the machine does not say
  std::string kernel;
  std::map<std::string, std::string> versions;  // corelane, openvino, torch

  friend bool operator==(const Machine&, const Machine&) = default;
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
  std::int64_t items = 0;  // batch x requests that were answered well in the window
  double items_per_second = 0;
  double items_per_second_low = 0;  // 95 % interval over the window's slices
  double items_per_second_high = 0;
  Distribution latency;  // milliseconds, of requests answered well in the window
  /// Milliseconds; "queue", "gather", "compute", "write" where the target tells.
  std::map<std::string, Distribution> split;
  double lane_busy = 0;            // share of the window in which lanes worked; 0: not known
  double generator_cores = 0;      // CPU seconds of the client threads per second of the window
  std::uint64_t memory_bytes = 0;  // proportional set size of server and workers; 0: not known
  std::string engine_report;       // what the engine says it loaded, a JSON object; "" if nothing
  bool valid = true;
  std::vector<std::string> invalid_because;  // sentences; empty when valid
  std::string samples_file;                  // beside it: "<id>.samples.csv"; "" without samples

  friend bool operator==(const ExperimentResult&, const ExperimentResult&) = default;
};

/// Errors name `where` and the field.
Result<ExperimentResult> parse_result(std::string_view json, const std::string& where);
Result<ExperimentResult> read_result(const std::filesystem::path& file);

/// parse_result(write_result(r)) == r.
std::string write_result(const ExperimentResult& result);

}  // namespace corelane::bench
