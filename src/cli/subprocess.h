#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace corelane::cli {

struct Finished {
  int status = 0;   // exit status, or 128 + the signal that ended it
  std::string out;  // all of its stdout
};

struct Program {
  std::vector<std::string> arguments;    // the program's file first
  std::vector<std::string> environment;  // "NAME=value", beside our own
};

/// Runs a program to its end, with our stderr and an empty stdin. While it runs SIGINT and SIGTERM
/// are held back from this thread and end the program instead: kCancelled then. A second signal
/// ends it at once. The program dies with us. Call from a thread that is the only one to handle
/// signals.
Result<Finished> run_program(const Program& program);

}  // namespace corelane::cli
