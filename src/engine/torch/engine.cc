// TorchScript on libtorch, on the CPU.
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/autocast_mode.h>
#include <ATen/cpu/Utils.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/engine_abi.h"
#include "engine/plugin.h"
#include "engine/plugin_report.h"
#include "engine/torch/values.h"

namespace corelane::engine::torch_script {
namespace {

/// Autocast to bf16 on this thread for as long as it lives, where wanted. TorchScript casts weights
/// at every run and keeps no copies: docs/decisions/024-what-torch-keeps-of-a-model.md.
class Autocast {
 public:
  explicit Autocast(bool wanted) : wanted_(wanted) {
    if (!wanted_) return;
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_cache_enabled(true);
  }
  ~Autocast() {
    if (wanted_) at::autocast::set_autocast_enabled(at::kCPU, false);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool wanted_;
};

bool cpu_has_bf16() {
  const auto capabilities = at::cpu::get_cpu_capabilities();
  constexpr std::array kNames{"avx512_bf16", "amx_bf16", "avx_ne_convert", "amx_tile"};
  return std::ranges::any_of(kNames, [&](const char* name) {
    const auto found = capabilities.find(name);
    return found != capabilities.end() && found->second.isBool() && found->second.toBool();
  });
}

Status check_options(const cl_load_options& options) {
  std::error_code ignored;
  if (!std::filesystem::exists(options.artifact, ignored)) {
    return not_found(std::string("no file ") + options.artifact);
  }
  if (std::string_view(options.device) != "cpu") {
    return unsupported("device '" + std::string(options.device) + "'; this build has cpu");
  }
  const std::string_view precision = options.precision;
  if (precision != "f32" && precision != "bf16") {
    return unsupported("precision '" + std::string(precision) + "'; it has f32 and bf16");
  }
  if (precision == "bf16" && !cpu_has_bf16()) {
    return unsupported("precision 'bf16' needs a CPU with avx512_bf16 or amx_bf16");
  }
  const auto parsed = nlohmann::json::parse(options.options, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object() || !parsed.empty()) {
    return invalid_argument("options: this engine has none, they must be {}");
  }
  return {};
}

/// The operators that autocast runs in bf16, of those that inference meets.
bool runs_in_bf16(std::string_view kind) {
  constexpr std::array<std::string_view, 12> kKinds{
      "aten::linear",       "aten::matmul",      "aten::mm",
      "aten::bmm",          "aten::addmm",       "aten::baddbmm",
      "aten::conv1d",       "aten::conv2d",      "aten::conv3d",
      "aten::_convolution", "aten::convolution", "aten::scaled_dot_product_attention"};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

void count_operators(const torch::jit::Block& block, bool bf16,
                     std::map<std::string, std::int64_t>& counts) {
  for (const torch::jit::Node* node : block.nodes()) {
    const std::string_view kind = node->kind().toQualString();
    if (kind.starts_with("aten::")) ++counts[bf16 && runs_in_bf16(kind) ? "bf16" : "f32"];
    for (const torch::jit::Block* inner : node->blocks()) count_operators(*inner, bf16, counts);
  }
}

void use_threads(int threads) {
  static std::once_flag once;
  std::call_once(once, [] { at::set_num_interop_threads(1); });
  if (at::get_num_threads() != threads) at::set_num_threads(threads);  // of this thread's pool
}

class Model {
 public:
  static Result<std::unique_ptr<Model>> load(const cl_load_options& options) {
    if (Status status = check_options(options); !status) return status.error();
    use_threads(options.threads);
    auto module = torch::jit::load(options.artifact, at::kCPU);
    module.eval();
    const auto takes = module.get_method("forward").function().getSchema().arguments().size() - 1;
    if (takes != options.input_count) {
      return invalid_argument("the model's forward takes " + std::to_string(takes) + " inputs, " +
                              std::to_string(options.input_count) + " are declared");
    }
    auto model = std::unique_ptr<Model>(new Model(std::move(module), options));
    return model;
  }

  Status infer(const cl_tensor* inputs, cl_tensor* outputs) {
    use_threads(threads_);
    const c10::InferenceMode inference;
    std::vector<c10::IValue> arguments;
    for (std::size_t k = 0; k < input_count_; ++k) {
      auto tensor = tensor_over(inputs[k]);
      if (!tensor) return std::move(tensor).error();
      arguments.emplace_back(*std::move(tensor));
    }
    auto returned = [&] {
      const Autocast autocast(bf16_);
      return module_.forward(std::move(arguments));
    }();
    auto tensors = outputs_of(returned, output_names_);
    if (!tensors) return std::move(tensors).error();
    results_ = *std::move(tensors);
    for (std::size_t k = 0; k < results_.size(); ++k) {
      results_[k] = delivered(results_[k]);
      const auto tensor = described(results_[k]);
      if (!tensor) return tensor.error();
      outputs[k] = *tensor;
    }
    return {};
  }

  const char* describe() {
    PluginReport report{.threads = threads_};
    const auto graph = module_.get_method("forward").graph()->copy();
    torch::jit::Inline(*graph);
    count_operators(*graph->block(), bf16_, report.precision);
    for (const at::Tensor& tensor : module_.parameters()) report.memory_bytes += tensor.nbytes();
    for (const at::Tensor& tensor : module_.buffers()) report.memory_bytes += tensor.nbytes();
    report_ = report_json(report);
    return report_.c_str();
  }

  static std::string explain(const std::exception& error) {
    const auto* own = dynamic_cast<const c10::Error*>(&error);
    return from_interpreter(own != nullptr ? own->what_without_backtrace() : error.what());
  }

 private:
  Model(torch::jit::Module module, const cl_load_options& options)
      : module_(std::move(module)),
        threads_(options.threads),
        bf16_(std::string_view(options.precision) == "bf16"),
        input_count_(options.input_count),
        output_names_(options.outputs, options.outputs + options.output_count) {}

  /// In memory as the boundary wants it. What autocast left in bf16 becomes f32, so that a model's
  /// outputs have one type at every precision.
  at::Tensor delivered(const at::Tensor& tensor) const {
    const bool widen = bf16_ && tensor.scalar_type() == at::kBFloat16;
    return (widen ? tensor.to(at::kFloat) : tensor).cpu().contiguous();
  }

  /// The interpreter puts a trace of the model's own code before the reason.
  static std::string from_interpreter(std::string_view text) {
    constexpr std::string_view kReason = "\nRuntimeError: ";
    const std::size_t reason = text.rfind(kReason);
    return std::string(reason == std::string_view::npos ? text
                                                        : text.substr(reason + kReason.size()));
  }

  torch::jit::Module module_;
  int threads_;
  bool bf16_;
  std::size_t input_count_;
  std::vector<std::string> output_names_;
  std::vector<at::Tensor> results_;  // what outputs point to
  std::string report_;
};

constexpr cl_engine kTable = Plugin<Model>::table("torch", TORCH_VERSION);

}  // namespace
}  // namespace corelane::engine::torch_script

extern "C" const cl_engine* corelane_engine() { return &corelane::engine::torch_script::kTable; }
