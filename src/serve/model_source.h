#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/repository.h"
#include "serve/config.h"
#include "service/service.h"

namespace corelane::serve {

struct ModelSourceOptions {
  std::filesystem::path root;  // a repository, one model of it, or one version
  std::string precision = "auto";
  std::map<std::string, EndpointConfig> endpoints{};
};

/// Which versions of a repository are served, in which precision. Reads the disk at each call, so
/// it answers by what lies there now. Thread-safe.
class ModelSource {
 public:
  explicit ModelSource(ModelSourceOptions options) : options_(std::move(options)) {}

  /// The newest version of each model named; with none named, of each that has load_at_start.
  /// kNotFound where there is none.
  Result<std::vector<service::VersionToServe>> at_start(
      const std::vector<std::string>& names) const;
  /// The newest version of a model.
  Result<service::VersionToServe> newest(const std::string& model) const;
  /// Everything that the repository holds.
  Result<model::Scan> scan() const { return model::scan_path(options_.root); }

 private:
  Result<service::VersionToServe> to_serve(model::Version version) const;

  ModelSourceOptions options_;
};

/// Tells one content of a version's folder from another: names, sizes and times of change of all
/// its files.
std::string stamp_of(const std::filesystem::path& folder);

}  // namespace corelane::serve
