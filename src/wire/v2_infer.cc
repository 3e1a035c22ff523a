#include "wire/v2_infer.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "wire/raw_input.h"
#include "wire/request_rules.h"
#include "wire/tensor_decode.h"

namespace corelane::wire {
namespace {

namespace ondemand = simdjson::ondemand;

std::string_view token_of(ondemand::value value) {
  std::string_view text = value.raw_json_token();
  while (!text.empty() && text.back() <= ' ') text.remove_suffix(1);
  return text.substr(0, kMaxQuoted);
}

Error wrong_type(const PlaceView& place, std::string_view member, ondemand::value value,
                 std::string_view wanted) {
  return fault(place, fmt::format("{} is {}, but must be {}", member, token_of(value), wanted));
}

Error not_json(simdjson::error_code error) {
  return invalid_argument(
      fmt::format("the request is not valid JSON: {}", simdjson::error_message(error)));
}

/// Calls use(key, value) for each member; refuses a key that comes twice.
template <typename Use>
Status for_each_member(ondemand::object object, const PlaceView& place, Use&& use) {
  constexpr std::size_t kMaxMembers = 32;
  std::array<std::string_view, kMaxMembers> seen;
  std::size_t count = 0;
  for (auto each : object) {
    ondemand::field field;
    if (const auto error = std::move(each).get(field); error) return not_json(error);
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key); error) return not_json(error);
    for (std::size_t i = 0; i < count; ++i) {
      if (seen[i] == key) return fault(place, fmt::format("member '{}' comes twice", key));
    }
    if (count == kMaxMembers) return fault(place, "too many members");
    seen[count++] = key;
    if (Status used = use(key, field.value()); !used) return used;
  }
  return {};
}

Error unknown_member(const PlaceView& place, std::string_view key) {
  return fault(place, fmt::format("member '{}' is not known", key.substr(0, kMaxQuoted)));
}

Status read_string(const PlaceView& place, std::string_view member, ondemand::value value,
                   std::string_view& into) {
  if (value.get_string().get(into)) return wrong_type(place, member, value, "a string");
  return {};
}

Status read_bool(const PlaceView& place, std::string_view member, ondemand::value value,
                 bool& into) {
  if (value.get_bool().get(into)) return wrong_type(place, member, value, "true or false");
  return {};
}

Status read_count(const PlaceView& place, std::string_view member, ondemand::value value,
                  std::uint64_t& into) {
  if (value.get_uint64().get(into)) {
    return wrong_type(place, member, value, "a whole number from 0");
  }
  return {};
}

Status read_classes(const PlaceView& place, ondemand::value value, std::uint64_t& into) {
  if (value.get_uint64().get(into) || into == 0) {
    return wrong_type(place, "classification", value, "a whole number from 1");
  }
  return {};
}

struct InputFields {
  std::optional<std::string_view> name;
  std::optional<tensor::DType> dtype;
  std::optional<tensor::Shape> shape;
  std::optional<std::string_view> json_data;
  std::optional<std::uint64_t> binary_size;
};

Status read_shape(const PlaceView& place, ondemand::value value, InputFields& fields) {
  std::array<std::int64_t, tensor::kMaxRank> dims{};
  std::size_t rank = 0;
  ondemand::array array;
  if (value.get_array().get(array)) return wrong_type(place, "shape", value, "an array");
  for (auto each : array) {
    ondemand::value dim;
    if (const auto error = std::move(each).get(dim); error) return not_json(error);
    if (rank == dims.size()) {
      return fault(place, fmt::format("shape has more than {} dimensions", dims.size()));
    }
    if (dim.get_int64().get(dims[rank]) || dims[rank] < 0) {
      return wrong_type(place, fmt::format("shape[{}]", rank), dim, "a whole number from 0");
    }
    ++rank;
  }
  fields.shape = tensor::Shape::from(std::span(dims).first(rank));
  return {};
}

Status read_datatype(const PlaceView& place, ondemand::value value, InputFields& fields) {
  std::string_view name;
  if (Status read = read_string(place, "datatype", value, name); !read) return read;
  auto dtype = datatype_from(place, name);
  if (!dtype) return std::move(dtype).error();
  fields.dtype = *dtype;
  return {};
}

}  // namespace

struct InferParser::State {
  ondemand::parser parser;
  TensorDecoder decoder;
  std::vector<InferInputView> inputs;
  std::vector<std::pair<RequestedOutputView, bool>> wished;  // and whether it said how
  std::vector<RequestedOutputView> outputs;

  // Of the request that is being parsed.
  InferRequestView request;
  std::span<const std::byte> binary;  // what no input has taken yet
  DecodeMemory* memory = nullptr;

  void begin(DecodeMemory& given) {
    request = {};
    inputs.clear();
    wished.clear();
    outputs.clear();
    binary = {};
    memory = &given;
  }
  Status read_request(ondemand::object object);
  Status read_request_parameter(std::string_view key, ondemand::value value);
  Status read_inputs(ondemand::value value);
  Status read_input(ondemand::value value);
  static Status read_input_member(std::string_view key, ondemand::value value,
                                  const PlaceView& place, InputFields& fields);
  Status finish_input(const InputFields& fields, PlaceView place);
  Result<std::span<const std::byte>> take_binary(const InputFields& fields, const PlaceView& place);
  Status read_outputs(ondemand::value value);
  Status read_output(ondemand::value value);
  Status finish();
};

