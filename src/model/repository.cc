#include "model/repository.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"

namespace corelane::model {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifestFile = "model.toml";

/// Names of the folders in `folder`, sorted; empty where it cannot be read.
std::vector<std::string> folders_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      names.push_back(at->path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// nullopt for what is not written as a version is: digits without a leading zero.
std::optional<std::int64_t> version_number(std::string_view name) {
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (failed != std::errc() || end != name.data() + name.size() || number < 1 ||
      name.front() == '0') {
    return std::nullopt;
  }
  return number;
}

Result<Version> read_version(const fs::path& root, const std::string& model, std::int64_t number) {
  const fs::path folder = root / model / std::to_string(number);
  auto manifest = read_manifest(folder / kManifestFile);
  if (!manifest) {
    return std::move(manifest).error();
  }
  if (manifest->name != model || manifest->version != number) {
    return invalid_argument(fmt::format("{}: says it is {}/{}, but its folder is {}/{}",
                                        (folder / kManifestFile).string(), manifest->name,
                                        manifest->version, model, number));
  }
  return Version{folder, *std::move(manifest)};
}

void scan_model(const fs::path& root, const std::string& model, Scan& scan) {
  for (const std::int64_t number : version_numbers(root, model)) {
    auto version = read_version(root, model, number);
    if (version) {
      scan.versions.push_back(*std::move(version));
    } else {
      scan.problems.push_back(std::move(version).error());
    }
  }
}

std::string draft_prefix(const std::string& model) { return ".draft-" + model + "-"; }

/// Removes drafts of processes that are gone: a killed one could not do it itself.
void remove_abandoned(const fs::path& root, const std::string& model) {
  const std::string prefix = draft_prefix(model);
  for (const std::string& name : folders_in(root)) {
    const std::string_view rest =
        std::string_view(name).substr(std::min(prefix.size(), name.size()));
    const auto pid = name.starts_with(prefix) ? version_number(rest) : std::nullopt;
    if (pid && kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH) {
      std::error_code ignored;
      fs::remove_all(root / name, ignored);
    }
  }
}

Status write_file(const fs::path& file, const std::string& text) {
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  return out ? Status() : errno_error("writing " + file.string(), errno);
}

/// rename() that never replaces: 0, or errno.
int rename_new(const fs::path& from, const fs::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return 0;
  }
  if (errno != EINVAL && errno != ENOSYS) {
    return errno;
  }
  // A file system without the flag: rename() itself refuses a folder that holds something.
  return rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

Result<Scan> scan_repository(const fs::path& root) {
  std::error_code failed;
  if (!fs::is_directory(root, failed)) {
    return not_found(
        fmt::format("{}: no such folder of models; `corelane compile` makes one", root.string()));
  }
  Scan scan;
  for (const std::string& model : folders_in(root)) {
    if (is_model_name(model)) {
      scan_model(root, model, scan);
    }
  }
  return scan;
}

Result<Scan> scan_path(const fs::path& path) {
  std::error_code failed;
  fs::path folder = fs::absolute(path, failed).lexically_normal();
  if (!folder.has_filename() || folder.filename() == kManifestFile) {
    folder = folder.parent_path();
  }
  if (fs::exists(folder / kManifestFile, failed)) {
    auto manifest = read_manifest(folder / kManifestFile);
    if (!manifest) {
      return std::move(manifest).error();
    }
    return Scan{.versions = {{folder, *std::move(manifest)}}, .problems = {}, .one_model = true};
  }
  const std::string model = folder.filename().string();
  const std::vector<std::int64_t> numbers = version_numbers(folder.parent_path(), model);
  const bool holds_versions = std::ranges::any_of(numbers, [&](std::int64_t number) {
    std::error_code ignored;
    return fs::exists(folder / std::to_string(number) / kManifestFile, ignored);
  });
  if (!holds_versions) {
    return scan_repository(path);
  }
  Scan scan{.versions = {}, .problems = {}, .one_model = true};
  scan_model(folder.parent_path(), model, scan);
  return scan;
}

std::vector<std::int64_t> version_numbers(const fs::path& root, const std::string& model) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : folders_in(root / model)) {
    if (const auto number = version_number(name)) {
      numbers.push_back(*number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<Version> newest_version(const fs::path& root, const std::string& model) {
  const std::vector<std::int64_t> numbers = version_numbers(root, model);
  if (numbers.empty()) {
    return not_found(fmt::format("{}: no version of a model '{}'", root.string(), model));
  }
  return read_version(root, model, numbers.back());
}

Result<Draft> Draft::begin(const fs::path& root, const std::string& model) {
  if (!is_model_name(model)) {
    return invalid_argument(fmt::format(
        "'{}' cannot be the name of a model: 1 to 128 of A-Z a-z 0-9 . _ - are possible", model));
  }
  remove_abandoned(root, model);
  const fs::path folder = root / (draft_prefix(model) + std::to_string(getpid()));
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    return errno_error("making " + folder.string(), failed.value());
  }
  return Draft(root, model, folder);
}

Draft::Draft(Draft&& other) noexcept
    : root_(std::move(other.root_)),
      model_(std::move(other.model_)),
      folder_(std::exchange(other.folder_, fs::path())) {}

Draft::~Draft() {
  if (!folder_.empty()) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    fs::remove(root_ / model_, ignored);  // both only where nothing else is in them
    fs::remove(root_, ignored);
  }
}

Result<Version> Draft::publish(Manifest manifest, std::optional<std::int64_t> version) {
  const std::vector<std::int64_t> numbers = version_numbers(root_, model_);
  std::int64_t number = version.value_or(numbers.empty() ? 1 : numbers.back() + 1);
  std::error_code failed;
  fs::create_directories(root_ / model_, failed);
  if (failed) {
    return errno_error("making " + (root_ / model_).string(), failed.value());
  }
  for (;; ++number) {
    manifest.name = model_;
    manifest.version = number;
    if (Status written = write_file(folder_ / kManifestFile, write_manifest(manifest)); !written) {
      return std::move(written).error();
    }
    const fs::path target = root_ / model_ / std::to_string(number);
    const int problem = rename_new(folder_, target);
    if (problem == 0) {
      folder_.clear();
      return Version{target, std::move(manifest)};
    }
    const bool taken = problem == EEXIST || problem == ENOTEMPTY;
    if (!taken) {
      return errno_error("renaming to " + target.string(), problem);
    }
    if (version) {
      return Error{ErrorCode::kAlreadyExists,
                   fmt::format("{} exists; versions are never replaced, so choose another number",
                               target.string())};
    }
  }
}

}  // namespace corelane::model
