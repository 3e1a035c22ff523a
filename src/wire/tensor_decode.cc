#include "wire/tensor_decode.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "wire/half.h"
#include "wire/v2_infer.h"

namespace corelane::wire {
namespace {

namespace ondemand = simdjson::ondemand;
using tensor::DType;

constexpr int kMaxNesting = 32;
constexpr std::size_t kMaxQuoted = 40;

std::string values_of(DType dtype) {
  const auto whole = [](auto low, auto high) {
    return fmt::format("a whole number from {} to {}", low, high);
  };
  switch (dtype) {
    case DType::kBool:
      return "true or false";
    case DType::kUint8:
      return whole(0, 255);
    case DType::kUint16:
      return whole(0, 65535);
    case DType::kUint32:
      return whole(0, std::numeric_limits<std::uint32_t>::max());
    case DType::kUint64:
      return whole(0, std::numeric_limits<std::uint64_t>::max());
    case DType::kInt8:
      return whole(-128, 127);
    case DType::kInt16:
      return whole(-32768, 32767);
    case DType::kInt32:
      return whole(std::numeric_limits<std::int32_t>::min(),
                   std::numeric_limits<std::int32_t>::max());
    case DType::kInt64:
      return whole(std::numeric_limits<std::int64_t>::min(),
                   std::numeric_limits<std::int64_t>::max());
    case DType::kFp16:
      return "a number up to 65504";
    case DType::kBf16:
      return "a number up to 3.38953139e38";
    case DType::kFp32:
      return "a number up to 3.40282347e38";
    case DType::kFp64:
      return "a number up to 1.7976931348623157e308";
    case DType::kBytes:
      return "a string";
  }
  return "";
}

bool floating(DType dtype) {
  return dtype == DType::kFp16 || dtype == DType::kBf16 || dtype == DType::kFp32 ||
         dtype == DType::kFp64;
}

/// Reads one element as the type that is stored; false when it is none.
template <typename Stored>
bool read_whole(ondemand::value element, Stored& stored) {
  if constexpr (std::is_signed_v<Stored>) {
    std::int64_t number = 0;
    if (element.get_int64().get(number) != simdjson::SUCCESS || !std::in_range<Stored>(number)) {
      return false;
    }
    stored = static_cast<Stored>(number);
  } else {
    std::uint64_t number = 0;
    if (element.get_uint64().get(number) != simdjson::SUCCESS || !std::in_range<Stored>(number)) {
      return false;
    }
    stored = static_cast<Stored>(number);
  }
  return true;
}

bool read_bool(ondemand::value element, std::uint8_t& stored) {
  bool value = false;
  if (element.get_bool().get(value) != simdjson::SUCCESS) return false;
  stored = value ? 1 : 0;
  return true;
}

bool read_fp64(ondemand::value element, double& stored) {
  return element.get_double().get(stored) == simdjson::SUCCESS && std::isfinite(stored);
}

bool read_fp32(ondemand::value element, float& stored) {
  double number = 0;
  if (!read_fp64(element, number)) return false;
  stored = static_cast<float>(number);
  return std::isfinite(stored);
}

bool read_fp16(ondemand::value element, std::uint16_t& stored) {
  double number = 0;
  if (!read_fp64(element, number) || std::fabs(number) >= kFp16Overflow) return false;
  stored = fp16_from(number);
  return true;
}

bool read_bf16(ondemand::value element, std::uint16_t& stored) {
  double number = 0;
  if (!read_fp64(element, number) || std::fabs(number) >= kBf16Overflow) return false;
  stored = bf16_from(number);
  return true;
}

/// The tensor that is being decoded.
struct Target {
  DType dtype;
  const tensor::Shape& shape;
  std::uint64_t elements;
  std::uint64_t filled = 0;
};

Error broken_json(simdjson::error_code error) {
  return invalid_argument(
      fmt::format("data is not valid JSON: {}", simdjson::error_message(error)));
}

Error wrong_element(ondemand::value element, const Target& target) {
  std::string_view text = element.raw_json_token();
  while (!text.empty() && text.back() <= ' ') text.remove_suffix(1);
  const bool cut = text.size() > kMaxQuoted;
  return invalid_argument(fmt::format(
      "data element {} is {}{}, but {} takes {}{}", target.filled, text.substr(0, kMaxQuoted),
      cut ? "..." : "", name_of(target.dtype), values_of(target.dtype),
      floating(target.dtype) ? "; NaN and infinities can only be sent as binary data" : ""));
}

/// Calls put(element) for each scalar of the nested arrays in order, which stores it at
/// target.filled or returns false when the datatype does not take it.
template <typename Put>
Status walk(ondemand::array array, Target& target, int depth, Put&& put) {
  if (depth > kMaxNesting) {
    return invalid_argument(fmt::format("data is nested deeper than {} arrays", kMaxNesting));
  }
  for (auto each : array) {
    ondemand::value element;
    if (const auto error = std::move(each).get(element); error != simdjson::SUCCESS)
      return broken_json(error);
    ondemand::json_type type;
    if (const auto error = element.type().get(type);
        error == simdjson::SUCCESS && type == ondemand::json_type::array) {
      ondemand::array inner;
      if (const auto opened = element.get_array().get(inner); opened != simdjson::SUCCESS) {
        return broken_json(opened);
      }
      if (Status walked = walk(inner, target, depth + 1, put); !walked) return walked;
      continue;
    }
    if (target.filled == target.elements) {
      return invalid_argument(fmt::format("data has more than the {} elements of shape {}",
                                          target.elements, to_string(target.shape)));
    }
    if (!put(element)) return wrong_element(element, target);
    ++target.filled;
  }
  return {};
}

Status complete(const Target& target) {
  if (target.filled == target.elements) return {};
  return invalid_argument(fmt::format("data has {} elements, but shape {} has {}", target.filled,
                                      to_string(target.shape), target.elements));
}

template <typename Stored, typename Read>
Status fill(ondemand::array array, Target& target, std::span<std::byte> into, Read&& read) {
  return walk(array, target, 1, [&](ondemand::value element) {
    Stored stored{};
    if (!read(element, stored)) return false;
    std::memcpy(into.data() + target.filled * sizeof stored, &stored, sizeof stored);
    return true;
  });
}

Status fill_fixed(ondemand::array array, Target& target, std::span<std::byte> into) {
  switch (target.dtype) {
    case DType::kBool:
      return fill<std::uint8_t>(array, target, into, read_bool);
    case DType::kUint8:
      return fill<std::uint8_t>(array, target, into, read_whole<std::uint8_t>);
    case DType::kUint16:
      return fill<std::uint16_t>(array, target, into, read_whole<std::uint16_t>);
    case DType::kUint32:
      return fill<std::uint32_t>(array, target, into, read_whole<std::uint32_t>);
    case DType::kUint64:
      return fill<std::uint64_t>(array, target, into, read_whole<std::uint64_t>);
    case DType::kInt8:
      return fill<std::int8_t>(array, target, into, read_whole<std::int8_t>);
    case DType::kInt16:
      return fill<std::int16_t>(array, target, into, read_whole<std::int16_t>);
    case DType::kInt32:
      return fill<std::int32_t>(array, target, into, read_whole<std::int32_t>);
    case DType::kInt64:
      return fill<std::int64_t>(array, target, into, read_whole<std::int64_t>);
    case DType::kFp16:
      return fill<std::uint16_t>(array, target, into, read_fp16);
    case DType::kBf16:
      return fill<std::uint16_t>(array, target, into, read_bf16);
    case DType::kFp32:
      return fill<float>(array, target, into, read_fp32);
    case DType::kFp64:
      return fill<double>(array, target, into, read_fp64);
    case DType::kBytes:
      break;
  }
  return internal_error("strings have no fixed size");
}

Status fill_strings(ondemand::array array, Target& target, std::vector<std::byte>& into) {
  return walk(array, target, 1, [&](ondemand::value element) {
    std::string_view text;
    if (element.get_string().get(text) != simdjson::SUCCESS) return false;
    const auto length = static_cast<std::uint32_t>(text.size());  // simdjson reads up to 4 GiB
    const auto prefix = std::as_bytes(std::span(&length, 1));
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    into.insert(into.end(), prefix.begin(), prefix.end());
    into.insert(into.end(), bytes.begin(), bytes.end());
    return true;
  });
}

}  // namespace

struct TensorDecoder::State {
  ondemand::parser parser;
  std::vector<std::byte> strings;

