#include <array>
#include <span>

#include "cli/commands.h"

namespace corelane::cli {

std::span<const Command> command_table() {
  static constexpr std::array kCommands = {
      Command{"bench", "Measure what serving a model costs on this machine", add_bench},
      Command{"compile", "Make a model version that lanes can load from a model file", add_compile},
      Command{"report", "Show what results mean: tables, curves, cost, what to choose", add_report},
      Command{"serve", "Serve models on all lanes over HTTP", add_serve},
      Command{"worker", "", add_worker},
  };
  return kCommands;
}

}  // namespace corelane::cli
