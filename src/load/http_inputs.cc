#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "load/http_target.h"
#include "load/inputs.h"
#include "model/manifest.h"
#include "net/http_client.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::load {
namespace {

using Json = nlohmann::ordered_json;
using tensor::DType;

template <typename T>
Json numbers(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Json booleans(std::span<const std::byte> bytes) {
  Json values = Json::array();
  for (const std::byte value : bytes) values.push_back(value != std::byte{0});
  return values;
}

Json texts(std::span<const std::byte> bytes) {
  Json values = Json::array();
  while (bytes.size() >= sizeof(std::uint32_t)) {
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    values.push_back(
        std::string(reinterpret_cast<const char*>(bytes.data()) + sizeof length, length));
    bytes = bytes.subspan(sizeof length + length);
  }
  return values;
}

/// null for types that JSON does not carry.
Json data_of(const PreparedTensor& tensor) {
  switch (tensor.dtype) {
    case DType::kBool:
      return booleans(tensor.bytes);
    case DType::kUint8:
      return numbers<std::uint8_t>(tensor.bytes);
    case DType::kUint16:
      return numbers<std::uint16_t>(tensor.bytes);
    case DType::kUint32:
      return numbers<std::uint32_t>(tensor.bytes);
    case DType::kUint64:
      return numbers<std::uint64_t>(tensor.bytes);
    case DType::kInt8:
      return numbers<std::int8_t>(tensor.bytes);
    case DType::kInt16:
      return numbers<std::int16_t>(tensor.bytes);
    case DType::kInt32:
      return numbers<std::int32_t>(tensor.bytes);
    case DType::kInt64:
      return numbers<std::int64_t>(tensor.bytes);
    case DType::kFp32:
      return numbers<float>(tensor.bytes);
    case DType::kFp64:
      return numbers<double>(tensor.bytes);
    case DType::kBytes:
      return texts(tensor.bytes);
    case DType::kFp16:
    case DType::kBf16:
      break;
  }
  return nullptr;
}

Json head_of(const PreparedTensor& tensor) {
  return {
      {"name", tensor.name},
      {"datatype", std::string(tensor::name_of(tensor.dtype))},
      {"shape", std::vector<std::int64_t>(tensor.shape.dims().begin(), tensor.shape.dims().end())}};
}

void append(std::vector<std::byte>& body, std::span<const std::byte> bytes) {
  body.insert(body.end(), bytes.begin(), bytes.end());
}

net::PreparedRequest binary_request(const std::string& path, const PreparedInput& input) {
  Json json = {{"parameters", {{"binary_data_output", true}}}, {"inputs", Json::array()}};
  for (const PreparedTensor& tensor : input.tensors) {
    Json head = head_of(tensor);
    head["parameters"] = {{"binary_data_size", tensor.bytes.size()}};
    json["inputs"].push_back(std::move(head));
  }
  const std::string text = json.dump();
  std::vector<std::byte> body;
  append(body, std::as_bytes(std::span(text)));
  for (const PreparedTensor& tensor : input.tensors) append(body, tensor.bytes);
  const std::vector<net::PreparedRequest::Header> headers = {
      {"Content-Type", "application/octet-stream"},
      {"Inference-Header-Content-Length", std::to_string(text.size())}};
  return {"POST", path, headers, body};
}

Result<net::PreparedRequest> json_request(const std::string& path, const PreparedInput& input) {
  Json json = {{"inputs", Json::array()}};
  for (const PreparedTensor& tensor : input.tensors) {
    Json head = head_of(tensor);
    head["data"] = data_of(tensor);
    if (head["data"].is_null()) {
      return unsupported(fmt::format("input '{}': {} does not travel as JSON: use binary tensors",
                                     tensor.name, tensor::name_of(tensor.dtype)));
    }
    json["inputs"].push_back(std::move(head));
  }
  const std::string text = json.dump();
  const std::vector<net::PreparedRequest::Header> headers = {{"Content-Type", "application/json"}};
  return net::PreparedRequest("POST", path, headers, std::as_bytes(std::span(text)));
}

/// The server's own limit is not told; it refuses what is too much.
constexpr std::int64_t kMostItems = std::int64_t{1} << 20;

/// Where a tensor's varying dimensions get their names from.
struct Naming {
  std::string dimension;
  bool with_batch = false;  // the first dimension, where it varies
};

Result<model::TensorSpec> parse_tensor(const Json& json, const Naming& naming) {
  const auto field = [&](const char* name) {
    const auto found = json.is_object() ? json.find(name) : json.end();
    return found != json.end() ? *found : Json();
  };
  const Json name = field("name");
  const Json datatype = field("datatype");
  const Json shape = field("shape");
  if (!name.is_string() || !datatype.is_string() || !shape.is_array()) {
    return invalid_argument("a tensor needs name, datatype and shape");
  }
  model::TensorSpec spec;
  spec.name = name.get<std::string>();
  const auto type = tensor::dtype_from_name(datatype.get<std::string>());
  if (!type || shape.size() > tensor::kMaxRank) {
    return unsupported(fmt::format("tensor '{}': datatype {} or rank {} is not known here",
                                   spec.name, datatype.get<std::string>(), shape.size()));
  }
  spec.type = *type;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (!shape[axis].is_number_integer()) {
      return invalid_argument(fmt::format("tensor '{}': a shape has integers", spec.name));
    }
    const auto size = shape[axis].get<std::int64_t>();
    if (size >= 0) {
      spec.shape.emplace_back(size);
    } else if (axis == 0 && naming.with_batch) {
      spec.shape.emplace_back(std::string(model::kBatch));
    } else if (!naming.dimension.empty()) {
      spec.shape.emplace_back(naming.dimension);
    } else {
      spec.shape.emplace_back(fmt::format("{}.{}", spec.name, axis));
    }
  }
  return spec;
}

/// All inputs begin with a dimension that varies.
bool has_batch(const Json& inputs) {
  for (const Json& input : inputs) {
    const auto shape = input.is_object() ? input.find("shape") : input.end();
    if (shape == input.end() || !shape->is_array() || shape->empty() || (*shape)[0] != -1) {
      return false;
    }
  }
  return !inputs.empty();
}

}  // namespace

