#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "wire/protobuf_reader.h"
#include "wire/request_rules.h"

namespace corelane::wire {

/// One entry of a map from names to InferParameter.
struct ParameterView {
  std::string_view key;
  std::variant<std::monostate, bool, std::int64_t, std::string_view, double, std::uint64_t> value;
};

/// The text of a string field; an error where the field is none, or not UTF-8.
Result<std::string_view> read_text(const PlaceView& place, std::string_view member,
                                   const FieldView& field);

/// `entry` is the field of the map. Keys and strings are UTF-8.
Result<ParameterView> read_parameter(const PlaceView& place, const FieldView& entry);

/// The parameter's value as what it has to be.
Result<bool> bool_of(const PlaceView& place, const ParameterView& parameter);
Result<std::uint64_t> count_of(const PlaceView& place, const ParameterView& parameter);

/// A message that is none: "input 'x': it is not a valid message".
Error broken_message(const PlaceView& place);

}  // namespace corelane::wire
