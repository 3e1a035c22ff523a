#pragma once

#include <cstdint>

namespace corelane {

/// How often this thread has called operator new: a test takes the difference of two calls.
/// A test program gets this by TEST_LINKS counted_allocations, which puts operators of its own in
/// place of new and delete for the whole program (plug-ins that it opens too). Allocations by
/// malloc, and those aligned beyond what malloc gives, are not seen.
std::int64_t allocations_of_thread();

}  // namespace corelane
