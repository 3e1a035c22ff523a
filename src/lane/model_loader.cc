#include "lane/model_loader.h"

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "engine/loader.h"
#include "lane/batch_rules.h"
#include "lane/channel_layout.h"
#include "lane/load_spec.h"
#include "lane/model_runner.h"
#include "model/manifest.h"

namespace corelane::lane {
namespace {

engine::LoadOptions load_options(const model::Manifest& manifest, const model::Precision& precision,
                                 const LoadSpec& spec, int threads) {
  engine::LoadOptions options{
      .precision = spec.precision, .threads = threads, .options = precision.options};
  if (!precision.file.empty()) {
    options.artifact = spec.folder / precision.file;
  }
  for (const model::TensorSpec& input : manifest.inputs) {
    options.inputs.push_back(input.name);
  }
  for (const model::TensorSpec& output : manifest.outputs) {
    options.outputs.push_back(output.name);
  }
  return options;
}

}  // namespace

Result<std::unique_ptr<ModelRunner>> ModelLoader::load(const LoadSpec& spec) {
  try {
    return try_to_load(spec);
  } catch (const std::exception& thrown) {
    return internal_error(std::string("the engine threw: ") + thrown.what());
  } catch (...) {
    return internal_error("the engine threw something unknown");
  }
}

Result<std::unique_ptr<ModelRunner>> ModelLoader::try_to_load(const LoadSpec& spec) {
  auto manifest = model::read_manifest(spec.folder / "model.toml");
  if (!manifest) {
    return std::move(manifest).error();
  }
  const auto precision = manifest->precisions.find(spec.precision);
  if (precision == manifest->precisions.end()) {
    return not_found("model " + manifest->name + " has no precision " + spec.precision);
  }
  BatchRules rules = make_batch_rules(*manifest);
  if (rules.dimensions.size() > kMostDimensions) {
    return unsupported("model " + manifest->name + " has more than " +
                       std::to_string(kMostDimensions) + " named dimensions");
  }
  auto& engine = loaded_[precision->second.engine];
  if (engine == nullptr) {
    auto opened = engine::load_engine(engines_, precision->second.engine);
    if (!opened) {
      return std::move(opened).error();
    }
    engine = *std::move(opened);
  }
  auto model = engine->load(load_options(*manifest, precision->second, spec, threads_));
  if (!model) {
    return std::move(model).error();
  }
  return std::make_unique<ModelRunner>(std::move(rules), *std::move(model));
}

}  // namespace corelane::lane
