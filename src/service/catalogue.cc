#include "service/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "service/served_version.h"

namespace corelane::service {

Catalogue::Catalogue(std::vector<VersionPtr> versions) : versions_(std::move(versions)) {
  for (const VersionPtr& version : versions_) by_model_[version->manifest.name].push_back(version);
  for (auto& [name, all] : by_model_) {
    std::sort(all.begin(), all.end(), [](const VersionPtr& a, const VersionPtr& b) {
      return a->manifest.version > b->manifest.version;
    });
  }
}

Catalogue Catalogue::with(std::string_view model, const std::vector<VersionPtr>& versions) const {
  std::vector<VersionPtr> all;
  bool placed = false;
  for (const VersionPtr& version : versions_) {
    if (version->manifest.name != model) {
      all.push_back(version);
    } else if (!placed) {
      all.insert(all.end(), versions.begin(), versions.end());
      placed = true;
    }
  }
  if (!placed) all.insert(all.end(), versions.begin(), versions.end());
  return Catalogue(std::move(all));
}

const std::vector<VersionPtr>& Catalogue::of(std::string_view model) const {
  static const std::vector<VersionPtr> kNone;
  const auto named = by_model_.find(model);
  return named == by_model_.end() ? kNone : named->second;
}

Result<VersionPtr> Catalogue::find(std::string_view model, std::string_view version) const {
  const std::vector<VersionPtr>& named = of(model);
  if (named.empty()) {
    return not_found(fmt::format("model '{}' is not served here; served: {}", model, names()));
  }
  if (version.empty()) return named.front();
  std::int64_t number = 0;
  const auto [end, error] =
      std::from_chars(version.data(), version.data() + version.size(), number);
  if (error != std::errc() || end != version.data() + version.size() || version.front() == '-') {
    return invalid_argument(fmt::format("version '{}' is not a number", version));
  }
  for (const VersionPtr& served : named) {
    if (served->manifest.version == number) return served;
  }
  return not_found(
      fmt::format("model '{}' has no version {} here; served: {}", model, number, names()));
}

std::string Catalogue::names() const {
  std::string names;
  for (const VersionPtr& version : versions_) {
    if (!names.empty()) names += ", ";
    names += version->signature.label;
  }
  return names.empty() ? "nothing" : names;
}

}  // namespace corelane::service
