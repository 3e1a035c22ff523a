#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace corelane::serve {

/// How one endpoint is served.
struct EndpointConfig {
  std::optional<std::string> precision;
  std::optional<double> max_drop;
};

/// corelane.toml, as far as serve reads it. What is not there stays with the default or the flag.
/// docs/guide/serve.md is its page.
struct Config {
  std::optional<std::string> models;
  std::optional<std::string> http;
  std::optional<std::string> grpc;
  std::optional<std::int64_t> queue;
  std::optional<std::string> precision;
  std::optional<std::string> lanes;
  std::map<std::string, EndpointConfig> endpoints;
};

/// Errors name file, line and field; a field that is not known is one.
Result<Config> parse_config(std::string_view toml, const std::string& where);

/// "127.0.0.1:8000", "[::1]:0", ":8000" (loopback) taken apart.
struct Address {
  std::string host;
  std::uint16_t port = 0;
};
Result<Address> parse_address(std::string_view text);

/// Where gRPC listens: an address, "off" (nullopt), or "auto", the port after that of `http` on the
/// same host, and any free one where HTTP takes any.
Result<std::optional<Address>> parse_grpc_address(std::string_view text, const Address& http);

}  // namespace corelane::serve
