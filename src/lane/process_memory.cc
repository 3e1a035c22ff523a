#include "lane/process_memory.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "base/units.h"

namespace corelane::lane {
namespace {

/// The number of kB that stands behind `label`; 0 where there is none.
std::uint64_t kilobytes(std::string_view status, std::string_view label) {
  const std::size_t at = status.find(label);
  if (at == std::string_view::npos) {
    return 0;
  }
  std::string_view rest = status.substr(at + label.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return failed == std::errc() ? value : 0;
}

}  // namespace

Bytes own_memory_in(std::string_view status) {
  return {.count = (kilobytes(status, "RssAnon:") + kilobytes(status, "RssFile:")) * 1024};
}

Bytes own_memory() {
  std::ifstream file("/proc/self/status");
  std::stringstream text;
  text << file.rdbuf();
  return own_memory_in(text.str());
}

}  // namespace corelane::lane
