#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corelane::store {

/// Where results are: small texts under names such as "demo/3f2a.json", written whole and read
/// whole. Thread-safe; several processes may share one.
class Store {
 public:
  virtual ~Store() = default;
  /// Readers see the old text or the new one, never half of it, also when the machine stops.
  virtual Status put(const std::string& name, std::string_view text) = 0;
  /// kNotFound where there is none.
  virtual Result<std::string> get(const std::string& name) const = 0;
  /// The names directly below a folder, "" being the root, sorted; empty where there is none.
  /// Whatever is being written at the moment is not among them.
  virtual Result<std::vector<std::string>> list(const std::string& folder) const = 0;
};

/// A directory of this machine; it and its folders are made when something is put there.
std::unique_ptr<Store> open_directory(std::filesystem::path root);

}  // namespace corelane::store
