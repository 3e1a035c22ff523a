#include "serve/route.h"

#include <gtest/gtest.h>

#include <string_view>

namespace corelane::serve {
namespace {

struct Case {
  std::string_view path;
  Resource resource;
  std::string_view model;
  std::string_view version;
};

TEST(ParseRoute, KnowsThePathsOfTheProtocol) {
  const Case cases[] = {
      {"/v2", Resource::kServer, "", ""},
      {"/v2/", Resource::kServer, "", ""},
      {"/v2/openapi.json", Resource::kOpenApi, "", ""},
      {"/v2/health/live", Resource::kLive, "", ""},
      {"/v2/health/ready", Resource::kReady, "", ""},
      {"/metrics", Resource::kMetrics, "", ""},
      {"/v2/models/qa", Resource::kModel, "qa", ""},
      {"/v2/models/qa/", Resource::kModel, "qa", ""},
      {"/v2/models/qa/ready", Resource::kModelReady, "qa", ""},
      {"/v2/models/qa/infer", Resource::kInfer, "qa", ""},
      {"/v2/models/qa/versions/3", Resource::kModel, "qa", "3"},
      {"/v2/models/qa/versions/3/ready", Resource::kModelReady, "qa", "3"},
      {"/v2/models/qa/versions/3/infer", Resource::kInfer, "qa", "3"},
      {"/v2/models/versions/infer", Resource::kInfer, "versions", ""},
      {"/v2/models/qa/config", Resource::kConfig, "qa", ""},
      {"/v2/models/qa/versions/3/config", Resource::kConfig, "qa", "3"},
      {"/v2/models/stats", Resource::kStats, "", ""},
      {"/v2/models/qa/stats", Resource::kStats, "qa", ""},
      {"/v2/models/qa/versions/3/stats", Resource::kStats, "qa", "3"},
      {"/v2/repository/index", Resource::kIndex, "", ""},
      {"/v2/repository/models/qa/load", Resource::kLoad, "qa", ""},
      {"/v2/repository/models/qa/unload", Resource::kUnload, "qa", ""},
  };
  for (const Case& c : cases) {
    const RouteView route = parse_route(c.path);
    EXPECT_EQ(route.resource, c.resource) << c.path;
    EXPECT_EQ(route.model, c.model) << c.path;
    EXPECT_EQ(route.version, c.version) << c.path;
  }
}

TEST(ParseRoute, ServesNothingElse) {
  for (const std::string_view path : {"",
                                      "/",
                                      "/v1",
                                      "/v2/models",
                                      "/v2/models/",
                                      "/v2/models//infer",
                                      "/v2/health",
                                      "/v2/models/qa/versions/abc",
                                      "/v2/models/qa/versions/-1/infer",
                                      "/v2/models/qa/versions/",
                                      "/v2/models/qa/infer/more",
                                      "/v2/models/stats/more",
                                      "/v2/models/qa/versions/x/config",
                                      "/v2/models/qa/unknown",
                                      "/v2/repository/",
                                      "/v2/repository/models/qa",
                                      "/v2/repository/models//load",
                                      "/v2/repository/models/qa/load/more",
                                      "/metrics/",
                                      "v2"}) {
    EXPECT_EQ(parse_route(path).resource, Resource::kNone) << path;
  }
}

TEST(MethodOf, IsPostForWhatComputesOrChanges) {
  EXPECT_EQ(method_of(Resource::kLoad), "POST");
  EXPECT_EQ(method_of(Resource::kInfer), "POST");
  EXPECT_EQ(method_of(Resource::kMetrics), "GET");
}

}  // namespace
}  // namespace corelane::serve
