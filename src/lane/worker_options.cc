#include "lane/worker_options.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace corelane::lane {
namespace {

using Values = std::map<std::string_view, std::string_view>;

std::optional<std::int64_t> number(const Values& values, std::string_view name) {
  const auto found = values.find(name);
  std::int64_t value = 0;
  if (found == values.end()) {
    return std::nullopt;
  }
  const std::string_view text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value >= 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::vector<std::string> to_arguments(const WorkerOptions& options) {
  return {"--lane",    options.lane,
          "--threads", std::to_string(options.threads),
          "--engines", options.engines.string(),
          "--control", std::to_string(options.control),
          "--channel", std::to_string(options.channel),
          "--arena",   std::to_string(options.arena),
          "--outputs", std::to_string(options.outputs),
          "--event",   std::to_string(options.event),
          "--parent",  std::to_string(options.parent),
          "--spin",    std::to_string(options.spin.count())};
}

Result<WorkerOptions> parse_worker_arguments(std::span<const std::string> arguments) {
  Values values;
  for (std::size_t k = 0; k + 1 < arguments.size(); k += 2) {
    values[arguments[k]] = arguments[k + 1];
  }
  WorkerOptions options;
  options.lane = values["--lane"];
  options.engines = values["--engines"];
  struct Field {
    std::string_view name;
    int* value;
  };
  for (const auto& [name, value] : {Field{"--threads", &options.threads},
                                    {"--control", &options.control},
                                    {"--channel", &options.channel},
                                    {"--arena", &options.arena},
                                    {"--outputs", &options.outputs},
                                    {"--event", &options.event},
                                    {"--parent", &options.parent}}) {
    const auto given = number(values, name);
    if (!given || *given > INT32_MAX) {
      return invalid_argument("a worker is started by the server only: " + std::string(name) +
                              " is missing or no number");
    }
    *value = static_cast<int>(*given);
  }
  options.spin = Nanos(number(values, "--spin").value_or(0));
  return options;
}

}  // namespace corelane::lane
