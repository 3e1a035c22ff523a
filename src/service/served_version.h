#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "lane/lane.h"
#include "model/manifest.h"
#include "schedule/cost.h"
#include "service/signature.h"

namespace corelane::service {

/// A version as the service runs it. Immutable once lanes have been asked to load it; lives as long
/// as it is served or a request of it lives.
struct ServedVersion {
  model::Manifest manifest;
  Signature signature;
  std::string precision;
  std::filesystem::path folder;
  std::string stamp;  // VersionToServe::stamp
  lane::SlotId slot{};
  std::size_t index = 0;  // its place in the dispatcher; another's once it is removed there
  schedule::LinearCost cost{0};
  std::vector<std::vector<std::string>> labels{};  // of each output; empty: none
};

}  // namespace corelane::service
