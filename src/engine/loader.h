#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/engine_abi.h"

namespace corelane::engine {

struct LoadOptions {
  std::filesystem::path artifact{};  // empty for engines that need none
  std::string precision = "f32";     // the manifest's name of it
  std::string device = "cpu";
  int threads = 1;                     // compute threads; >= 1
  std::vector<std::string> inputs{};   // names, in the order in which infer() gets them
  std::vector<std::string> outputs{};  // names, in the order in which infer() fills them
  std::string options = "{}";          // JSON object, for the engine
};

/// One model in an engine's memory; destroying it gives the memory back. Confined to one thread at
/// a time.
class LoadedModel {
 public:
  ~LoadedModel();
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;

  std::size_t input_count() const { return input_count_; }
  std::size_t output_count() const { return output_count_; }

  /// Runs the model once. The sizes of both spans must be the counts above. Inputs are only read,
  /// and only during the call. What `outputs` points to afterwards is the engine's, valid until the
  /// next infer() or the destructor. Outputs are checked: known dtype, rank, bytes that fit shape.
  Status infer(std::span<const cl_tensor> inputs, std::span<cl_tensor> outputs);

  /// The engine's JSON about what is really loaded (device, precisions, memory), with "engine" and
  /// "version", its name and that of its framework's version, in front.
  std::string report();

 private:
  friend class Engine;
  LoadedModel(const cl_engine& table, cl_model* model, const LoadOptions& options);

  const cl_engine& table_;
  cl_model* model_;
  std::size_t input_count_;
  std::size_t output_count_;
};

/// A plug-in in this process. Thread-safe. Its library stays mapped until the process ends, since
/// frameworks leave threads and thread-local destructors behind; so a model may outlive its Engine.
class Engine {
 public:
  std::string_view name() const { return table_.name; }
  /// Of the framework: "2026.4.1".
  std::string_view version() const { return table_.version; }

  /// kNotFound: no such artifact; kUnsupported: not for this engine or machine; kInvalidArgument:
  /// a wrong option or tensor name.
  Result<std::unique_ptr<LoadedModel>> load(const LoadOptions& options) const;

 private:
  friend Result<std::unique_ptr<Engine>> load_engine(const std::filesystem::path&,
                                                     std::string_view);
  explicit Engine(const cl_engine& table) : table_(table) {}

  const cl_engine& table_;
};

/// Opens libcorelane_<name>.so of `folder`. kUnsupported when it is not there ("engine 'torch' is
/// not part of this build: ..."), misses a library of its framework, or speaks another version of
/// the boundary.
Result<std::unique_ptr<Engine>> load_engine(const std::filesystem::path& folder,
                                            std::string_view name);

}  // namespace corelane::engine
