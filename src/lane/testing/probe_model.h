#pragma once

#include <filesystem>
#include <string>

#include "lane/load_spec.h"

namespace corelane::lane {

/// A model folder of the probe engine with INPUT0 and OUTPUT0, in the system's folder for temporary
/// files; gone with the object.
class ProbeModel {
 public:
  struct Tensors {
    std::string type = "FP32";
    std::string input = R"(["n"])";  // shapes as the manifest writes them
    std::string output = R"(["n"])";
    std::string pad = "0";
  };

  /// `options` are the engine's, as TOML: "{ behaviour = \"identity\" }".
  ProbeModel(const std::string& options, const Tensors& tensors);
  explicit ProbeModel(const std::string& options) : ProbeModel(options, Tensors()) {}
  ProbeModel(const ProbeModel&) = delete;
  ProbeModel& operator=(const ProbeModel&) = delete;
  ~ProbeModel();

  LoadSpec spec() const { return {.folder = folder_, .precision = "f32"}; }

 private:
  std::filesystem::path folder_;
};

}  // namespace corelane::lane
