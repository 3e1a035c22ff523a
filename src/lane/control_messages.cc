#include "lane/control_messages.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/result.h"
#include "base/units.h"
#include "lane/lane.h"

namespace corelane::lane {
namespace {

using Json = nlohmann::json;

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

std::uint32_t number(SlotId slot) { return static_cast<std::uint32_t>(slot); }

/// Paths and engines' texts may hold bytes that are no UTF-8.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Error misread(std::string_view json) {
  return internal_error("a control message that is none: " + std::string(json.substr(0, 200)));
}

/// A member of the given kind; nullopt where there is none.
template <typename T>
std::optional<T> member(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) {
    return std::nullopt;
  }
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? std::optional(found->get<std::string>()) : std::nullopt;
  } else {
    return found->is_number_integer() ? std::optional(found->get<T>()) : std::nullopt;
  }
}

Json to_object(const ModelLoaded& loaded) {
  Json json{{"is", "loaded"},
            {"slot", number(loaded.slot)},
            {"report", loaded.report},
            {"took_ns", loaded.took.count()}};
  if (!loaded.status) {
    json["error"] = static_cast<int>(loaded.status.error().code);
    json["message"] = loaded.status.error().message.substr(0, 8000);
  }
  return json;
}

std::optional<Report> parse_loaded(const Json& json) {
  const auto slot = member<std::uint32_t>(json, "slot");
  auto report = member<std::string>(json, "report");
  const auto took = member<std::int64_t>(json, "took_ns");
  if (!slot || !report || !took) {
    return std::nullopt;
  }
  ModelLoaded loaded{
      .slot = SlotId{*slot}, .status = {}, .report = *std::move(report), .took = Nanos(*took)};
  if (const auto code = member<int>(json, "error")) {
    if (*code < 0 || *code > static_cast<int>(ErrorCode::kInternal)) {
      return std::nullopt;
    }
    loaded.status =
        Error{static_cast<ErrorCode>(*code), member<std::string>(json, "message").value_or("")};
  }
  return loaded;
}

}  // namespace

std::string to_json(const Command& command) {
  return dump(std::visit(Overloaded{[](const LoadCommand& load) {
                                      return Json{{"do", "load"},
                                                  {"slot", number(load.slot)},
                                                  {"folder", load.spec.folder.string()},
                                                  {"precision", load.spec.precision}};
                                    },
                                    [](const UnloadCommand& unload) {
                                      return Json{{"do", "unload"}, {"slot", number(unload.slot)}};
                                    },
                                    [](const StopCommand&) { return Json{{"do", "stop"}}; }},
                         command));
}

std::string to_json(const Report& report) {
  Json json =
      std::visit(Overloaded{[](const Ready&) { return Json{{"is", "ready"}}; },
                            [](const ModelLoaded& loaded) { return to_object(loaded); },
                            [](const ModelUnloaded& unloaded) {
                              return Json{{"is", "unloaded"}, {"slot", number(unloaded.slot)}};
                            }},
                 report);
  std::string text = dump(json);
  if (text.size() > kMostMessageBytes) {
    json["report"] = "{}";
    text = dump(json);
  }
  return text;
}

Result<Command> parse_command(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const auto what = json.is_object() ? member<std::string>(json, "do") : std::nullopt;
  const auto slot = what ? member<std::uint32_t>(json, "slot") : std::nullopt;
  // Made in place: g++ 12 takes a variant that is moved for uninitialised.
  std::optional<Command> command;
  if (what == "stop") {
    command.emplace(std::in_place_type<StopCommand>);
  } else if (what == "unload" && slot) {
    command.emplace(std::in_place_type<UnloadCommand>, SlotId{*slot});
  } else if (what == "load" && slot) {
    auto folder = member<std::string>(json, "folder");
    auto precision = member<std::string>(json, "precision");
    if (folder && precision) {
      command.emplace(std::in_place_type<LoadCommand>, SlotId{*slot},
                      LoadSpec{.folder = *std::move(folder), .precision = *std::move(precision)});
    }
  }
  return command ? Result<Command>(*std::move(command)) : misread(text);
}

Result<Report> parse_report(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const auto what = json.is_object() ? member<std::string>(json, "is") : std::nullopt;
  if (what == "ready") {
    return Report(Ready{});
  }
  const auto slot = what ? member<std::uint32_t>(json, "slot") : std::nullopt;
  if (what == "unloaded" && slot) {
    return Report(ModelUnloaded{.slot = SlotId{*slot}});
  }
  if (what == "loaded") {
    if (auto loaded = parse_loaded(json)) {
      return *std::move(loaded);
    }
  }
  return misread(text);
}

}  // namespace corelane::lane
