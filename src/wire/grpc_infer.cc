#include "wire/grpc_infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "wire/grpc_contents.h"
#include "wire/grpc_parameters.h"
#include "wire/protobuf_reader.h"
#include "wire/request_rules.h"
#include "wire/v2_infer.h"

namespace corelane::wire {
namespace {

constexpr PlaceView kRequest{.kind = "request"};

/// Which fields of a message have come; those that may come once only are asked for here.
class SeenFields {
 public:
  Status once(const PlaceView& place, const FieldView& field, std::string_view name) {
    const std::uint32_t bit = 1U << field.number;
    if ((seen_ & bit) != 0) return fault(place, fmt::format("{} comes twice", name));
    seen_ |= bit;
    return {};
  }

 private:
  std::uint32_t seen_ = 0;
};

Error unknown_field(const PlaceView& place, const FieldView& field) {
  return fault(place, fmt::format("field {} is not known", field.number));
}

/// A string field that may come once.
Status read_once(const PlaceView& place, const FieldView& field, std::string_view name,
                 SeenFields& seen, std::string_view& into) {
  if (Status first = seen.once(place, field, name); !first) return first;
  auto text = read_text(place, name, field);
  if (!text) return std::move(text).error();
  into = *text;
  return {};
}

/// An InferInputTensor before its data is looked for.
struct InputFields {
  std::string_view name = {};
  std::string_view datatype = {};
  std::array<std::int64_t, tensor::kMaxRank> dims{};
  std::size_t rank = 0;
  std::optional<std::span<const std::byte>> contents{};

  PlaceView place(std::size_t index) const {
    return {.kind = "input", .name = name, .index = index};
  }
};

Status add_dim(const PlaceView& place, std::uint64_t bits, InputFields& input) {
  if (input.rank == input.dims.size()) {
    return fault(place, fmt::format("shape has more than {} dimensions", input.dims.size()));
  }
  const auto dim = static_cast<std::int64_t>(bits);
  if (dim < 0) {
    return fault(
        place, fmt::format("shape[{}] is {}, but must be a whole number from 0", input.rank, dim));
  }
  input.dims[input.rank++] = dim;
  return {};
}

/// One or, packed, many dimensions.
Status read_dims(const PlaceView& place, const FieldView& field, InputFields& input) {
  if (field.type == WireType::kVarint) return add_dim(place, field.value, input);
  if (field.type != WireType::kBytes) return broken_message(place);
  for (auto rest = field.bytes; !rest.empty();) {
    const auto dim = take_varint(rest);
    if (!dim) return broken_message(place);
    if (Status added = add_dim(place, *dim, input); !added) return added;
  }
  return {};
}

Result<InputFields> read_input(std::span<const std::byte> message, std::size_t index) {
  InputFields input;
  SeenFields seen;
  Status read;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    const PlaceView place = input.place(index);
    if (field->number == 1) {
      read = read_once(place, *field, "name", seen, input.name);
    } else if (field->number == 2) {
      read = read_once(place, *field, "datatype", seen, input.datatype);
    } else if (field->number == 3) {
      read = read_dims(place, *field, input);
    } else if (field->number == 4) {
      auto parameter = read_parameter(place, *field);
      read = parameter ? refuse_parameter(place, parameter->key) : std::move(parameter).error();
    } else if (field->number == 5 && field->type == WireType::kBytes) {
      read = seen.once(place, *field, "contents");
      input.contents = field->bytes;
    } else {
      read = unknown_field(place, *field);
    }
    if (!read) return std::move(read).error();
  }
  if (reader.broken()) return broken_message(input.place(index));
  return input;
}

Status read_output_parameter(const PlaceView& place, const FieldView& field,
                             RequestedOutputView& output) {
  auto parameter = read_parameter(place, field);
  if (!parameter) return std::move(parameter).error();
  if (parameter->key != "classification") return refuse_parameter(place, parameter->key);
  if (output.classes != 0) return fault(place, "parameter 'classification' comes twice");
  auto classes = count_of(place, *parameter);
  if (!classes) return std::move(classes).error();
  if (*classes == 0) return fault(place, "classification is 0, but must be a whole number from 1");
  output.classes = *classes;
  return {};
}

Result<RequestedOutputView> read_output(std::span<const std::byte> message, std::size_t index) {
  RequestedOutputView output{.name = {}, .binary = true};
  SeenFields seen;
  Status read;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    const PlaceView place{.kind = "output", .name = output.name, .index = index};
    if (field->number == 1) {
      read = read_once(place, *field, "name", seen, output.name);
    } else if (field->number == 2) {
      read = read_output_parameter(place, *field, output);
    } else {
      read = unknown_field(place, *field);
    }
    if (!read) return std::move(read).error();
  }
  const PlaceView place{.kind = "output", .name = output.name, .index = index};
  if (reader.broken()) return broken_message(place);
  if (output.name.empty()) return fault(place, "its name is missing");
  return output;
}

