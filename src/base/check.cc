#include "base/check.h"

#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <string_view>

namespace corelane {

void check(bool holds, std::string_view promise, std::source_location where) {
  if (holds) [[likely]] {
    return;
  }
  std::fprintf(stderr, "%s:%u: broken promise: %.*s\n", where.file_name(), where.line(),
               static_cast<int>(promise.size()), promise.data());
  std::abort();
}

}  // namespace corelane
