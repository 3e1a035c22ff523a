#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "base/clock.h"

namespace corelane::cli {

/// Exit statuses of every command.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kDoesNotHold =
    3;  // done, but something asked for does not hold (an SLO, an accuracy)

/// What main makes once and passes to the command that runs.
struct Environment {
  const Clock& clock;
};

/// Each command registers its options and returns what runs it; main calls that after parsing. The
/// function's value is the exit status. One file per command: compile.cc, bench.cc, report.cc,
/// serve.cc, worker.cc.
using Run = std::function<int(Environment&)>;

Run add_compile(CLI::App& app);
Run add_bench(CLI::App& app);
Run add_report(CLI::App& app);
Run add_serve(CLI::App& app);
Run add_worker(CLI::App& app);

}  // namespace corelane::cli
