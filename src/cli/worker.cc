#include "lane/worker.h"

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace corelane::cli {

// For our own processes: what the arguments mean stands in lane/worker_options.h.
Run add_worker(CLI::App& command) {
  command.prefix_command();
  return [&command](Environment& environment) {
    return lane::run_worker(command.remaining(), environment.clock);
  };
}

}  // namespace corelane::cli
