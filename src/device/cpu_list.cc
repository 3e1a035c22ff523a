#include "device/cpu_list.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace corelane::device {
namespace {

constexpr int kLargestCpu = 65535;

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.front() == '-' ||
      value > kLargestCpu) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  while (!text.empty() && text.back() == '\n') {
    text.remove_suffix(1);
  }
  std::vector<int> cpus;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = std::min(part.find('-', 1), part.size());
    if (part.empty() || comma + 1 == text.size()) {
      return std::nullopt;
    }
    const auto first = parse_number(part.substr(0, dash));
    const auto last = dash == part.size()       ? first
                      : dash + 1 == part.size() ? std::nullopt
                                                : parse_number(part.substr(dash + 1));
    if (!first || !last || *last < *first) {
      return std::nullopt;
    }
    for (int cpu = *first; cpu <= *last; ++cpu) {
      cpus.push_back(cpu);
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  std::ranges::sort(cpus);
  if (std::ranges::adjacent_find(cpus) != cpus.end()) {
    return std::nullopt;
  }
  return cpus;
}

std::string to_cpu_list(std::span<const int> cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) {
      ++end;
    }
    text += (text.empty() ? "" : ",") + std::to_string(cpus[i]);
    if (end - i > 1) {
      text += "-" + std::to_string(cpus[end - 1]);
    }
    i = end;
  }
  return text;
}

}  // namespace corelane::device
