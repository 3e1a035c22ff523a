#include "cli/compile_plan.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "cli/input_option.h"
#include "model/manifest.h"
#include "tensor/dtype.h"

namespace corelane::cli {
namespace {

using nlohmann::json;

std::string input_text(const InputOption& input) {
  std::string dims;
  for (const DimOption& dim : input.shape) {
    const std::string size = dim.min == dim.max ? fmt::format("{}", dim.min)
                             : dim.max == 0     ? "?"
                                                : fmt::format("{}..{}", dim.min, dim.max);
    dims += (dims.empty() ? "" : ",") + (dim.name.empty() ? "" : dim.name + "=") + size;
  }
  return fmt::format("{}:{}[{}]", input.name, tensor::name_of(input.type), dims);
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : ",") + text;
  }
  return all;
}

json input_json(const InputOption& input) {
  json shape = json::array();
  for (const DimOption& dim : input.shape) {
    if (dim.min == dim.max && dim.name.empty()) {
      shape.push_back(dim.min);
    } else {
      shape.push_back({{"name", dim.name}, {"min", dim.min}, {"max", dim.max}});
    }
  }
  return {{"name", input.name}, {"type", tensor::name_of(input.type)}, {"shape", shape}};
}

}  // namespace

std::string default_name(const std::string& source) {
  std::filesystem::path path(source);
  std::error_code failed;
  if (!path.has_filename() || path == "." || path == "..") {
    path = std::filesystem::absolute(path, failed).lexically_normal();
    path = path.has_filename() ? path : path.parent_path();
  }
  std::string name = std::filesystem::is_directory(source, failed) ? path.filename().string()
                                                                   : path.stem().string();
  for (char& c : name) {
    if (!model::is_model_name(std::string("x") + c)) {
      c = '-';
    }
  }
  return model::is_model_name(name) ? name : "model";
}

std::string options_text(const CompileOptions& options) {
  std::string text = fmt::format("--engine {} --precision {} --max-batch {}", options.engine,
                                 joined(options.precisions), options.max_batch);
  for (const InputOption& input : options.inputs) {
    text += fmt::format(" --input '{}'", input_text(input));
  }
  if (!options.task.empty()) {
    text += " --task " + options.task;
  }
  if (!options.pooling.empty()) {
    text += " --pooling " + options.pooling;
  }
  return text;
}

std::string compile_request(const CompileOptions& options, const std::string& out) {
  json inputs = json::array();
  for (const InputOption& input : options.inputs) {
    inputs.push_back(input_json(input));
  }
  return json{{"path", options.source},         {"out", out},
              {"engine", options.engine},       {"precisions", options.precisions},
              {"max_batch", options.max_batch}, {"inputs", inputs},
              {"task", options.task},           {"pooling", options.pooling}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace corelane::cli
