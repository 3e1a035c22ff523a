#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::wire {

/// Appends text as a quoted JSON string. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

void append_json_number(std::string& out, std::int64_t number);
void append_json_number(std::string& out, std::uint64_t number);
/// The shortest text that reads back as the same number; NaN and infinities as the strings "NaN",
/// "Infinity", "-Infinity".
void append_json_number(std::string& out, float number);
void append_json_number(std::string& out, double number);

/// [1,128]
void append_json_array(std::string& out, std::span<const std::int64_t> numbers);
void append_json_strings(std::string& out, const std::vector<std::string>& texts);

/// Whether all of it is UTF-8: no overlong forms, no surrogates.
bool is_utf8(std::string_view text);

}  // namespace corelane::wire
