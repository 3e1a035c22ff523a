#pragma once

#include <string_view>

namespace corelane::serve {

/// src/serve/openapi.json, which describes the REST API.
std::string_view openapi_json();

}  // namespace corelane::serve
