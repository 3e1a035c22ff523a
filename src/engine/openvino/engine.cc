// OpenVINO on the CPU: reads ONNX and OpenVINO IR.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <openvino/core/version.hpp>
#include <openvino/runtime/core.hpp>
#include <openvino/runtime/properties.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/engine_abi.h"
#include "engine/openvino/names.h"
#include "engine/openvino/report.h"
#include "engine/openvino/settings.h"
#include "engine/plugin.h"

namespace corelane::engine::openvino {
namespace {

/// A tensor of the model as the boundary sees it.
struct Port {
  std::size_t index = 0;  // OpenVINO's
  std::string name;
  ov::element::Type type;
  std::uint32_t dtype = 0;
  ov::PartialShape shape;
};

std::vector<Port> ports_of(const Ports& all, const std::vector<std::size_t>& indices,
                           const char* const* names) {
  std::vector<Port> ports;
  for (const std::size_t index : indices) {
    const auto& port = all[index];
    ports.push_back({.index = index,
                     .name = names[ports.size()],
                     .type = port.get_element_type(),
                     .dtype = *dtype_of(port.get_element_type()),
                     .shape = port.get_partial_shape()});
  }
  return ports;
}

/// OpenVINO's text without its leading lines of places in its own sources.
std::string without_places(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (!line.empty() && !line.starts_with("Exception from ") && !line.starts_with("Check '")) {
      return std::string(line);
    }
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return std::string(text);
}

Status check_artifact(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return not_found("no file " + file.string());
  if (file.extension() != ".xml" && file.extension() != ".onnx") {
    return unsupported(file.string() + ": this engine reads .xml (OpenVINO IR) and .onnx");
  }
  return {};
}

class Model {
 public:
  static Result<std::unique_ptr<Model>> load(const cl_load_options& options) {
    if (Status status = check_artifact(options.artifact); !status) return status.error();
    const std::uint64_t before = resident_bytes();
    ov::Core core;
    const auto settings = settings_of(options, core.get_property("CPU", ov::device::capabilities));
    if (!settings) return settings.error();
    auto compiled = core.compile_model(core.read_model(options.artifact), "CPU", *settings);

    const auto inputs =
        find_ports(compiled.inputs(), {options.inputs, options.input_count}, "input");
    if (!inputs) return inputs.error();
    if (inputs->size() != compiled.inputs().size()) {
      return invalid_argument("the model has " + std::to_string(compiled.inputs().size()) +
                              " inputs, " + std::to_string(inputs->size()) + " are declared");
    }
    const auto outputs =
        find_ports(compiled.outputs(), {options.outputs, options.output_count}, "output");
    if (!outputs) return outputs.error();
    auto model = std::unique_ptr<Model>(new Model(std::move(compiled)));
    model->inputs_ = ports_of(model->compiled_.inputs(), *inputs, options.inputs);
    model->outputs_ = ports_of(model->compiled_.outputs(), *outputs, options.outputs);
    const std::uint64_t after = resident_bytes();
    model->memory_bytes_ = after > before ? after - before : 0;
    return model;
  }

  Status infer(const cl_tensor* inputs, cl_tensor* outputs) {
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      if (Status status = set_input(inputs_[k], inputs[k]); !status) return status;
    }
    request_.infer();
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      const Port& port = outputs_[k];
      const ov::Tensor tensor = request_.get_output_tensor(port.index);
      const ov::Shape& shape = tensor.get_shape();
      if (shape.size() > CL_MAX_RANK) return internal_error(port.name + ": too many dimensions");
      outputs[k].dtype = port.dtype;
      outputs[k].rank = static_cast<std::uint32_t>(shape.size());
      std::ranges::copy(shape, outputs[k].dims);
      outputs[k].data = const_cast<void*>(tensor.data());
      outputs[k].bytes = tensor.get_byte_size();
    }
    return {};
  }

  const char* describe() {
    report_ = report_on(compiled_, memory_bytes_);
    return report_.c_str();
  }

  static std::string explain(const std::exception& error) { return without_places(error.what()); }

 private:
  explicit Model(ov::CompiledModel compiled)
      : compiled_(std::move(compiled)), request_(compiled_.create_infer_request()) {}

  /// Lets the request read the host's memory in place.
  Status set_input(const Port& port, const cl_tensor& input) {
    if (input.dtype != port.dtype) {
      return invalid_argument("input '" + port.name + "' is " +
                              std::string(dtype_name(port.dtype)) + ", not " +
                              std::string(dtype_name(input.dtype)));
    }
    const ov::Shape shape(input.dims, input.dims + input.rank);
    if (!port.shape.compatible(shape)) {
      return invalid_argument("input '" + port.name + "' has shape " + shape.to_string() +
                              ", the model takes " + port.shape.to_string());
    }
    request_.set_input_tensor(port.index,
                              ov::Tensor(port.type, shape, static_cast<const void*>(input.data)));
    return {};
  }

  ov::CompiledModel compiled_;
  ov::InferRequest request_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  std::uint64_t memory_bytes_ = 0;
  std::string report_;
};

}  // namespace
}  // namespace corelane::engine::openvino

extern "C" const cl_engine* corelane_engine() {
  using corelane::engine::Plugin;
  using corelane::engine::openvino::Model;
  static const cl_engine kTable =
      Plugin<Model>::table("openvino", ov::get_openvino_version().buildNumber);
  return &kTable;
}
