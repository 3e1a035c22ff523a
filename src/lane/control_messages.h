#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/units.h"
#include "lane/lane.h"
#include "lane/load_spec.h"

namespace corelane::lane {

// What supervisor and worker say to each other over the control socket, one JSON object a message.
// docs/formats/channel.md lists them.

/// Server to worker. Loads and unloads are answered in order, each by one report.
struct LoadCommand {
  SlotId slot{};
  LoadSpec spec;
};
struct UnloadCommand {
  SlotId slot{};
};
/// Finish the batch that runs, then end.
struct StopCommand {};
using Command = std::variant<LoadCommand, UnloadCommand, StopCommand>;

/// Worker to server: everything is mapped, the infer thread waits for batches.
struct Ready {};
using Report = std::variant<Ready, ModelLoaded, ModelUnloaded>;

/// No message is longer; an engine's report that would make it so is left out.
inline constexpr std::size_t kMostMessageBytes = 60'000;

std::string to_json(const Command& command);
std::string to_json(const Report& report);

/// kInternal for anything that the functions above do not write.
Result<Command> parse_command(std::string_view json);
Result<Report> parse_report(std::string_view json);

}  // namespace corelane::lane
