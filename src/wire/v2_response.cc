#include "wire/v2_response.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "wire/json_text.h"
#include "wire/tensor_json.h"

namespace corelane::wire {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void append_tensor_metadata(std::string& out, const std::vector<TensorMetadata>& tensors) {
  out += '[';
  for (const TensorMetadata& tensor : tensors) {
    if (&tensor != &tensors.front()) out += ',';
    out += R"({"name":)";
    append_json_string(out, tensor.name);
    out += R"(,"datatype":")";
    out += name_of(tensor.dtype);
    out += R"(","shape":)";
    append_json_array(out, tensor.shape);
    out += '}';
  }
  out += ']';
}

Status append_output(std::string& out, const ResponseOutputView& output) {
  out += R"({"name":)";
  append_json_string(out, output.name);
  out += R"(,"datatype":")";
  out += name_of(output.tensor.dtype);
  out += R"(","shape":)";
  append_json_array(out, output.tensor.shape.dims());
  if (output.binary) {
    out += R"(,"parameters":{"binary_data_size":)";
    append_json_number(out, static_cast<std::uint64_t>(output.tensor.bytes.size()));
    out += "}}";
    return {};
  }
  out += R"(,"data":)";
  if (Status data = append_tensor_json(out, output.tensor); !data) {
    return in_context(std::move(data), fmt::format("output '{}'", output.name));
  }
  out += '}';
  return {};
}

}  // namespace

Result<EncodedResponseView> InferResponseWriter::write(const InferResponseView& response) {
  json_.clear();
  pieces_.assign(1, {});
  json_ += R"({"model_name":)";
  append_json_string(json_, response.model_name);
  json_ += R"(,"model_version":")";
  append_json_number(json_, response.model_version);
  json_ += '"';
  if (response.id) {
    json_ += R"(,"id":)";
    append_json_string(json_, *response.id);
  }
  json_ += R"(,"outputs":[)";
  for (const ResponseOutputView& output : response.outputs) {
    if (&output != &response.outputs.front()) json_ += ',';
    if (Status appended = append_output(json_, output); !appended) return appended.error();
    if (output.binary && !output.tensor.bytes.empty()) pieces_.push_back(output.tensor.bytes);
  }
  json_ += "]}";
  pieces_.front() = bytes_of(json_);
  return EncodedResponseView{
      .pieces = pieces_, .json_length = json_.size(), .binary = pieces_.size() > 1};
}

std::string error_body(std::string_view message) {
  std::string out = R"({"error":)";
  append_json_string(out, message);
  out += '}';
  return out;
}

std::string write_server_metadata(const ServerMetadata& metadata) {
  std::string out = R"({"name":)";
  append_json_string(out, metadata.name);
  out += R"(,"version":)";
  append_json_string(out, metadata.version);
  out += R"(,"extensions":)";
  append_json_strings(out, metadata.extensions);
  out += '}';
  return out;
}

std::string write_model_metadata(const ModelMetadata& metadata) {
  std::string out = R"({"name":)";
  append_json_string(out, metadata.name);
  out += R"(,"versions":)";
  append_json_strings(out, metadata.versions);
  out += R"(,"platform":)";
  append_json_string(out, metadata.platform);
  out += R"(,"inputs":)";
  append_tensor_metadata(out, metadata.inputs);
  out += R"(,"outputs":)";
  append_tensor_metadata(out, metadata.outputs);
  out += '}';
  return out;
}

}  // namespace corelane::wire