InferParser::InferParser() : state_(std::make_unique<State>()) {}
InferParser::~InferParser() = default;

Status InferParser::State::read_request(ondemand::object object) {
  const PlaceView place{.kind = "request"};
  bool has_inputs = false;
  Status members =
      for_each_member(object, place, [&](std::string_view key, ondemand::value value) -> Status {
        if (key == "id") {
          return read_string(place, "id", value, request.id.emplace());
        }
        if (key == "inputs") {
          has_inputs = true;
          return read_inputs(value);
        }
        if (key == "outputs") return read_outputs(value);
        if (key == "parameters") {
          ondemand::object parameters;
          if (value.get_object().get(parameters)) {
            return wrong_type(place, "parameters", value, "an object");
          }
          return for_each_member(parameters, place,
                                 [&](std::string_view name, ondemand::value each) {
                                   return read_request_parameter(name, each);
                                 });
        }
        return unknown_member(place, key);
      });
  if (!members) return members;
  if (!has_inputs) return fault(place, "member 'inputs' is missing");
  return {};
}

Status InferParser::State::read_request_parameter(std::string_view key, ondemand::value value) {
  const PlaceView place{.kind = "request"};
  if (key == "binary_data_output") return read_bool(place, key, value, request.binary_by_default);
  if (key == "priority") return read_count(place, key, value, request.priority);
  if (key == "timeout") {
    std::uint64_t micros = 0;
    if (Status read = read_count(place, key, value, micros); !read) return read;
    auto timeout = timeout_from(place, micros);
    if (!timeout) return std::move(timeout).error();
    request.timeout = *timeout;
    return {};
  }
  return refuse_parameter(place, key);
}

Status InferParser::State::read_inputs(ondemand::value value) {
  const PlaceView place{.kind = "request"};
  ondemand::array array;
  if (value.get_array().get(array)) return wrong_type(place, "inputs", value, "an array");
  for (auto each : array) {
    ondemand::value input;
    if (const auto error = std::move(each).get(input); error) return not_json(error);
    if (inputs.size() == kMaxTensors) {
      return fault(place, fmt::format("more than {} inputs", kMaxTensors));
    }
    if (Status read = read_input(input); !read) return read;
  }
  return {};
}

Status InferParser::State::read_input(ondemand::value value) {
  PlaceView place{.kind = "input", .index = inputs.size()};
  ondemand::object object;
  if (value.get_object().get(object)) return wrong_type(place, "it", value, "an object");
  InputFields fields;
  Status members =
      for_each_member(object, place, [&](std::string_view key, ondemand::value member) -> Status {
        Status read = read_input_member(key, member, place, fields);
        if (fields.name) place.name = *fields.name;
        return read;
      });
  if (!members) return members;
  return finish_input(fields, place);
}

Status InferParser::State::read_input_member(std::string_view key, ondemand::value value,
                                             const PlaceView& place, InputFields& fields) {
  if (key == "name") return read_string(place, "name", value, fields.name.emplace());
  if (key == "datatype") return read_datatype(place, value, fields);
  if (key == "shape") return read_shape(place, value, fields);
  if (key == "data") {
    ondemand::array array;
    if (value.get_array().get(array)) return wrong_type(place, "data", value, "an array");
    if (const auto error = array.raw_json().get(fields.json_data.emplace()); error) {
      return not_json(error);
    }
    return {};
  }
  if (key == "parameters") {
    ondemand::object parameters;
    if (value.get_object().get(parameters)) {
      return wrong_type(place, "parameters", value, "an object");
    }
    return for_each_member(parameters, place, [&](std::string_view name, ondemand::value each) {
      if (name != "binary_data_size") return refuse_parameter(place, name);
      return read_count(place, name, each, fields.binary_size.emplace());
    });
  }
  return unknown_member(place, key);
}

Status InferParser::State::finish_input(const InputFields& fields, PlaceView place) {
  if (!fields.name || fields.name->empty()) return fault(place, "its name is missing");
  if (!fields.dtype) return fault(place, "its datatype is missing");
  if (!fields.shape) return fault(place, "its shape is missing");
  for (const InferInputView& other : inputs) {
    if (other.name == *fields.name) return fault(place, "it comes twice");
  }
  if (fields.json_data && fields.binary_size) {
    return fault(place, "it has both data and binary_data_size; give one of them");
  }
  InferInputView input{.name = *fields.name, .dtype = *fields.dtype, .shape = *fields.shape};
  if (fields.binary_size) {
    auto taken = take_binary(fields, place);
    if (!taken) return taken.error();
    input.data = *taken;
  } else if (fields.json_data) {
    auto decoded = decoder.decode(*fields.json_data, input.dtype, input.shape, *memory);
    if (!decoded) return in_context(std::move(decoded), to_string(place));
    input.data = *decoded;
    input.source = DataSource::kJson;
  } else {
    return fault(place, "it has neither data nor binary_data_size");
  }
  inputs.push_back(input);
  return {};
}

