#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "service/served_version.h"

namespace corelane::service {

using VersionPtr = std::shared_ptr<const ServedVersion>;

/// Which versions requests may name, as one value: a change replaces the whole. Immutable, so that
/// threads share a snapshot.
class Catalogue {
 public:
  explicit Catalogue(std::vector<VersionPtr> versions = {});

  /// This one with `model` served by exactly these.
  Catalogue with(std::string_view model, const std::vector<VersionPtr>& versions) const;

  /// In the order in which models came.
  const std::vector<VersionPtr>& all() const { return versions_; }
  /// Of one model, newest first; empty where it has none.
  const std::vector<VersionPtr>& of(std::string_view model) const;

  /// The version of that number; with none named the newest. kNotFound, kInvalidArgument.
  Result<VersionPtr> find(std::string_view model, std::string_view version) const;

 private:
  std::string names() const;

  std::vector<VersionPtr> versions_;
  std::map<std::string, std::vector<VersionPtr>, std::less<>> by_model_;
};

}  // namespace corelane::service