  Result<std::span<const std::byte>> decode_strings(ondemand::array array, Target& target,
                                                    DecodeMemory& memory);
  static Result<std::span<const std::byte>> decode_fixed(ondemand::array array, Target& target,
                                                         DecodeMemory& memory);
};

TensorDecoder::TensorDecoder() : state_(std::make_unique<State>()) {}
TensorDecoder::~TensorDecoder() = default;

Result<std::span<const std::byte>> TensorDecoder::State::decode_fixed(ondemand::array array,
                                                                      Target& target,
                                                                      DecodeMemory& memory) {
  std::span<std::byte> into;
  if (target.elements > 0) {
    const std::size_t size = target.elements * size_of(target.dtype);
    auto memory_given = memory.allocate(size);
    if (!memory_given) return memory_given.error();
    into = memory_given->first(size);
  }
  if (Status filled = fill_fixed(array, target, into); !filled) return filled.error();
  if (Status whole = complete(target); !whole) return whole.error();
  return std::span<const std::byte>(into);
}

Result<std::span<const std::byte>> TensorDecoder::State::decode_strings(ondemand::array array,
                                                                        Target& target,
                                                                        DecodeMemory& memory) {
  strings.clear();
  if (Status filled = fill_strings(array, target, strings); !filled) return filled.error();
  if (Status whole = complete(target); !whole) return whole.error();
  if (strings.empty()) return std::span<const std::byte>();
  auto given = memory.allocate(strings.size());
  if (!given) return given.error();
  std::memcpy(given->data(), strings.data(), strings.size());
  return std::span<const std::byte>(given->first(strings.size()));
}

Result<std::span<const std::byte>> TensorDecoder::decode(std::string_view json, DType dtype,
                                                         const tensor::Shape& shape,
                                                         DecodeMemory& memory) {
  const auto elements = shape.elements();
  // Each element takes a character and a comma at least, so what is allocated is at most a small
  // multiple of what has been received.
  if (!elements || static_cast<std::uint64_t>(*elements) > json.size() / 2) {
    return invalid_argument(
        fmt::format("data has fewer elements than shape {} has", to_string(shape)));
  }
  Target target{.dtype = dtype, .shape = shape, .elements = static_cast<std::uint64_t>(*elements)};
  ondemand::document document;
  const simdjson::padded_string_view padded(json.data(), json.size(),
                                            json.size() + InferParser::kPadding);
  if (const auto error = state_->parser.iterate(padded).get(document); error) {
    return broken_json(error);
  }
  ondemand::array array;
  if (const auto error = document.get_array().get(array); error) return broken_json(error);
  return dtype == DType::kBytes ? state_->decode_strings(array, target, memory)
                                : State::decode_fixed(array, target, memory);
}

}  // namespace corelane::wire
