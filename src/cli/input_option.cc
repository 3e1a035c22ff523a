#include "cli/input_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::cli {
namespace {

using tensor::DType;

constexpr std::array<std::pair<std::string_view, DType>, 10> kOtherNames = {{
    {"FLOAT", DType::kFp32},
    {"FLOAT32", DType::kFp32},
    {"DOUBLE", DType::kFp64},
    {"FLOAT64", DType::kFp64},
    {"HALF", DType::kFp16},
    {"FLOAT16", DType::kFp16},
    {"BFLOAT16", DType::kBf16},
    {"LONG", DType::kInt64},
    {"INT", DType::kInt32},
    {"BYTE", DType::kUint8},
}};

Error wrong(std::string_view text, const std::string& why) {
  return invalid_argument(fmt::format(
      "--input '{}': {}\n  It must be name:dtype[dims], such as 'input_ids:int64[?,1..512]'; "
      "`corelane help inputs` has the rules.",
      text, why));
}

std::optional<DType> type_from(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const auto& [name, type] : kOtherNames) {
    if (name == upper) {
      return type;
    }
  }
  const auto type = tensor::dtype_from_name(upper);
  return type == DType::kBytes ? std::nullopt : type;  // no model file takes strings
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  const auto last = text.find_last_not_of(' ');
  return first == std::string_view::npos ? "" : text.substr(first, last - first + 1);
}

std::optional<std::int64_t> size_from(std::string_view text) {
  std::int64_t size = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), size);
  const bool whole = failed == std::errc() && end == text.data() + text.size();
  return whole && size >= 1 ? std::optional(size) : std::nullopt;
}

std::optional<DimOption> dim_from(std::string_view text) {
  DimOption dim;
  if (const auto equals = text.find('='); equals != std::string_view::npos) {
    dim.name = trimmed(text.substr(0, equals));
    text = trimmed(text.substr(equals + 1));
    if (dim.name.empty()) {
      return std::nullopt;
    }
  }
  if (text == "?") {
    return dim;
  }
  const auto dots = text.find("..");
  const auto low = size_from(trimmed(text.substr(0, dots)));
  const auto high =
      dots == std::string_view::npos ? low : size_from(trimmed(text.substr(dots + 2)));
  if (!low || !high || *high < *low) {
    return std::nullopt;
  }
  dim.min = *low;
  dim.max = *high;
  return dim;
}

}  // namespace

Result<InputOption> parse_input_option(std::string_view text) {
  const auto open = text.find('[');
  const auto colon = text.substr(0, open).rfind(':');
  if (open == std::string_view::npos || text.back() != ']') {
    return wrong(text, "the dimensions in [ ] are missing");
  }
  if (colon == std::string_view::npos || colon == 0) {
    return wrong(text, "the name and a colon must come first");
  }
  InputOption input{.name = std::string(trimmed(text.substr(0, colon)))};
  const std::string_view type = trimmed(text.substr(colon + 1, open - colon - 1));
  const auto known = type_from(type);
  if (!known) {
    return wrong(text, fmt::format("'{}' is no data type", type));
  }
  input.type = *known;
  std::string_view dims = text.substr(open + 1, text.size() - open - 2);
  while (!trimmed(dims).empty() || dims.data() != text.data() + open + 1) {
    const auto comma = dims.find(',');
    const std::string_view part = trimmed(dims.substr(0, comma));
    const auto dim = dim_from(part);
    if (!dim) {
      return wrong(text, fmt::format("'{}' is no dimension: a size, ?, low..high, or name= and one "
                                     "of these",
                                     part));
    }
    input.shape.push_back(*dim);
    if (comma == std::string_view::npos) {
      break;
    }
    dims.remove_prefix(comma + 1);
  }
  if (input.shape.size() > tensor::kMaxRank) {
    return wrong(text, fmt::format("at most {} dimensions are possible", tensor::kMaxRank));
  }
  return input;
}

}  // namespace corelane::cli
