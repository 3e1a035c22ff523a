#include "serve/model_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "model/manifest.h"
#include "model/repository.h"
#include "serve/choose_precision.h"
#include "serve/config.h"
#include "service/service.h"

namespace corelane::serve {
namespace {

namespace fs = std::filesystem;
constexpr double kMaxDrop = 0.01;

}  // namespace

Result<service::VersionToServe> ModelSource::to_serve(model::Version version) const {
  EndpointConfig endpoint;
  if (const auto set = options_.endpoints.find(version.manifest.name);
      set != options_.endpoints.end()) {
    endpoint = set->second;
  }
  auto precision =
      choose_precision(version.manifest, endpoint.precision.value_or(options_.precision),
                       endpoint.max_drop.value_or(kMaxDrop));
  if (!precision) return std::move(precision).error();
  fs::path folder = fs::absolute(version.folder);
  std::string stamp = stamp_of(folder);
  return service::VersionToServe{.folder = std::move(folder),
                                 .manifest = std::move(version.manifest),
                                 .precision = *std::move(precision),
                                 .stamp = std::move(stamp)};
}

Result<std::vector<service::VersionToServe>> ModelSource::at_start(
    const std::vector<std::string>& names) const {
  auto scan = this->scan();
  if (!scan) {
    return in_context(std::move(scan), "no models to serve; make one with `corelane compile`");
  }
  for (const Error& problem : scan->problems) log(LogLevel::kWarning, problem.message);
  std::vector<service::VersionToServe> versions;
  if (!names.empty()) {
    for (const std::string& name : names) {
      auto version = newest(name);
      if (!version) return in_context(std::move(version), "--load");
      versions.push_back(*std::move(version));
    }
    return versions;
  }
  for (std::size_t i = 0; i < scan->versions.size(); ++i) {
    model::Version& version = scan->versions[i];
    const bool newest = i + 1 == scan->versions.size() ||
                        scan->versions[i + 1].manifest.name != version.manifest.name;
    const bool wanted = scan->one_model || version.manifest.load_at_start;
    if (!newest || !wanted) continue;
    auto chosen = to_serve(std::move(version));
    if (!chosen) return std::move(chosen).error();
    versions.push_back(*std::move(chosen));
  }
  if (versions.empty()) {
    return not_found(
        fmt::format("{} holds no model that is loaded at the start; make one with "
                    "`corelane compile`",
                    options_.root.string()));
  }
  return versions;
}

Result<service::VersionToServe> ModelSource::newest(const std::string& model) const {
  if (!model::is_model_name(model)) {
    return not_found(fmt::format("'{}' cannot be the name of a model", model));
  }
  std::error_code ignored;
  if (fs::is_directory(options_.root / model, ignored)) {
    auto version = model::newest_version(options_.root, model);
    if (!version) return std::move(version).error();
    return to_serve(*std::move(version));
  }
  auto scan = this->scan();
  if (!scan) return std::move(scan).error();
  if (!scan->one_model || scan->versions.empty() || scan->versions.back().manifest.name != model) {
    return not_found(fmt::format("{}: no version of a model '{}'", options_.root.string(), model));
  }
  return to_serve(std::move(scan->versions.back()));
}

std::string stamp_of(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    std::error_code ignored;
    if (!at->is_regular_file(ignored)) continue;
    files.push_back(fmt::format("{} {} {}\n", at->path().lexically_relative(folder).string(),
                                at->file_size(ignored),
                                at->last_write_time(ignored).time_since_epoch().count()));
  }
  std::sort(files.begin(), files.end());
  std::string stamp;
  for (const std::string& file : files) stamp += file;
  return stamp;
}

}  // namespace corelane::serve
