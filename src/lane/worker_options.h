#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace corelane::lane {

/// What a worker is told on its command line: `corelane worker --lane cpu:0 ...`. The descriptors
/// are inherited under the numbers given.
struct WorkerOptions {
  std::string lane;               // its name, for logs
  int threads = 1;                // compute threads of each model
  std::filesystem::path engines;  // folder of the plug-ins
  int control = -1;               // control socket
  int channel = -1;               // memory of the channel
  int arena = -1;                 // read-only
  int outputs = -1;               // output memory: Lane::kDepth equal parts
  int event = -1;                 // eventfd that wakes the driver
  int parent = 0;                 // pid of the server
  Nanos spin{};
};

std::vector<std::string> to_arguments(const WorkerOptions& options);
/// kInvalidArgument: not what to_arguments writes.
Result<WorkerOptions> parse_worker_arguments(std::span<const std::string> arguments);

}  // namespace corelane::lane