/// Whether a tensor's raw contents are what its shape and datatype say.
Status check_raw(const PlaceView& place, const InferInputView& input) {
  auto size = tensor_size(place, input.dtype, input.shape);
  if (!size) return std::move(size).error();
  if (!*size) {
    Status whole = check_bytes_elements(input.data, *input.shape.elements());
    return whole ? Status() : in_context(std::move(whole), to_string(place));
  }
  if (input.data.size() == **size) return {};
  return fault(
      place, fmt::format("its raw_input_contents have {} bytes, but shape {} of {} has {}",
                         input.data.size(), to_string(input.shape), name_of(input.dtype), **size));
}

}  // namespace

struct GrpcInferParser::State {
  std::vector<InputFields> fields;
  std::vector<std::span<const std::byte>> raws;
  std::vector<std::string_view> parameters;
  std::vector<InferInputView> inputs;
  std::vector<RequestedOutputView> outputs;
  GrpcInferRequestView seen;

  void begin() {
    fields.clear();
    raws.clear();
    parameters.clear();
    inputs.clear();
    outputs.clear();
    seen = {};
    seen.request.binary_by_default = true;
  }
  Status read_field(const FieldView& field, SeenFields& once);
  Status read_id(const FieldView& field, SeenFields& once);
  Status read_request_parameter(const FieldView& field);
  Status add_input(const FieldView& field);
  Status add_output(const FieldView& field);
  Status add_raw(const FieldView& field);
  Status finish(DecodeMemory& memory);
  Status finish_input(std::size_t index, DecodeMemory& memory);
};

GrpcInferParser::GrpcInferParser() : state_(std::make_unique<State>()) {}
GrpcInferParser::~GrpcInferParser() = default;
const GrpcInferRequestView& GrpcInferParser::seen() const { return state_->seen; }

Status GrpcInferParser::State::read_field(const FieldView& field, SeenFields& once) {
  switch (field.number) {
    case 1:
      return read_once(kRequest, field, "model_name", once, seen.model);
    case 2:
      return read_once(kRequest, field, "model_version", once, seen.version);
    case 3:
      return read_id(field, once);
    case 4:
      return read_request_parameter(field);
    case 5:
      return add_input(field);
    case 6:
      return add_output(field);
    case 7:
      return add_raw(field);
    default:
      return unknown_field(kRequest, field);
  }
}

Status GrpcInferParser::State::read_id(const FieldView& field, SeenFields& once) {
  std::string_view id;
  Status read = read_once(kRequest, field, "id", once, id);
  if (read && !id.empty()) seen.request.id = id;
  return read;
}

Status GrpcInferParser::State::read_request_parameter(const FieldView& field) {
  auto parameter = read_parameter(kRequest, field);
  if (!parameter) return std::move(parameter).error();
  const std::string_view key = parameter->key;
  if (std::find(parameters.begin(), parameters.end(), key) != parameters.end()) {
    return fault(kRequest, fmt::format("parameter '{}' comes twice", key.substr(0, kMaxQuoted)));
  }
  if (key == "timeout") {
    auto micros = count_of(kRequest, *parameter);
    auto timeout = micros ? timeout_from(kRequest, *micros) : std::move(micros).error();
    if (!timeout) return std::move(timeout).error();
    seen.request.timeout = *timeout;
  } else if (key == "priority") {
    auto priority = count_of(kRequest, *parameter);
    if (!priority) return std::move(priority).error();
    seen.request.priority = *priority;
  } else if (key == "triton_enable_empty_final_response") {
    auto wanted = bool_of(kRequest, *parameter);
    if (!wanted) return std::move(wanted).error();
    seen.final_mark = *wanted;
  } else {
    return refuse_parameter(kRequest, key);
  }
  parameters.push_back(key);
  return {};
}

