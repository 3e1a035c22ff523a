#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/commands.h"

// The composition root: what is real (clock, files, sockets) is made here or in the command that
// needs it, and passed in.
int main(int argc, char** argv) {
  const corelane::SystemClock clock;
  corelane::cli::Environment environment{.clock = clock};
  return corelane::cli::run_command_line(std::vector<std::string>(argv + 1, argv + argc),
                                         environment);
}
