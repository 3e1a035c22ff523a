#pragma once

#include <string_view>

#include "base/units.h"

namespace corelane::lane {

/// Memory that this process has for itself: anonymous pages and those of mapped files that are
/// resident. What it shares with the server (arena, channel, outputs) does not count. 0 where the
/// kernel does not tell.
Bytes own_memory();

/// The same from the text of /proc/PID/status.
Bytes own_memory_in(std::string_view status);

}  // namespace corelane::lane
