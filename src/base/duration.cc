#include "base/duration.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

#include "base/result.h"
#include "base/units.h"

namespace corelane {
namespace {

struct Unit {
  std::string_view name;
  Nanos length;
};

constexpr Unit kUnits[] = {
    {"h", std::chrono::hours(1)},         {"min", std::chrono::minutes(1)},
    {"s", std::chrono::seconds(1)},       {"ms", std::chrono::milliseconds(1)},
    {"us", std::chrono::microseconds(1)}, {"ns", Nanos(1)}};

constexpr double kLongest = 100.0 * 365 * 24 * 3600;  // seconds

}  // namespace

Result<Nanos> parse_duration(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [after, fault] = std::from_chars(text.data(), end, number);
  const std::string_view unit(after, static_cast<std::size_t>(end - after));
  if (fault == std::errc() && std::isfinite(number) && number >= 0) {
    if (number == 0 && unit.empty()) {
      return Nanos(0);
    }
    for (const Unit& known : kUnits) {
      const double seconds = number * to_seconds(known.length);
      if (known.name == unit && seconds <= kLongest) {
        return Nanos(std::llround(number * static_cast<double>(known.length.count())));
      }
    }
  }
  return invalid_argument(
      fmt::format("'{}' is not a duration such as \"50ms\", \"1.5s\" or \"2min\"", text));
}

std::string to_string(Nanos duration) {
  for (const Unit& unit : kUnits) {
    if (duration.count() != 0 && duration % unit.length == Nanos(0)) {
      return fmt::format("{}{}", duration / unit.length, unit.name);
    }
  }
  return "0s";
}

std::string spoken(Nanos duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (seconds < 60) {
    return fmt::format("{} s", seconds);
  }
  if (seconds < 3600) {
    return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  }
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

}  // namespace corelane
