#include "serve/openapi.h"

#include <cstddef>
#include <string_view>

// The file goes into the program byte by byte. CORELANE_OPENAPI is its path, from CMake.
asm(R"(
  .pushsection .rodata
corelane_openapi: .incbin ")" CORELANE_OPENAPI R"("
corelane_openapi_end:
  .popsection
)");

extern "C" {
extern const char corelane_openapi[];
extern const char corelane_openapi_end[];
}

namespace corelane::serve {

std::string_view openapi_json() {
  return {corelane_openapi, static_cast<std::size_t>(corelane_openapi_end - corelane_openapi)};
}

}  // namespace corelane::serve
