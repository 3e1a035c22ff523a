#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/commands.h"

namespace {

/// Descriptors 0 to 2 are open from here on: what is opened later must not be taken for stdout.
void open_standard_files() {
  int opened = 0;
  while (opened >= 0 && opened <= STDERR_FILENO) opened = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (opened >= 0) close(opened);
}

}  // namespace

// The composition root: what is real (clock, files, sockets) is made here or in the command that
// needs it, and passed in.
int main(int argc, char** argv) {
  open_standard_files();
  const corelane::SystemClock clock;
  corelane::cli::Environment environment{.clock = clock};
  return corelane::cli::run_command_line(std::vector<std::string>(argv + 1, argv + argc),
                                         environment);
}
