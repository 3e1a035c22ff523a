#include "bench/experiments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/suggest.h"
#include "base/units.h"

namespace corelane::bench {
namespace {

using model::Manifest;

std::vector<std::string> dimensions_of(const Manifest& manifest) {
  std::vector<std::string> names;
  for (const auto& [name, dimension] : manifest.dimensions) {
    if (name != model::kBatch) names.push_back(name);
  }
  return names;
}

std::string called(const Manifest& manifest) {
  return fmt::format("{}@{}", manifest.name, manifest.version);
}

Status check_dimensions(const Plan& plan, std::span<const ModelToMeasure> models) {
  std::vector<std::string> known = {"models", "batch", "precision", "lanes", "concurrency"};
  for (const ModelToMeasure& model : models) {
    for (std::string& name : dimensions_of(model.manifest)) known.push_back(std::move(name));
  }
  for (const Grid& grid : plan.grids) {
    for (const auto& [name, sizes] : grid.dimensions) {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        return invalid_argument(
            fmt::format("[grid] {}: no model of this study has such a dimension{}", name,
                        did_you_mean(name, known)));
      }
    }
  }
  return {};
}

Status check_inputs(const Plan& plan, std::span<const ModelToMeasure> models) {
  std::vector<std::string> known;
  for (const ModelToMeasure& model : models) {
    for (const model::TensorSpec& input : model.manifest.inputs) known.push_back(input.name);
  }
  for (const auto& [name, range] : plan.values) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return invalid_argument(fmt::format("[inputs] {}: no model of this study has such an input{}",
                                          name, did_you_mean(name, known)));
    }
  }
  return {};
}

