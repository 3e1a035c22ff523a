#pragma once

#include <string_view>

namespace corelane::report {

// What the HTML page needs, carried in the program so that the page needs no network.

std::string_view page_style();   // web/report.css
std::string_view page_script();  // web/report.js
std::string_view vega();         // the three libraries, in the order they must load
std::string_view vega_lite();
std::string_view vega_embed();
std::string_view vega_licence();  // its text must go where the libraries go

}  // namespace corelane::report
