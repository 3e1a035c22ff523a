// The parts of v2_infer.h that concern the binary tensor extension.
#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <system_error>

#include "base/result.h"
#include "wire/v2_infer.h"

namespace corelane::wire {

Result<std::uint64_t> parse_json_length(std::string_view header, std::uint64_t body_length) {
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), length);
  if (error != std::errc() || end != header.data() + header.size()) {
    return invalid_argument(
        fmt::format("Inference-Header-Content-Length is '{}', but must be a whole number",
                    header.substr(0, 80)));
  }
  if (length > body_length) {
    return invalid_argument(
        fmt::format("Inference-Header-Content-Length is {}, but the body has only {} bytes", length,
                    body_length));
  }
  return length;
}

Status check_bytes_elements(std::span<const std::byte> data, std::int64_t elements) {
  std::int64_t count = 0;
  while (!data.empty()) {
    if (count == elements) {
      return invalid_argument(
          fmt::format("{} bytes are left after its {} elements", data.size(), elements));
    }
    std::uint32_t length = 0;
    if (data.size() < sizeof length) {
      return invalid_argument(fmt::format("element {} has no whole 4-byte length", count));
    }
    std::memcpy(&length, data.data(), sizeof length);
    data = data.subspan(sizeof length);
    if (length > data.size()) {
      return invalid_argument(fmt::format(
          "element {} is said to have {} bytes, but only {} are left", count, length, data.size()));
    }
    data = data.subspan(length);
    ++count;
  }
  if (count == elements) return {};
  return invalid_argument(fmt::format("it has {} elements, but its shape has {}", count, elements));
}

}  // namespace corelane::wire
