#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace corelane {

using Nanos = std::chrono::nanoseconds;

constexpr double to_seconds(Nanos time) { return std::chrono::duration<double>(time).count(); }
constexpr double to_millis(Nanos time) {
  return std::chrono::duration<double, std::milli>(time).count();
}
constexpr Nanos from_seconds(double seconds) {
  return std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(seconds));
}

struct Bytes {
  std::uint64_t count = 0;
  friend constexpr auto operator<=>(Bytes, Bytes) = default;
};

struct Usd {
  double value = 0;
  friend constexpr auto operator<=>(Usd, Usd) = default;
};

struct UsdPerHour {
  double value = 0;
  friend constexpr auto operator<=>(UsdPerHour, UsdPerHour) = default;
};

}  // namespace corelane
