#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "lane/lane.h"
#include "service/service.h"

namespace corelane::service {

/// A thread that drives all lanes of a service; ends and joins when destroyed. Destroy it before
/// the service.
class LaneRunner {
 public:
  virtual ~LaneRunner() = default;
};

/// For programs that have no loop over descriptors of their own, such as a benchmark of the lanes.
Result<std::unique_ptr<LaneRunner>> run_lanes_on_thread(Service& service,
                                                        std::span<lane::Lane* const> lanes);

}  // namespace corelane::service
