#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lane/lane.h"
#include "model/manifest.h"
#include "service/signature.h"

namespace corelane::service {

/// A version as the service runs it. Immutable once the service has started.
struct ServedVersion {
  model::Manifest manifest;
  Signature signature;
  std::string precision;
  lane::SlotId slot{};
  std::size_t index = 0;  // its place in the service
  double overhead = 1;    // of a run, as schedule::LearnedCost assumes it before it has seen some
  std::vector<std::vector<std::string>> labels{};  // of each output; empty: none
};

}  // namespace corelane::service
