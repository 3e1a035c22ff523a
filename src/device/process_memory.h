#pragma once

#include <cstdint>
#include <span>

namespace corelane::device {

/// The proportional set sizes of the processes added up, so that pages they share count once.
/// A process that has gone counts nothing; 0 where the system does not tell.
std::uint64_t proportional_memory(std::span<const int> pids);

}  // namespace corelane::device
