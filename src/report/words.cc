#include "report/words.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/units.h"

namespace corelane::report {
namespace {

constexpr double kMillisPerSecond = 1000;
constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kMiB = 1024.0 * 1024;

std::string with_commas(double whole) {
  std::string digits = fmt::format("{:.0f}", whole);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3; at -= 3) {
    digits.insert(at - 3, ",");
  }
  return digits;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t from = 0;
  for (std::size_t to = text.find(separator); to != std::string_view::npos;
       to = text.find(separator, from)) {
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  parts.push_back(text.substr(from));
  return parts;
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

/// How many cores "cpu:0-1,4" has: 3.
std::optional<std::int64_t> cores_of(std::string_view lane) {
  constexpr std::string_view kDevice = "cpu:";
  if (!lane.starts_with(kDevice)) {
    return std::nullopt;
  }
  std::int64_t cores = 0;
  for (const std::string_view range : split(lane.substr(kDevice.size()), ',')) {
    const auto ends = split(range, '-');
    const auto first = number(ends.front());
    const auto last = number(ends.back());
    if (ends.size() > 2 || !first || !last || *last < *first) {
      return std::nullopt;
    }
    cores += *last - *first + 1;
  }
  return cores;
}

std::string counted(std::int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

}  // namespace

std::string figure(double value) {
  if (!std::isfinite(value)) {
    return "–";
  }
  const double magnitude = std::abs(value);
  if (magnitude >= 99.95) {
    return with_commas(value);
  }
  if (magnitude >= 9.995) {
    return fmt::format("{:.1f}", value);
  }
  if (magnitude >= 0.9995 || magnitude == 0) {
    return fmt::format("{:.2f}", value);
  }
  const int leading_zeros = -static_cast<int>(std::floor(std::log10(magnitude))) - 1;
  return fmt::format("{:.{}f}", value, leading_zeros + 3);
}

std::string with_half_width(double value, double half_width) {
  if (half_width <= 0) return figure(value);
  const double magnitude = std::abs(value);
  const int decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
  return fmt::format("{} ±{:.{}f}", figure(value), half_width, decimals);
}

std::string millis(double milliseconds) {
  if (milliseconds >= kMillisPerSecond) {
    return fmt::format("{:.3g} s", milliseconds / kMillisPerSecond);
  }
  return milliseconds >= 9.95 ? fmt::format("{:.0f} ms", milliseconds)
                              : fmt::format("{:.2g} ms", milliseconds);
}

std::string usd(Usd amount) {
  return std::isfinite(amount.value) ? "$" + figure(amount.value) : "–";
}

std::string times(double ratio) {
  if (ratio >= 9.95) {
    return fmt::format("{:.0f} times", ratio);
  }
  return ratio >= 1.095 ? fmt::format("{:.1f} times", ratio) : fmt::format("{:.2f} times", ratio);
}

std::string percent(double share) {
  const double value = share * 100;
  return std::abs(value) >= 0.95 || value == 0 ? fmt::format("{:.0f} %", value)
                                               : fmt::format("{:.1f} %", value);
}

std::string size(Bytes bytes) {
  const auto count = static_cast<double>(bytes.count);
  return count >= kGiB ? fmt::format("{:.1f} GiB", count / kGiB)
                       : fmt::format("{:.0f} MiB", count / kMiB);
}

std::string lanes_in_words(std::string_view plan) {
  if (plan.empty()) {
    return "the server's lanes";
  }
  const auto lanes = split(plan, '|');
  const auto cores = cores_of(lanes.front());
  for (const std::string_view lane : lanes) {
    if (!cores || cores_of(lane) != cores) {
      return std::string(plan);
    }
  }
  return fmt::format("{} of {}", counted(std::ssize(lanes), "lane"), counted(*cores, "core"));
}

std::string precision_in_words(std::string_view precision) {
  if (precision.empty()) {
    return "as served";
  }
  if (precision == "f32") {
    return "full (f32)";
  }
  if (precision == "bf16" || precision == "f16") {
    return fmt::format("mixed ({})", precision);
  }
  return std::string(precision);
}

}  // namespace corelane::report