Result<std::vector<HttpInput>> http_inputs(const std::string& model, const std::string& version,
                                           std::span<const PreparedInput> inputs, TensorForm form) {
  const std::string path =
      "/v2/models/" + model + (version.empty() ? "" : "/versions/" + version) + "/infer";
  std::vector<HttpInput> made;
  for (const PreparedInput& input : inputs) {
    auto request = form == TensorForm::kBinary
                       ? Result<net::PreparedRequest>(binary_request(path, input))
                       : json_request(path, input);
    if (!request) return std::move(request).error();
    made.push_back({.items = input.items, .request = *std::move(request)});
  }
  return made;
}

Result<model::Manifest> parse_model_metadata(std::string_view json, const std::string& dimension) {
  const Json document = Json::parse(json, nullptr, false);
  if (!document.is_object() || !document.contains("name") || !document["name"].is_string() ||
      !document.contains("inputs") || !document["inputs"].is_array()) {
    return invalid_argument("the server's answer is no model metadata");
  }
  model::Manifest manifest;
  manifest.name = document["name"].get<std::string>();
  const Naming naming{.dimension = dimension, .with_batch = has_batch(document["inputs"])};
  for (const Json& input : document["inputs"]) {
    auto spec = parse_tensor(input, naming);
    if (!spec) return std::move(spec).error();
    for (const model::Dim& dim : spec->shape) {
      if (const auto* name = std::get_if<std::string>(&dim)) manifest.dimensions[*name];
    }
    manifest.inputs.push_back(*std::move(spec));
  }
  if (naming.with_batch) manifest.dimensions[std::string(model::kBatch)].max = kMostItems;
  if (manifest.inputs.empty()) return invalid_argument("the model has no inputs");
  return manifest;
}

}  // namespace corelane::load
