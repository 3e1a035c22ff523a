#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace corelane::cli {

/// A bash script that completes the commands of `app`, their long options and file names. It is
/// made from the application's own tables, so it cannot fall behind them.
std::string bash_completion(const CLI::App& app);

}  // namespace corelane::cli
