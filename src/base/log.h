#pragma once

#include <string_view>

namespace corelane {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// Writes one line to stderr: "2026-11-30T21:40:14.123Z W lane cpu:0: worker 123 died, signal 9".
/// Thread-safe; a line is one write, so lines of several processes do not mix. Lines below the
/// level set are dropped.
void log(LogLevel level, std::string_view line);

/// For the whole process; set once by main. Default kInfo.
void set_log_level(LogLevel level);

}  // namespace corelane
