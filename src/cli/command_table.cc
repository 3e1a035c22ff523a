#include <array>
#include <span>

#include "cli/commands.h"

namespace corelane::cli {

std::span<const Command> command_table() {
  // One line a command: Command{"bench", "Measure what serving a model costs", add_bench},
  static constexpr std::array kCommands = {
      Command{"worker", "", add_worker},
  };
  return kCommands;
}

}  // namespace corelane::cli
