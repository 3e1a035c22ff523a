#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/result.h"

namespace corelane::report {

struct ReadResults {
  std::vector<bench::ExperimentResult> results;
  std::vector<std::string> unreadable;  // file and reason, one a file that could not be read
};

/// Reads result files: each path is a file, or a directory whose *.json files are read with those
/// of its folders. A damaged file of a directory is told and left out; a path that does not exist,
/// or a file named by itself that cannot be read, is an error.
Result<ReadResults> read_results(std::span<const std::filesystem::path> paths);

}  // namespace corelane::report