/// The combinations of the sizes of a model's dimensions.
std::vector<std::map<std::string, Sizes>> size_combinations(const Grid& grid,
                                                            const Manifest& manifest) {
  std::vector<std::map<std::string, Sizes>> combinations = {{}};
  for (const std::string& name : dimensions_of(manifest)) {
    const std::int64_t size = default_size(manifest.dimensions.at(name));
    std::vector<Sizes> values = {{.label = std::to_string(size), .sizes = {size}}};
    if (const auto asked = grid.dimensions.find(name); asked != grid.dimensions.end()) {
      values = asked->second;
    }
    std::vector<std::map<std::string, Sizes>> longer;
    for (const auto& combination : combinations) {
      for (const Sizes& value : values) {
        longer.push_back(combination);
        longer.back()[name] = value;
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

/// What is left of a list for one model; notes what was dropped.
template <typename T, typename Suits>
std::vector<T> suitable(const std::vector<T>& values, Suits suits, std::string_view field,
                        const Manifest& manifest, std::vector<std::string>& notes) {
  std::vector<T> kept;
  for (const T& value : values) {
    if (suits(value)) {
      kept.push_back(value);
    } else {
      notes.push_back(fmt::format("{} {} is left out for {}", field, value, called(manifest)));
    }
  }
  return kept;
}

class Lister {
 public:
  Lister(const Plan& plan, const Machine& machine) : plan_(plan), machine_(machine) {}

  /// What follows is about this grid on these lanes. Both are borrowed.
  void begin(const Grid& grid, std::span<const LanesToMeasure> lanes) {
    grid_ = &grid;
    lanes_ = lanes;
  }

  Status add_model(const ModelToMeasure& model) {
    const Manifest& manifest = model.manifest;
    const std::int64_t most = std::max<std::int64_t>(model::max_batch(manifest), 1);
    const auto batches = suitable(
        grid_->batch, [&](std::int64_t batch) { return batch <= most; }, "batch", manifest,
        list_.notes);
    if (batches.empty()) {
      return invalid_argument(fmt::format("[grid] batch: {} takes at most {} items in a request",
                                          called(manifest), most));
    }
    auto precisions = precisions_of(manifest);
    if (!precisions) return std::move(precisions).error();
    const auto sizes = size_combinations(*grid_, manifest);
    for (const std::string& precision : *precisions) {
      for (const LanesToMeasure& lanes : lanes_) {
        for (const auto& combination : sizes) {
          for (const std::int64_t batch : batches) {
            add_loads(model, precision, lanes, combination, batch);
          }
        }
      }
    }
    return {};
  }

  ExperimentList take() { return std::move(list_); }

 private:
  Result<std::vector<std::string>> precisions_of(const Manifest& manifest) {
    std::vector<std::string> has;
    for (const auto& [name, precision] : manifest.precisions) has.push_back(name);
    if (has.empty()) return std::vector<std::string>{""};  // a server's model
    if (grid_->precision.empty()) {
      // Full precision first, as people read it.
      std::stable_partition(has.begin(), has.end(),
                            [](const std::string& name) { return name == "f32"; });
      return has;
    }
    auto kept = suitable(
        grid_->precision,
        [&](const std::string& name) { return manifest.precisions.contains(name); }, "precision",
        manifest, list_.notes);
    if (kept.empty()) {
      return invalid_argument(
          fmt::format("[grid] precision: {} has {} only", called(manifest), fmt::join(has, ", ")));
    }
    return kept;
  }

  void add_loads(const ModelToMeasure& model, const std::string& precision,
                 const LanesToMeasure& lanes, const std::map<std::string, Sizes>& sizes,
                 std::int64_t batch) {
    const Manifest& manifest = model.manifest;
    PlannedExperiment planned;
    Experiment& experiment = planned.experiment;
    experiment.study = plan_.study;
    experiment.model = manifest.name;
    experiment.version = manifest.version;
    experiment.model_sha256 = model.digest;
    if (const auto found = manifest.precisions.find(precision);
        found != manifest.precisions.end()) {
      experiment.engine = found->second.engine;
    }
    experiment.precision = precision;
    experiment.batch = batch;
    experiment.lanes = lanes.plan;
    experiment.target = plan_.target;
    if (plan_.target != kLanesTarget) experiment.tensors = plan_.json_tensors ? "json" : "binary";
    experiment.seconds = to_seconds(plan_.limits.window);
    experiment.min_requests = plan_.limits.min_requests;
    experiment.seed = plan_.seed;
    planned.inputs = {.batch = batch,
                      .sizes = {},
                      .values = values_for(manifest),
                      .seed = static_cast<std::uint64_t>(plan_.seed)};
    for (const auto& [name, value] : sizes) {
      experiment.shape[name] = value.label;
      planned.inputs.sizes[name] = value.sizes;
    }
    const std::vector<std::int64_t> one_each = {lanes.count};
    for (const std::int64_t clients : grid_->concurrency.empty() ? one_each : grid_->concurrency) {
      experiment.concurrency = clients;
      planned.id = experiment_id(experiment, planned.inputs, machine_);
      if (ids_.insert(planned.id).second) list_.experiments.push_back(planned);
    }
  }

  std::map<std::string, load::ValueRange> values_for(const Manifest& manifest) const {
    std::map<std::string, load::ValueRange> values;
    for (const model::TensorSpec& input : manifest.inputs) {
      if (const auto asked = plan_.values.find(input.name); asked != plan_.values.end()) {
        values.insert(*asked);
      }
    }
    return values;
  }

  const Plan& plan_;
  const Grid* grid_ = nullptr;
  std::span<const LanesToMeasure> lanes_;
  const Machine& machine_;
  ExperimentList list_;
  std::set<std::string> ids_;
};

bool is_of(const Grid& grid, const ModelToMeasure& model) {
  return grid.models.empty() || std::find(grid.models.begin(), grid.models.end(),
                                          model.manifest.name) != grid.models.end();
}

/// Several grids may share a session: each session's experiments together, in the order of the
/// first of each.
std::vector<PlannedExperiment> grouped(std::vector<PlannedExperiment> list) {
  std::vector<PlannedExperiment> sorted;
  while (!list.empty()) {
    const Experiment first = list.front().experiment;
    const auto others = std::stable_partition(
        list.begin(), list.end(),
        [&](const PlannedExperiment& planned) { return same_session(planned.experiment, first); });
    std::move(list.begin(), others, std::back_inserter(sorted));
    list.erase(list.begin(), others);
  }
  return sorted;
}

/// FNV-1a with 64 bits: the same everywhere. Fields are kept apart by their length.
class Hash {
 public:
  Hash& add(std::string_view text) {
    add_bytes(fmt::format("{}:", text.size()));
    add_bytes(text);
    return *this;
  }
  Hash& add(std::int64_t number) { return add(std::to_string(number)); }
  Hash& add(double number) { return add(fmt::format("{}", number)); }
  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  void add_bytes(std::string_view bytes) {
    for (const char byte : bytes) {
      state_ = (state_ ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
    }
  }
  std::uint64_t state_ = 0xCBF29CE484222325ULL;
};

}  // namespace

std::int64_t default_size(const model::Dimension& dimension) {
  constexpr std::int64_t kUsual = 128;
  const std::int64_t size = dimension.max > 0 ? std::min(kUsual, dimension.max) : kUsual;
  return std::max(size, dimension.min);
}

std::string experiment_id(const Experiment& experiment, const load::InputPlan& inputs,
                          const Machine& machine) {
  Hash hash;
  hash.add(experiment.model).add(experiment.version).add(experiment.model_sha256);
  hash.add(experiment.engine).add(experiment.precision).add(experiment.batch);
  hash.add(experiment.lanes).add(experiment.concurrency).add(experiment.target);
  hash.add(experiment.tensors)
      .add(experiment.load)
      .add(experiment.seconds)
      .add(experiment.min_requests);
  hash.add(experiment.seed);
  for (const auto& [name, sizes] : inputs.sizes) {
    hash.add(name);
    for (const std::int64_t size : sizes) hash.add(size);
  }
  for (const auto& [name, range] : inputs.values) hash.add(name).add(range.low).add(range.high);
  hash.add(machine.cpu).add(machine.cores).add(machine.cpu_quota);
  hash.add(static_cast<std::int64_t>(machine.memory_bytes >> 30));
  for (const std::string& flag : machine.cpu_flags) hash.add(flag);
  return hash.text();
}

bool same_session(const Experiment& a, const Experiment& b) {
  return a.model == b.model && a.version == b.version && a.precision == b.precision &&
         a.lanes == b.lanes && a.target == b.target;
}

Result<ExperimentList> list_experiments(const Plan& plan, std::span<const ModelToMeasure> models,
                                        std::span<const std::vector<LanesToMeasure>> lanes,
                                        const Machine& machine) {
  if (auto good = check_dimensions(plan, models); !good) {
    return std::move(good).error();
  }
  if (auto good = check_inputs(plan, models); !good) {
    return std::move(good).error();
  }
  check(lanes.size() == plan.grids.size(), "each grid has its lanes");
  Lister lister(plan, machine);
  for (const ModelToMeasure& model : models) {
    for (std::size_t i = 0; i < plan.grids.size(); ++i) {
      if (!is_of(plan.grids[i], model)) continue;
      lister.begin(plan.grids[i], lanes[i]);
      if (auto added = lister.add_model(model); !added) return std::move(added).error();
    }
  }
  ExperimentList list = lister.take();
  list.experiments = grouped(std::move(list.experiments));
  return list;
}

}  // namespace corelane::bench
