#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"

namespace corelane::model {

/// A version on disk: models/<model>/<version>/ with a model.toml that can be read and that says
/// the same name and number as the folder.
struct Version {
  std::filesystem::path folder;
  Manifest manifest;
};

/// What a repository holds, by name and then by number. A version that cannot be read does not hide
/// the others: it stands among the problems, whose messages name the file.
struct Scan {
  std::vector<Version> versions;
  std::vector<Error> problems;
  bool one_model = false;  // scan_path() was given the folder of a model or of a version
};

/// Reads all versions below `root`. Folders whose names are no model names (such as hidden ones) or
/// no numbers are passed over. kNotFound where `root` does not exist.
Result<Scan> scan_repository(const std::filesystem::path& root);

/// The same for whatever a person may name: a repository, the folder of one model in it, or the
/// folder of one version (or its model.toml), which may lie anywhere and whose manifest says what
/// it is called.
Result<Scan> scan_path(const std::filesystem::path& path);

/// The numbers of a model's version folders, ascending; empty where it has none.
std::vector<std::int64_t> version_numbers(const std::filesystem::path& root,
                                          const std::string& model);

/// The newest version of a model; kNotFound where it has none.
Result<Version> newest_version(const std::filesystem::path& root, const std::string& model);

/// A version being prepared: a hidden folder below the repository, filled by the caller, and
/// published whole by a rename or removed with this object. Removes what a killed process has left
/// behind for the same model. Thread-compatible.
class Draft {
 public:
  static Result<Draft> begin(const std::filesystem::path& root, const std::string& model);
  Draft(Draft&& other) noexcept;
  Draft& operator=(Draft&&) = delete;
  ~Draft();

  const std::filesystem::path& folder() const { return folder_; }

  /// Writes model.toml and renames the folder to <root>/<model>/<version>. With no version given it
  /// is the number after the newest. Sets name and version of the manifest. kAlreadyExists where
  /// that version exists.
  Result<Version> publish(Manifest manifest, std::optional<std::int64_t> version);

 private:
  Draft(std::filesystem::path root, std::string model, std::filesystem::path folder)
      : root_(std::move(root)), model_(std::move(model)), folder_(std::move(folder)) {}

  std::filesystem::path root_;
  std::string model_;
  std::filesystem::path folder_;  // empty once published or moved from
};

}  // namespace corelane::model
