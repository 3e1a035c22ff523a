#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace corelane::cli {

/// Exit statuses of every command.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kDoesNotHold =
    3;  // done, but something asked for does not hold (an SLO, an accuracy)
inline constexpr int kInterrupted = 130;  // by SIGINT or SIGTERM, as shells say it

/// What main makes once and passes to the command that runs.
struct Environment {
  const Clock& clock;
};

/// What runs a command after its options have been parsed. Its value is the exit status.
using Run = std::function<int(Environment&)>;

/// Each command has one file: compile.cc, bench.cc, report.cc, serve.cc, worker.cc. Its function
/// gets the subcommand that main has made from the table below, adds options and a footer with two
/// real examples, and returns what runs it.
Run add_compile(CLI::App& command);
Run add_bench(CLI::App& command);
Run add_report(CLI::App& command);
Run add_serve(CLI::App& command);
Run add_worker(CLI::App& command);

/// A row of the table of commands in command_table.cc.
struct Command {
  std::string_view name;
  std::string_view
      summary;  // one line of --help; empty: not shown (a command of our own processes)
  Run (*add)(CLI::App& command);
};

std::span<const Command> command_table();

/// Parses the arguments (without the program's name), runs what they ask for, returns the exit
/// status.
int run_command_line(const std::vector<std::string>& arguments, Environment& environment);

}  // namespace corelane::cli
