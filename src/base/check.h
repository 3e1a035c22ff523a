#pragma once

#include <source_location>
#include <string_view>

namespace corelane {

/// Ends the process, in release builds too, when a promise of our own code is broken. Never used on
/// input. `promise` says what should have held: check(lane.idle(), "a busy lane gets no batch").
void check(bool holds, std::string_view promise,
           std::source_location where = std::source_location::current());

}  // namespace corelane
