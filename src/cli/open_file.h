#pragma once

#include <filesystem>

#include "base/result.h"

namespace corelane::cli {

/// Hands a file to the desktop's program for it (xdg-open). kUnavailable where there is none.
Status open_file(const std::filesystem::path& file);

}  // namespace corelane::cli
