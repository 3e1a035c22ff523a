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
#include "lane/load_spec.h"

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

/// The slot that a message is about; negative where it names none. Not an optional: g++ 12 takes
/// those for uninitialised under the sanitizers.
std::int64_t slot_of(const Json& json) {
  const std::int64_t slot = member<std::int64_t>(json, "slot").value_or(-1);
  return slot <= UINT32_MAX ? slot : -1;
}

SlotId to_slot(std::int64_t slot) { return SlotId{static_cast<std::uint32_t>(slot)}; }

std::optional<ModelLoaded> parse_loaded(const Json& json, std::int64_t slot) {
  const auto report = json.find("report");
  const std::int64_t took = member<std::int64_t>(json, "took_ns").value_or(-1);
  const std::int64_t code = member<std::int64_t>(json, "error").value_or(-1);
  if (slot < 0 || took < 0 || report == json.end() || !report->is_string() ||
      code > static_cast<int>(ErrorCode::kInternal)) {
    return std::nullopt;
  }
  ModelLoaded loaded{.slot = to_slot(slot),
                     .status = {},
                     .report = report->get<std::string>(),
                     .took = Nanos(took)};
  if (code >= 0) {
    loaded.status =
        Error{static_cast<ErrorCode>(code), member<std::string>(json, "message").value_or("")};
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
  Json json = std::visit(Overloaded{[](const Ready&) { return Json{{"is", "ready"}}; },
                                    [](const ModelLoaded& loaded) { return to_object(loaded); },
                                    [](const ModelUnloaded& unloaded) {
                                      return Json{{"is", "unloaded"},
                                                  {"slot", number(unloaded.slot)},
                                                  {"before", unloaded.before.count},
                                                  {"after", unloaded.after.count}};
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
  if (!json.is_object()) {
    return misread(text);
  }
  const std::string what = member<std::string>(json, "do").value_or("");
  const std::int64_t slot = slot_of(json);
  if (what == "stop") {
    return Command(std::in_place_type<StopCommand>);
  }
  if (what == "unload" && slot >= 0) {
    return Command(std::in_place_type<UnloadCommand>, to_slot(slot));
  }
  const std::string folder = member<std::string>(json, "folder").value_or("");
  const std::string precision = member<std::string>(json, "precision").value_or("");
  if (what == "load" && slot >= 0 && !folder.empty() && !precision.empty()) {
    return Command(std::in_place_type<LoadCommand>, to_slot(slot),
                   LoadSpec{.folder = folder, .precision = precision});
  }
  return misread(text);
}

Result<Report> parse_report(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return misread(text);
  }
  const std::string what = member<std::string>(json, "is").value_or("");
  const std::int64_t slot = slot_of(json);
  if (what == "ready") {
    return Report(std::in_place_type<Ready>);
  }
  if (what == "unloaded" && slot >= 0) {
    const std::uint64_t before = member<std::uint64_t>(json, "before").value_or(0);
    const std::uint64_t after = member<std::uint64_t>(json, "after").value_or(0);
    return Report(ModelUnloaded{
        .slot = to_slot(slot), .before = {.count = before}, .after = {.count = after}});
  }
  if (auto loaded = what == "loaded" ? parse_loaded(json, slot) : std::nullopt) {
    return Report(std::in_place_type<ModelLoaded>, *std::move(loaded));
  }
  return misread(text);
}

}  // namespace corelane::lane
