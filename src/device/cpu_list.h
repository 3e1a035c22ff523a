#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::device {

/// Logical CPUs as the kernel writes them in lists: "0-3,8" <-> {0, 1, 2, 3, 8}. Ascending, each
/// once; a trailing newline is fine, "" is the empty list. nullopt for anything else, and for
/// numbers above 65535.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// Precondition: ascending.
std::string to_cpu_list(std::span<const int> cpus);

}  // namespace corelane::device
