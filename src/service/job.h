#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lane/tensor_ref.h"
#include "schedule/choose_batch.h"
#include "service/served_version.h"
#include "service/service.h"
#include "service/validate.h"

namespace corelane::service {

/// An accepted request until its answer.
struct Job {
  Request request;
  Validated valid;
  std::shared_ptr<const ServedVersion> version;
  ReplySink* sink = nullptr;
  schedule::Waiting waiting;
  Timing timing;
  std::uint32_t losses = 0;  // batches of it that died with their worker
};

using JobPtr = std::unique_ptr<Job>;

/// A job that ends without having run.
struct FailedJob {
  JobPtr job;
  Error error;
};

/// A batch that is with a lane.
struct Running {
  std::uint64_t batch = 0;
  const ServedVersion* version = nullptr;
  std::vector<JobPtr> jobs{};
  std::int64_t rows = 0;
};

}  // namespace corelane::service
