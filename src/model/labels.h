#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"

namespace corelane::model {

inline constexpr std::size_t kMaxLabelBytes = 16 << 20;

/// Names of classes, one a line; an empty line is a class without a name. Line ends may be those of
/// DOS, and the last one may be missing.
std::vector<std::string> parse_labels(std::string_view text);

/// The labels of each output of a version in `folder`, in the manifest's order; empty for outputs
/// that name no file. kNotFound, kIo, and kInvalidArgument for a file of more than kMaxLabelBytes.
Result<std::vector<std::vector<std::string>>> read_labels(const Manifest& manifest,
                                                          const std::filesystem::path& folder);

}  // namespace corelane::model
