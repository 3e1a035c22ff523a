#include "serve/config.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"

namespace corelane::serve {
namespace {

/// Reads fields of one table; keeps the first problem.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string name, const std::string& where)
      : table_(table), name_(std::move(name)), where_(where) {}

  template <typename T>
  void read(std::string_view key, std::optional<T>& into) {
    known_.emplace_back(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) return;
    into = node->value<T>();
    if (!into) report(*node, fmt::format("{}.{} has the wrong type", name_, key));
  }

  void no_others() {
    for (const auto& [key, node] : table_) {
      const bool known = std::find(known_.begin(), known_.end(), key.str()) != known_.end();
      if (!known) report(node, fmt::format("{}.{} is not a setting of serve", name_, key.str()));
    }
  }
  void report(const toml::node& node, const std::string& what) {
    if (status_)
      status_ = invalid_argument(fmt::format("{}:{}: {}", where_, node.source().begin.line, what));
  }
  Status status() const { return status_; }

 private:
  const toml::table& table_;
  std::string name_;
  const std::string& where_;
  std::vector<std::string> known_;
  Status status_;
};

Status read_serve(const toml::table& table, const std::string& where, Config& config) {
  TableReader reader(table, "serve", where);
  reader.read("models", config.models);
  reader.read("http", config.http);
  reader.read("grpc", config.grpc);
  reader.read("queue", config.queue);
  reader.read("precision", config.precision);
  reader.no_others();
  return reader.status();
}

Status read_lanes(const toml::table& table, const std::string& where, Config& config) {
  TableReader reader(table, "lanes", where);
  reader.read("plan", config.lanes);
  reader.no_others();
  return reader.status();
}

Status read_endpoints(const toml::table& tables, const std::string& where, Config& config) {
  for (const auto& [name, node] : tables) {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      return invalid_argument(fmt::format("{}:{}: endpoint.{} is no table", where,
                                          node.source().begin.line, name.str()));
    }
    TableReader reader(*table, fmt::format("endpoint.{}", name.str()), where);
    EndpointConfig& endpoint = config.endpoints[std::string(name.str())];
    reader.read("precision", endpoint.precision);
    reader.read("max_drop", endpoint.max_drop);
    reader.no_others();
    if (auto status = reader.status(); !status) return status;
  }
  return {};
}

}  // namespace

Result<Config> parse_config(std::string_view text, const std::string& where) try {
  const toml::table file = toml::parse(text, where);
  Config config;
  for (const auto& [key, node] : file) {
    const toml::table* table = node.as_table();
    Status status;
    if (table == nullptr) {
      status = invalid_argument(
          fmt::format("{}:{}: {} is no table", where, node.source().begin.line, key.str()));
    } else if (key == "serve") {
      status = read_serve(*table, where, config);
    } else if (key == "lanes") {
      status = read_lanes(*table, where, config);
    } else if (key == "endpoint") {
      status = read_endpoints(*table, where, config);
    } else {
      status =
          invalid_argument(fmt::format("{}:{}: [{}] is none of [serve], [lanes], [endpoint.NAME]",
                                       where, node.source().begin.line, key.str()));
    }
    if (!status) return std::move(status).error();
  }
  return config;
} catch (const toml::parse_error& error) {
  return invalid_argument(
      fmt::format("{}:{}: {}", where, error.source().begin.line, error.description()));
}

Result<Address> parse_address(std::string_view text) {
  const Error wrong = invalid_argument(
      fmt::format("'{}' is no address; write HOST:PORT, such as 127.0.0.1:8000", text));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong;
  Address address{.host = std::string(text.substr(0, colon))};
  if (address.host.empty()) address.host = "127.0.0.1";
  if (address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size()) return wrong;
  return address;
}

Result<std::optional<Address>> parse_grpc_address(std::string_view text, const Address& http) {
  if (text == "off") return std::optional<Address>();
  if (text != "auto") {
    auto address = parse_address(text);
    if (!address) return std::move(address).error();
    return std::optional(*std::move(address));
  }
  if (http.port == std::numeric_limits<std::uint16_t>::max()) {
    return invalid_argument("no port comes after that of HTTP; write HOST:PORT or off");
  }
  const auto next = static_cast<std::uint16_t>(http.port + 1);
  return std::optional(Address{.host = http.host, .port = http.port == 0 ? http.port : next});
}

}  // namespace corelane::serve
