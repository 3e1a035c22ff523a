#include "load/http_target.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "load/lanes_target.h"
#include "load/target.h"
#include "model/manifest.h"
#include "net/http_client.h"

namespace corelane::load {
namespace {

constexpr std::string_view kScheme = "http://";

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Error refused(const net::ClientResponseView& response) {
  constexpr std::size_t kMost = 300;
  return internal_error(
      fmt::format("HTTP {}: {}", response.status, text_of(response.body).substr(0, kMost)));
}

}  // namespace

Result<net::HttpClientOptions> parse_http_url(std::string_view url) {
  const Error fault = invalid_argument(fmt::format("'{}' is not http://host:port", url));
  if (!url.starts_with(kScheme)) return fault;
  std::string_view place = url.substr(kScheme.size());
  if (place.ends_with('/')) place.remove_suffix(1);
  net::HttpClientOptions options;
  options.port = 80;
  const std::size_t colon = place.rfind(':');
  // A colon inside brackets belongs to an IPv6 address.
  if (colon != std::string_view::npos && place.find(']', colon) == std::string_view::npos) {
    const std::string_view port = place.substr(colon + 1);
    const auto [after, bad] = std::from_chars(port.data(), port.data() + port.size(), options.port);
    if (bad != std::errc() || after != port.data() + port.size() || options.port == 0) return fault;
    place = place.substr(0, colon);
  }
  if (place.starts_with('[') && place.ends_with(']')) place = place.substr(1, place.size() - 2);
  if (place.empty() || place.find('/') != std::string_view::npos) return fault;
  options.host = place;
  return options;
}

Result<model::Manifest> fetch_model_metadata(net::HttpClient& client, const std::string& model,
                                             const std::string& version,
                                             const std::string& dimension) {
  const std::string path = "/v2/models/" + model + (version.empty() ? "" : "/versions/" + version);
  auto response = client.exchange(net::PreparedRequest("GET", path, {}, {}));
  if (!response) return in_context(std::move(response), "asking for model '" + model + "'");
  if (response->status != 200) {
    return in_context(Status(refused(*response)), "asking for model '" + model + "'");
  }
  auto manifest = parse_model_metadata(text_of(response->body), dimension);
  if (!manifest) return in_context(std::move(manifest), "metadata of model '" + model + "'");
  return manifest;
}

HttpTarget::HttpTarget(std::unique_ptr<net::HttpClient> client, std::span<const HttpInput> inputs,
                       ClientPlace place)
    : client_(std::move(client)), inputs_(inputs), place_(place) {}

Result<Answer> HttpTarget::send(std::uint64_t turn) {
  const HttpInput& input = inputs_[input_of_turn(place_, turn, inputs_.size())];
  auto response = client_->exchange(input.request);
  if (!response) return std::move(response).error();
  if (response->status != 200) return refused(*response);
  return Answer{.items = input.items};
}

}  // namespace corelane::load
