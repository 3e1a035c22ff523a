#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace corelane::cli {

/// For a path that is a model as somebody saved it, not a version that can be served: what to type
/// so that it is served, with `models` as the repository. nullopt for anything else.
std::optional<std::string> how_to_serve(const std::filesystem::path& path,
                                        const std::string& models);

}  // namespace corelane::cli
