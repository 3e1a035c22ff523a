#pragma once

#include <filesystem>
#include <string>

namespace corelane::lane {

/// Which artifact a slot is.
struct LoadSpec {
  std::filesystem::path folder;  // models/<model>/<version>, with its model.toml
  std::string precision;         // "f32"

  friend bool operator==(const LoadSpec&, const LoadSpec&) = default;
};

}  // namespace corelane::lane
