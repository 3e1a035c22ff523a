#include "wire/grpc_parameters.h"

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/result.h"
#include "wire/json_text.h"
#include "wire/protobuf_reader.h"
#include "wire/request_rules.h"

namespace corelane::wire {
namespace {

/// The message InferParameter: one of its fields.
Status read_value(const PlaceView& place, std::span<const std::byte> message,
                  ParameterView& parameter) {
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    const bool varint = field->type == WireType::kVarint;
    if (parameter.value.index() != 0) {
      return fault(place, fmt::format("parameter '{}' has two values", parameter.key));
    }
    if (field->number == 1 && varint) {
      parameter.value = field->value != 0;
    } else if (field->number == 2 && varint) {
      parameter.value = static_cast<std::int64_t>(field->value);
    } else if (field->number == 3 && field->type == WireType::kBytes) {
      auto text = read_text(place, parameter.key, *field);
      if (!text) return std::move(text).error();
      parameter.value = *text;
    } else if (field->number == 4 && field->type == WireType::kFixed64) {
      parameter.value = std::bit_cast<double>(field->value);
    } else if (field->number == 5 && varint) {
      parameter.value = field->value;
    } else {
      return fault(place,
                   fmt::format("parameter '{}' has a value of an unknown kind", parameter.key));
    }
  }
  if (reader.broken()) return broken_message(place);
  return {};
}

std::string value_text(const ParameterView& parameter) {
  if (const auto* flag = std::get_if<bool>(&parameter.value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&parameter.value)) {
    return std::to_string(*whole);
  }
  if (const auto* text = std::get_if<std::string_view>(&parameter.value)) {
    return fmt::format("the string '{}'", text->substr(0, kMaxQuoted));
  }
  if (const auto* number = std::get_if<double>(&parameter.value)) {
    return fmt::format("the double {}", *number);
  }
  if (const auto* count = std::get_if<std::uint64_t>(&parameter.value)) {
    return std::to_string(*count);
  }
  return "without a value";
}

Error wrong_value(const PlaceView& place, const ParameterView& parameter, std::string_view wanted) {
  return fault(
      place, fmt::format("{} is {}, but must be {}", parameter.key, value_text(parameter), wanted));
}

}  // namespace

Error broken_message(const PlaceView& place) {
  return fault(place, "it is not a valid Protocol Buffers message");
}

Result<std::string_view> read_text(const PlaceView& place, std::string_view member,
                                   const FieldView& field) {
  if (field.type != WireType::kBytes) return broken_message(place);
  if (!is_utf8(field.text())) return fault(place, fmt::format("{} is not UTF-8", member));
  return field.text();
}

Result<ParameterView> read_parameter(const PlaceView& place, const FieldView& entry) {
  if (entry.type != WireType::kBytes) return broken_message(place);
  ParameterView parameter;
  std::span<const std::byte> value;
  ProtobufReader reader(entry.bytes);
  while (const auto field = reader.next()) {
    if (field->number == 1) {
      auto key = read_text(place, "a parameter's name", *field);
      if (!key) return std::move(key).error();
      parameter.key = *key;
    } else if (field->number == 2 && field->type == WireType::kBytes) {
      value = field->bytes;
    } else {
      return broken_message(place);
    }
  }
  if (reader.broken()) return broken_message(place);
  if (Status read = read_value(place, value, parameter); !read) return std::move(read).error();
  return parameter;
}

Result<bool> bool_of(const PlaceView& place, const ParameterView& parameter) {
  if (const auto* flag = std::get_if<bool>(&parameter.value)) return *flag;
  return wrong_value(place, parameter, "true or false");
}

Result<std::uint64_t> count_of(const PlaceView& place, const ParameterView& parameter) {
  if (const auto* count = std::get_if<std::uint64_t>(&parameter.value)) return *count;
  const auto* whole = std::get_if<std::int64_t>(&parameter.value);
  if (whole != nullptr && *whole >= 0) return static_cast<std::uint64_t>(*whole);
  return wrong_value(place, parameter, "a whole number from 0");
}

}  // namespace corelane::wire
