#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "engine/loader.h"
#include "lane/load_spec.h"
#include "lane/model_runner.h"

namespace corelane::lane {

/// Loads models into a worker, and of the engines only those that its models need. Confined to one
/// thread.
class ModelLoader {
 public:
  ModelLoader(std::filesystem::path engines, int threads)
      : engines_(std::move(engines)), threads_(threads) {}

  /// Reads the manifest and has the engine load the artifact. What an engine throws becomes an
  /// error.
  Result<std::unique_ptr<ModelRunner>> load(const LoadSpec& spec);

 private:
  Result<std::unique_ptr<ModelRunner>> try_to_load(const LoadSpec& spec);

  std::filesystem::path engines_;
  int threads_;
  std::map<std::string, std::unique_ptr<engine::Engine>> loaded_;
};

}  // namespace corelane::lane
