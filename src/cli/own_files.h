#pragma once

#include <filesystem>

namespace corelane::cli {

/// This program, to be started again as a worker.
inline std::filesystem::path own_executable() { return "/proc/self/exe"; }

/// The folder of the engine plug-ins: `engines` beside this program.
inline std::filesystem::path own_engines() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "engines";
}

}  // namespace corelane::cli
