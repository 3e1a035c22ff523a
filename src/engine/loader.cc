#include "engine/loader.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "engine/engine_abi.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::engine {
namespace {

static_assert(CL_MAX_RANK == tensor::kMaxRank);
static_assert(static_cast<int>(tensor::DType::kBf16) == 14);

ErrorCode code_of(cl_status status) {
  switch (status) {
    case CL_INVALID_ARGUMENT:
      return ErrorCode::kInvalidArgument;
    case CL_UNSUPPORTED:
      return ErrorCode::kUnsupported;
    case CL_OUT_OF_MEMORY:
      return ErrorCode::kResourceExhausted;
    case CL_NOT_FOUND:
      return ErrorCode::kNotFound;
    default:
      return ErrorCode::kInternal;
  }
}

Error error_of(const cl_engine& table, cl_status status) {
  const char* said = table.last_error();
  std::string why = said != nullptr && *said != '\0' ? said : fmt::format("status {}", +status);
  return {code_of(status), fmt::format("engine '{}': {}", table.name, why)};
}

/// What is wrong with an output, or nothing.
std::string_view fault_of(const cl_tensor& tensor) {
  if (tensor.dtype < +static_cast<std::uint32_t>(tensor::DType::kBool) ||
      tensor.dtype > +static_cast<std::uint32_t>(tensor::DType::kBf16)) {
    return "an unknown data type";
  }
  if (tensor.rank > CL_MAX_RANK) return "too many dimensions";
  const auto shape = tensor::Shape::from({tensor.dims, tensor.rank});
  const auto elements = shape ? shape->elements() : std::nullopt;
  if (!elements) return "an impossible shape";
  const std::size_t size = tensor::size_of(static_cast<tensor::DType>(tensor.dtype));
  if (size != 0 && static_cast<std::uint64_t>(*elements) * size != tensor.bytes) {
    return "a size that is not that of its shape";
  }
  if (tensor.data == nullptr && tensor.bytes != 0) return "no data";
  return {};
}

std::vector<const char*> c_strings(const std::vector<std::string>& texts) {
  std::vector<const char*> result;
  result.reserve(texts.size());
  for (const std::string& text : texts) result.push_back(text.c_str());
  return result;
}

/// Names come from manifests and become file names.
bool is_engine_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

/// The build leaves a line about each engine that it does not have.
std::string why_missing(const std::filesystem::path& folder, std::string_view name) {
  std::string why;
  std::getline(std::ifstream(folder / fmt::format("{}.missing", name)), why);
  return why.empty() ? fmt::format("no libcorelane_{}.so in {}", name, folder.string()) : why;
}

std::string engines_in(const std::filesystem::path& folder) {
  constexpr std::string_view kPrefix = "libcorelane_";
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string stem = entry.path().stem().string();
    if (stem.starts_with(kPrefix)) names.push_back(stem.substr(kPrefix.size()));
  }
  std::ranges::sort(names);
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "none" : all;
}

}  // namespace

LoadedModel::LoadedModel(const cl_engine& table, cl_model* model, const LoadOptions& options)
    : table_(table),
      model_(model),
      input_count_(options.inputs.size()),
      output_count_(options.outputs.size()) {}

LoadedModel::~LoadedModel() { table_.unload(model_); }

Status LoadedModel::infer(std::span<const cl_tensor> inputs, std::span<cl_tensor> outputs) {
  check(inputs.size() == input_count_, "infer gets as many inputs as were declared at load");
  check(outputs.size() == output_count_, "infer gets room for the outputs declared at load");
  const cl_status status = table_.infer(model_, inputs.data(), outputs.data());
  if (status != CL_OK) return error_of(table_, status);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (const std::string_view fault = fault_of(outputs[k]); !fault.empty()) {
      return internal_error(fmt::format("engine '{}': output {} has {}", table_.name, k, fault));
    }
  }
  return {};
}

std::string LoadedModel::report() {
  const std::string_view own = table_.describe(model_);
  const std::size_t first = own.find_first_not_of(" \n", own.find('{') + 1);
  if (own.find('{') == std::string_view::npos || first == std::string_view::npos) return "{}";
  return fmt::format(R"({{"engine":"{}","version":"{}"{}{})", table_.name, table_.version,
                     own[first] == '}' ? "" : ",", own.substr(first));
}

Result<std::unique_ptr<LoadedModel>> Engine::load(const LoadOptions& options) const {
  check(options.threads >= 1, "a model gets at least one thread");
  const std::vector<const char*> inputs = c_strings(options.inputs);
  const std::vector<const char*> outputs = c_strings(options.outputs);
  std::error_code ignored;
  const std::string artifact = options.artifact.empty()
                                   ? std::string()
                                   : std::filesystem::absolute(options.artifact, ignored).string();
  const cl_load_options c_options{.struct_size = sizeof(cl_load_options),
                                  .threads = options.threads,
                                  .artifact = artifact.c_str(),
                                  .precision = options.precision.c_str(),
                                  .device = options.device.c_str(),
                                  .inputs = inputs.data(),
                                  .outputs = outputs.data(),
                                  .input_count = static_cast<std::uint32_t>(inputs.size()),
                                  .output_count = static_cast<std::uint32_t>(outputs.size()),
                                  .options = options.options.c_str()};
  cl_model* model = nullptr;
  const cl_status status = table_.load(&c_options, &model);
  if (status != CL_OK) return error_of(table_, status);
  return std::unique_ptr<LoadedModel>(new LoadedModel(table_, model, options));
}

Result<std::unique_ptr<Engine>> load_engine(const std::filesystem::path& folder,
                                            std::string_view name) {
  if (!is_engine_name(name)) {
    return invalid_argument(
        fmt::format("engine '{}': a name has lower-case letters, digits, '_' and '-' only", name));
  }
  const std::filesystem::path file = folder / fmt::format("libcorelane_{}.so", name);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return unsupported(fmt::format("engine '{}' is not part of this build: {}; it has: {}", name,
                                   why_missing(folder, name), engines_in(folder)));
  }
  // RTLD_LOCAL: frameworks carry their own copies of the same libraries.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return unsupported(fmt::format("engine '{}' cannot be opened: {}", name, dlerror()));
  }
  const auto entry = reinterpret_cast<cl_engine_entry>(dlsym(library, CL_ENGINE_ENTRY));
  if (entry == nullptr) {
    return unsupported(fmt::format("engine '{}': {} has no {}; it is not a plug-in", name,
                                   file.string(), CL_ENGINE_ENTRY));
  }
  const cl_engine* table = entry();
  if (table == nullptr || table->abi_version != CL_ENGINE_ABI_VERSION ||
      table->struct_size < sizeof(cl_engine)) {
    return unsupported(fmt::format(
        "engine '{}': {} was built for version {} of the boundary, this program has {}; build "
        "both from the same sources",
        name, file.string(), table == nullptr ? 0 : table->abi_version, CL_ENGINE_ABI_VERSION));
  }
  return std::unique_ptr<Engine>(new Engine(*table));
}

}  // namespace corelane::engine
