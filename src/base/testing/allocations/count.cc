#include "base/testing/allocations/count.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

thread_local std::int64_t allocations = 0;

}  // namespace

namespace corelane {

std::int64_t allocations_of_thread() { return allocations; }

}  // namespace corelane

// Not inlined: g++ 12 would see free() of what it takes for its own operator new's memory.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();  // lint: throw because that is what operator new does
}
// The sanitizers' own nothrow new would not fit the delete below.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  ++allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
