#include "base/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace corelane {
namespace {

std::atomic<LogLevel>& level_in_force() {
  static std::atomic<LogLevel> level = LogLevel::kInfo;
  return level;
}

}  // namespace

void set_log_level(LogLevel level) { level_in_force() = level; }

void log(LogLevel level, std::string_view line) {
  if (level < level_in_force()) {
    return;
  }
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().since_epoch());
  const std::time_t seconds = now.count() / 1000;
  const std::string text = fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z {} {}\n", fmt::gmtime(seconds),
                                       now.count() % 1000, "DIWE"[static_cast<int>(level)], line);
  // Nobody is left to be told when stderr cannot be written.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace corelane