Result<std::span<const std::byte>> InferParser::State::take_binary(const InputFields& fields,
                                                                   const PlaceView& place) {
  auto expected = tensor_size(place, *fields.dtype, *fields.shape);
  if (!expected) return expected.error();
  const std::uint64_t size = *fields.binary_size;
  if (*expected && size != **expected) {
    return fault(place, fmt::format("binary_data_size is {}, but shape {} of {} has {} bytes", size,
                                    to_string(*fields.shape), name_of(*fields.dtype), **expected));
  }
  if (size > binary.size()) {
    return fault(place, fmt::format("binary_data_size is {}, but only {} bytes are left in the "
                                    "body: {} more are expected",
                                    size, binary.size(), size - binary.size()));
  }
  const auto taken = binary.first(static_cast<std::size_t>(size));
  binary = binary.subspan(taken.size());
  if (!*expected) {
    if (Status whole = check_bytes_elements(taken, *fields.shape->elements()); !whole) {
      return in_context(std::move(whole), to_string(place));
    }
  }
  return taken;
}

Status InferParser::State::read_outputs(ondemand::value value) {
  const PlaceView place{.kind = "request"};
  ondemand::array array;
  if (value.get_array().get(array)) return wrong_type(place, "outputs", value, "an array");
  for (auto each : array) {
    ondemand::value output;
    if (const auto error = std::move(each).get(output); error) return not_json(error);
    if (wished.size() == kMaxTensors) {
      return fault(place, fmt::format("more than {} outputs", kMaxTensors));
    }
    if (Status read = read_output(output); !read) return read;
  }
  return {};
}

Status InferParser::State::read_output(ondemand::value value) {
  PlaceView place{.kind = "output", .index = wished.size()};
  ondemand::object object;
  if (value.get_object().get(object)) return wrong_type(place, "it", value, "an object");
  RequestedOutputView output;
  bool says_how = false;
  Status members =
      for_each_member(object, place, [&](std::string_view key, ondemand::value member) -> Status {
        if (key == "name") {
          Status read = read_string(place, "name", member, output.name);
          place.name = output.name;
          return read;
        }
        if (key != "parameters") return unknown_member(place, key);
        ondemand::object parameters;
        if (member.get_object().get(parameters)) {
          return wrong_type(place, "parameters", member, "an object");
        }
        return for_each_member(parameters, place, [&](std::string_view name, ondemand::value each) {
          if (name == "classification") return read_classes(place, each, output.classes);
          if (name != "binary_data") return refuse_parameter(place, name);
          says_how = true;
          return read_bool(place, name, each, output.binary);
        });
      });
  if (!members) return members;
  if (output.name.empty()) return fault(place, "its name is missing");
  for (const auto& [other, how] : wished) {
    if (other.name == output.name) return fault(place, "it comes twice");
  }
  wished.emplace_back(output, says_how);
  return {};
}

Status InferParser::State::finish() {
  if (!binary.empty()) {
    return fault({.kind = "request"},
                 fmt::format("{} bytes are left in the body after the last input", binary.size()));
  }
  for (auto& [output, says_how] : wished) {
    if (!says_how) output.binary = request.binary_by_default;
    outputs.push_back(output);
  }
  request.inputs = inputs;
  request.outputs = outputs;
  return {};
}

Result<InferRequestView> InferParser::parse_raw(std::span<const std::byte> body,
                                                const RawInputView& input, DecodeMemory& memory) {
  State& state = *state_;
  state.begin(memory);
  auto tensor = raw_input(body, input, memory);
  if (!tensor) return in_context(std::move(tensor), fmt::format("input '{}'", input.name));
  state.inputs.push_back(*tensor);
  state.request.binary_by_default = true;
  if (Status finished = state.finish(); !finished) return finished.error();
  return state.request;
}

Result<InferRequestView> InferParser::parse(std::span<const std::byte> body,
                                            std::optional<std::uint64_t> json_length,
                                            DecodeMemory& memory) {
  State& state = *state_;
  state.begin(memory);
  const std::uint64_t length = json_length.value_or(body.size());
  if (length > body.size()) {
    return invalid_argument(fmt::format(
        "the JSON is said to have {} bytes, but the body has only {}", length, body.size()));
  }
  const auto json = body.first(static_cast<std::size_t>(length));
  state.binary = body.subspan(json.size());

  ondemand::document document;
  const simdjson::padded_string_view padded(reinterpret_cast<const char*>(json.data()), json.size(),
                                            json.size() + kPadding);
  if (const auto error = state.parser.iterate(padded).get(document); error) return not_json(error);
  ondemand::object object;
  if (const auto error = document.get_object().get(object); error) {
    if (error != simdjson::INCORRECT_TYPE) return not_json(error);
    return invalid_argument("the request must be a JSON object");
  }
  if (Status read = state.read_request(object); !read) return read.error();
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    return invalid_argument("the request is not valid JSON: something follows the object");
  }
  if (Status finished = state.finish(); !finished) return finished.error();
  return state.request;
}

}  // namespace corelane::wire
