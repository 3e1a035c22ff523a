#include "report/page_assets.h"

#include <cstddef>
#include <string_view>

// The files go into the program byte by byte: .incbin of the assembler, between two symbols each.
// CORELANE_WEB is the folder web/, from CMake.
asm(R"(
  .pushsection .rodata
corelane_page_style: .incbin ")" CORELANE_WEB R"(/report.css"
corelane_page_style_end:
corelane_page_script: .incbin ")" CORELANE_WEB R"(/report.js"
corelane_page_script_end:
corelane_vega: .incbin ")" CORELANE_WEB R"(/node_modules/vega/build/vega.min.js"
corelane_vega_end:
corelane_vega_lite: .incbin ")" CORELANE_WEB R"(/node_modules/vega-lite/build/vega-lite.min.js"
corelane_vega_lite_end:
corelane_vega_embed: .incbin ")" CORELANE_WEB R"(/node_modules/vega-embed/build/vega-embed.min.js"
corelane_vega_embed_end:
corelane_vega_licence: .incbin ")" CORELANE_WEB R"(/node_modules/vega/LICENSE"
corelane_vega_licence_end:
  .popsection
)");

extern "C" {
extern const char corelane_page_style[];
extern const char corelane_page_style_end[];
extern const char corelane_page_script[];
extern const char corelane_page_script_end[];
extern const char corelane_vega[];
extern const char corelane_vega_end[];
extern const char corelane_vega_lite[];
extern const char corelane_vega_lite_end[];
extern const char corelane_vega_embed[];
extern const char corelane_vega_embed_end[];
extern const char corelane_vega_licence[];
extern const char corelane_vega_licence_end[];
}

namespace corelane::report {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view page_style() { return between(corelane_page_style, corelane_page_style_end); }
std::string_view page_script() { return between(corelane_page_script, corelane_page_script_end); }
std::string_view vega() { return between(corelane_vega, corelane_vega_end); }
std::string_view vega_lite() { return between(corelane_vega_lite, corelane_vega_lite_end); }
std::string_view vega_embed() { return between(corelane_vega_embed, corelane_vega_embed_end); }
std::string_view vega_licence() {
  return between(corelane_vega_licence, corelane_vega_licence_end);
}

}  // namespace corelane::report
