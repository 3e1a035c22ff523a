#include "serve/route.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace corelane::serve {
namespace {

constexpr std::string_view kModels = "/v2/models/";
constexpr std::string_view kRepository = "/v2/repository/";

/// Cuts the text up to the next '/' off the front of `path`, the '/' too.
std::string_view cut_segment(std::string_view& path) {
  const std::size_t end = path.find('/');
  const std::string_view segment = path.substr(0, end);
  path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  return segment;
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

RouteView parse_model_route(std::string_view rest) {
  RouteView route;
  if (rest == "stats") return {.resource = Resource::kStats};
  route.model = cut_segment(rest);
  if (route.model.empty()) return {};
  std::string_view segment = cut_segment(rest);
  if (segment == "versions") {
    route.version = cut_segment(rest);
    if (!is_number(route.version)) return {};
    segment = cut_segment(rest);
  }
  if (!rest.empty()) return {};
  if (segment.empty()) {
    route.resource = Resource::kModel;
  } else if (segment == "infer") {
    route.resource = Resource::kInfer;
  } else if (segment == "ready") {
    route.resource = Resource::kModelReady;
  } else if (segment == "config") {
    route.resource = Resource::kConfig;
  } else if (segment == "stats") {
    route.resource = Resource::kStats;
  }
  return route.resource == Resource::kNone ? RouteView{} : route;
}

RouteView parse_repository_route(std::string_view rest) {
  if (rest == "index") return {.resource = Resource::kIndex};
  if (cut_segment(rest) != "models") return {};
  RouteView route{.model = cut_segment(rest)};
  if (route.model.empty()) return {};
  if (rest == "load") route.resource = Resource::kLoad;
  if (rest == "unload") route.resource = Resource::kUnload;
  return route.resource == Resource::kNone ? RouteView{} : route;
}

}  // namespace

RouteView parse_route(std::string_view path) {
  if (path.substr(0, kModels.size()) == kModels) {
    return parse_model_route(path.substr(kModels.size()));
  }
  if (path.substr(0, kRepository.size()) == kRepository) {
    return parse_repository_route(path.substr(kRepository.size()));
  }
  if (path == "/v2/health/live") return {.resource = Resource::kLive};
  if (path == "/v2/health/ready") return {.resource = Resource::kReady};
  if (path == "/v2" || path == "/v2/") {
    return {.resource = Resource::kServer};
  }
  if (path == "/v2/openapi.json") return {.resource = Resource::kOpenApi};
  if (path == "/metrics") return {.resource = Resource::kMetrics};
  return {};
}

std::string_view method_of(Resource resource) {
  switch (resource) {
    case Resource::kInfer:
    case Resource::kIndex:
    case Resource::kLoad:
    case Resource::kUnload:
      return "POST";
    default:
      return "GET";
  }
}

}  // namespace corelane::serve