Status GrpcInferParser::State::add_input(const FieldView& field) {
  if (field.type != WireType::kBytes) return broken_message(kRequest);
  if (fields.size() == kMaxTensors) {
    return fault(kRequest, fmt::format("more than {} inputs", kMaxTensors));
  }
  auto input = read_input(field.bytes, fields.size());
  if (!input) return std::move(input).error();
  fields.push_back(*std::move(input));
  return {};
}

Status GrpcInferParser::State::add_output(const FieldView& field) {
  if (field.type != WireType::kBytes) return broken_message(kRequest);
  if (outputs.size() == kMaxTensors) {
    return fault(kRequest, fmt::format("more than {} outputs", kMaxTensors));
  }
  auto output = read_output(field.bytes, outputs.size());
  if (!output) return std::move(output).error();
  for (const RequestedOutputView& other : outputs) {
    if (other.name != output->name) continue;
    return fault({.kind = "output", .name = output->name}, "it comes twice");
  }
  outputs.push_back(*output);
  return {};
}

Status GrpcInferParser::State::add_raw(const FieldView& field) {
  if (field.type != WireType::kBytes) return broken_message(kRequest);
  if (raws.size() == kMaxTensors) {
    return fault(kRequest, fmt::format("more than {} raw_input_contents", kMaxTensors));
  }
  raws.push_back(field.bytes);
  return {};
}

Status GrpcInferParser::State::finish(DecodeMemory& memory) {
  if (!raws.empty() && raws.size() != fields.size()) {
    return fault(kRequest, fmt::format("there are {} raw_input_contents for {} inputs", raws.size(),
                                       fields.size()));
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (Status finished = finish_input(i, memory); !finished) return finished;
  }
  seen.request.inputs = inputs;
  seen.request.outputs = outputs;
  return {};
}

Status GrpcInferParser::State::finish_input(std::size_t index, DecodeMemory& memory) {
  const InputFields& from = fields[index];
  const PlaceView place = from.place(index);
  if (from.name.empty()) return fault(place, "its name is missing");
  if (from.datatype.empty()) return fault(place, "its datatype is missing");
  for (const InferInputView& other : inputs) {
    if (other.name == from.name) return fault(place, "it comes twice");
  }
  auto dtype = datatype_from(place, from.datatype);
  if (!dtype) return std::move(dtype).error();
  InferInputView input{.name = from.name,
                       .dtype = *dtype,
                       .shape = *tensor::Shape::from(std::span(from.dims).first(from.rank))};
  if (raws.empty()) {
    auto decoded = decode_contents(from.contents.value_or(std::span<const std::byte>()),
                                   input.dtype, input.shape, memory);
    if (!decoded) return in_context(std::move(decoded), to_string(place));
    input.data = *decoded;
    input.source = DataSource::kJson;
  } else {
    if (from.contents && !from.contents->empty()) {
      return fault(place, "it has contents, but the request has raw_input_contents");
    }
    input.data = raws[index];
    if (Status fits = check_raw(place, input); !fits) return fits;
  }
  inputs.push_back(input);
  return {};
}

Result<GrpcInferRequestView> GrpcInferParser::parse(std::span<const std::byte> message,
                                                    DecodeMemory& memory) {
  State& state = *state_;
  state.begin();
  SeenFields once;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (Status read = state.read_field(*field, once); !read) return std::move(read).error();
  }
  if (reader.broken()) return broken_message(kRequest);
  if (state.seen.model.empty()) return fault(kRequest, "model_name is missing");
  if (Status finished = state.finish(memory); !finished) return std::move(finished).error();
  return state.seen;
}

}  // namespace corelane::wire
