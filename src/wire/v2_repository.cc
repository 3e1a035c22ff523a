#include "wire/v2_repository.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/json_text.h"

namespace corelane::wire {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

/// The body's object; an empty one for an empty body.
Result<object> parse_object(simdjson::dom::parser& parser, std::span<const std::byte> body) {
  const std::string text =
      body.empty() ? "{}" : std::string(reinterpret_cast<const char*>(body.data()), body.size());
  element document;
  object members;
  if (const auto error = parser.parse(text).get(document)) {
    return invalid_argument(fmt::format("body: {}", simdjson::error_message(error)));
  }
  if (document.get(members) != simdjson::SUCCESS) return invalid_argument("body: not an object");
  return members;
}

/// Refuses members other than `parameters`, and parameters other than `known` (a boolean).
Status check_parameters(std::span<const std::byte> body, std::string_view known) {
  simdjson::dom::parser parser;
  const auto members = parse_object(parser, body);
  if (!members) return members.error();
  for (const auto member : *members) {
    if (member.key != "parameters") {
      return invalid_argument(fmt::format("'{}' is not known here", member.key));
    }
    object parameters;
    if (member.value.get(parameters) != simdjson::SUCCESS) {
      return invalid_argument("'parameters' is not an object");
    }
    for (const auto parameter : parameters) {
      if (known.empty() || parameter.key != known) {
        return invalid_argument(fmt::format(
            "parameter '{}' is not supported: a model is loaded as the repository holds it",
            parameter.key));
      }
      if (!parameter.value.is_bool()) {
        return invalid_argument(fmt::format("parameter '{}' is not a boolean", parameter.key));
      }
    }
  }
  return {};
}

}  // namespace

std::string write_repository_index(std::span<const RepositoryEntry> entries) {
  std::string out = "[";
  for (const RepositoryEntry& entry : entries) {
    if (out.size() > 1) out += ',';
    out += R"({"name":)";
    append_json_string(out, entry.name);
    out += fmt::format(R"(,"version":"{}","state":"{}")", entry.version, entry.state);
    if (!entry.reason.empty()) {
      out += R"(,"reason":)";
      append_json_string(out, entry.reason);
    }
    out += '}';
  }
  return out + ']';
}

Result<bool> parse_index_request(std::span<const std::byte> body) {
  simdjson::dom::parser parser;
  const auto members = parse_object(parser, body);
  if (!members) return members.error();
  bool ready = false;
  for (const auto member : *members) {
    if (member.key != "ready") {
      return invalid_argument(fmt::format("'{}' is not known here", member.key));
    }
    if (member.value.get(ready) != simdjson::SUCCESS) {
      return invalid_argument("'ready' is not a boolean");
    }
  }
  return ready;
}

Status parse_load_request(std::span<const std::byte> body) { return check_parameters(body, ""); }

Status parse_unload_request(std::span<const std::byte> body) {
  return check_parameters(body, "unload_dependents");
}

std::string write_freed(std::span<const FreedMemory> freed) {
  std::string out = R"({"freed":[)";
  for (const FreedMemory& each : freed) {
    if (&each != &freed.front()) out += ',';
    out += R"({"version":)";
    append_json_string(out, each.version);
    out += R"(,"lane":)";
    append_json_string(out, each.lane);
    out += fmt::format(R"(,"before_bytes":{},"after_bytes":{}}})", each.before.count,
                       each.after.count);
  }
  return out + "]}";
}

}  // namespace corelane::wire
