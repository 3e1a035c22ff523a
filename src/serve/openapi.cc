#include "serve/openapi.h"

#include <cstddef>
#include <string_view>

// The file goes into the program byte by byte. CORELANE_OPENAPI is its path, from CMake.
asm(R"(
  .pushsection .rodata
kCorelaneOpenApi: .incbin ")" CORELANE_OPENAPI R"("
kCorelaneOpenApiEnd:
  .popsection
)");

extern "C" {
extern const char kCorelaneOpenApi[];
extern const char kCorelaneOpenApiEnd[];
}

namespace corelane::serve {

std::string_view openapi_json() {
  return {kCorelaneOpenApi, static_cast<std::size_t>(kCorelaneOpenApiEnd - kCorelaneOpenApi)};
}

}  // namespace corelane::serve
