#include "serve/config.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "model/manifest.h"
#include "serve/choose_precision.h"

namespace corelane::serve {
namespace {

TEST(ParseConfig, ReadsWhatTheGuideShows) {
  const auto config = parse_config(R"(
[serve]
models = "models"
http = "127.0.0.1:8000"
queue = 16
precision = "f32"
[lanes]
plan = "cpu:0|cpu:1"
[endpoint.qa]
precision = "auto"
max_drop = 0.02
)",
                                   "corelane.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->models, "models");
  EXPECT_EQ(config->queue, 16);
  EXPECT_EQ(config->lanes, "cpu:0|cpu:1");
  EXPECT_EQ(config->endpoints.at("qa").max_drop, 0.02);
}

TEST(ParseConfig, NamesTheLineOfWhatItDoesNotKnow) {
  const std::pair<const char*, const char*> cases[] = {
      {"[serve]\nport = 3\n", "c.toml:2: serve.port is not a setting of serve"},
      {"[serve]\nqueue = \"many\"\n", "c.toml:2: serve.queue has the wrong type"},
      {"[server]\n", "c.toml:1: [server] is none of [serve], [lanes], [endpoint.NAME]"},
      {"serve = 3\n", "c.toml:1: serve is no table"},
      {"[endpoint]\nqa = 3\n", "c.toml:2: endpoint.qa is no table"},
  };
  for (const auto& [text, message] : cases) {
    const auto config = parse_config(text, "c.toml");
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(config.error().message, message);
  }
  EXPECT_EQ(parse_config("[serve\n", "c.toml").error().message.substr(0, 9), "c.toml:1:");
}

TEST(ParseAddress, TakesHostAndPortApart) {
  EXPECT_EQ(parse_address("0.0.0.0:80")->host, "0.0.0.0");
  EXPECT_EQ(parse_address("0.0.0.0:80")->port, 80);
  EXPECT_EQ(parse_address("[::1]:8000")->host, "::1");
  EXPECT_EQ(parse_address(":0")->host, "127.0.0.1");
  for (const char* wrong : {"", "host", "host:", "host:x", "host:70000", "1:2x"}) {
    EXPECT_FALSE(parse_address(wrong)) << wrong;
  }
}

model::Manifest with(std::map<std::string, double> drops) {
  model::Manifest manifest;
  manifest.name = "m";
  for (const auto& [name, drop] : drops) {
    manifest.precisions[name].engine = "openvino";
    if (drop >= 0) {
      manifest.precisions[name].accuracy =
          model::Accuracy{.measure = "f1", .value = 0.9 - drop, .reference = 0.9, .on = {}};
    }
  }
  return manifest;
}

constexpr double kNotMeasured = -1;

TEST(ChoosePrecision, TakesTheCheapestThatKeepsItsAccuracy) {
  const auto manifest = with({{"f32", kNotMeasured}, {"bf16", 0.001}, {"int8", 0.03}});
  EXPECT_EQ(*choose_precision(manifest, "auto", 0.01), "bf16");
  EXPECT_EQ(*choose_precision(manifest, "auto", 0.05), "int8");
  EXPECT_EQ(*choose_precision(manifest, "auto", 0.0001), "f32");
  EXPECT_EQ(*choose_precision(manifest, "int8", 0.0001), "int8");
}

TEST(ChoosePrecision, TakesWhatWasNotMeasuredOnlyWhereThereIsNothingElse) {
  EXPECT_EQ(*choose_precision(with({{"f32", kNotMeasured}, {"bf16", kNotMeasured}}), "auto", 1),
            "f32");
  EXPECT_EQ(*choose_precision(with({{"bf16", kNotMeasured}}), "auto", 1), "bf16");
  EXPECT_FALSE(choose_precision(with({}), "auto", 1));
}

TEST(ChoosePrecision, NamesWhatThereIs) {
  EXPECT_EQ(choose_precision(with({{"f32", kNotMeasured}, {"bf16", kNotMeasured}}), "fp4", 1)
                .error()
                .message,
            "m@1 has no precision 'fp4'; it has bf16, f32");
}

TEST(ParseGrpcAddress, ComesAfterHttpUnlessToldOtherwise) {
  const Address http{.host = "127.0.0.1", .port = 8000};
  EXPECT_EQ((*parse_grpc_address("auto", http))->port, 8001);
  EXPECT_EQ((*parse_grpc_address("auto", {.host = "::1", .port = 9000}))->host, "::1");
  EXPECT_EQ((*parse_grpc_address("auto", {.host = "127.0.0.1", .port = 0}))->port, 0);
  EXPECT_FALSE(parse_grpc_address("auto", {.host = "127.0.0.1", .port = 65535}));
  EXPECT_EQ((*parse_grpc_address("0.0.0.0:7000", http))->port, 7000);
  EXPECT_FALSE(*parse_grpc_address("off", http));
  EXPECT_FALSE(parse_grpc_address("on", http));
}

}  // namespace
}  // namespace corelane::serve
