#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace corelane {

/// "50ms", "1.5s", "2min", "1h", "250us": a number and its unit, no sign, no space. The unit must
/// be there unless the number is 0.
Result<Nanos> parse_duration(std::string_view text);

/// The shortest text that parse_duration reads back as the same: "1500ms", "2s".
std::string to_string(Nanos duration);

/// For a person who waits: "4 min 10 s", "2 h 5 min", "12 s".
std::string spoken(Nanos duration);

}  // namespace corelane
