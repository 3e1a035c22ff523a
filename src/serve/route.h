#pragma once

#include <cstdint>
#include <string_view>

namespace corelane::serve {

/// What a path stands for. docs/guide/serve.md lists them.
enum class Resource : std::uint8_t {
  kNone,
  kServer,      // /v2
  kOpenApi,     // /v2/openapi.json
  kLive,        // /v2/health/live
  kReady,       // /v2/health/ready
  kModel,       // /v2/models/{model}[/versions/{n}]
  kModelReady,  // .../ready
  kConfig,      // .../config
  kStats,       // .../stats; /v2/models/stats: of all models
  kInfer,       // .../infer
  kMetrics,     // /metrics
  kIndex,       // /v2/repository/index
  kLoad,        // /v2/repository/models/{model}/load
  kUnload,      // .../unload
};

/// A path taken apart. The views point into it.
struct RouteView {
  Resource resource = Resource::kNone;
  std::string_view model = {};
  std::string_view version = {};  // digits; empty: none given
};

/// kNone for anything that is not served, a version that is not a number included.
RouteView parse_route(std::string_view path);

/// "POST" for infer and the repository, "GET" for everything else.
std::string_view method_of(Resource resource);

}  // namespace corelane::serve
