#include "bench/setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/suggest.h"
#include "bench/experiments.h"
#include "bench/http_session.h"
#include "bench/lanes_session.h"
#include "bench/plan.h"
#include "bench/result.h"
#include "device/cpu_budget.h"
#include "device/lane_plan.h"
#include "device/machine_facts.h"
#include "model/repository.h"
#include "store/store.h"

namespace corelane::bench {
namespace {

Machine describe_machine(const device::CpuBudget& budget, const std::string& version) {
  device::MachineFacts facts = device::machine_facts(budget);
  return {.cpu = std::move(facts.cpu),
          .cpu_flags = std::move(facts.cpu_flags),
          .cores = facts.cores,
          .cpu_quota = facts.cpu_quota,
          .memory_bytes = facts.memory_bytes,
          .governor = std::move(facts.governor),
          .kernel = std::move(facts.kernel),
          .versions = {{"corelane", version}}};
}

Error no_such_model(const ModelChoice& choice, const model::Scan& scan,
                    const std::filesystem::path& root) {
  for (const Error& problem : scan.problems) {
    if (problem.message.find("/" + choice.name + "/") != std::string::npos) return problem;
  }
  std::set<std::string> names;
  for (const model::Version& version : scan.versions) names.insert(version.manifest.name);
  const std::vector<std::string> known(names.begin(), names.end());
  return not_found(fmt::format("no model '{}{}' in {}{}; it holds: {}", choice.name,
                               choice.version ? fmt::format("@{}", *choice.version) : "",
                               root.string(), did_you_mean(choice.name, known),
                               known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

/// The newest version, or the one that is named.
Result<std::vector<model::Version>> find_models(const Plan& plan,
                                                const std::filesystem::path& root) {
  auto scan = model::scan_repository(root);
  if (!scan) {
    return in_context(std::move(scan), "no models; make one with `corelane compile`");
  }
  std::vector<model::Version> found;
  for (const ModelChoice& choice : plan.models) {
    const auto newest = std::find_if(
        scan->versions.rbegin(), scan->versions.rend(), [&](const model::Version& version) {
          return version.manifest.name == choice.name &&
                 (!choice.version || *choice.version == version.manifest.version);
        });
    if (newest == scan->versions.rend()) return no_such_model(choice, *scan, root);
    found.push_back(*newest);
    found.back().folder = std::filesystem::absolute(newest->folder);
  }
  return found;
}

std::set<std::string> labels_of(const Plan& plan) {
  std::set<std::string> labels;
  for (const Grid& grid : plan.grids) {
    for (const auto& [dimension, values] : grid.dimensions) {
      for (const Sizes& value : values) labels.insert(value.label);
    }
  }
  return labels;
}

struct Lanes {
  std::vector<std::vector<LanesToMeasure>> values;  // of each grid
  std::set<std::string> warnings;
};

Result<Lanes> find_lanes(const Plan& plan, const device::CpuBudget& budget) {
  Lanes lanes;
  const std::vector<std::string> automatic = {"auto"};
  for (const Grid& grid : plan.grids) {
    std::vector<LanesToMeasure>& values = lanes.values.emplace_back();
    for (const std::string& text : grid.lanes.empty() ? automatic : grid.lanes) {
      const auto cut = device::make_lane_plan(text, budget);
      if (!cut) return invalid_argument("[grid] lanes: " + cut.error().message);
      values.push_back(
          {.plan = device::to_string(*cut), .count = static_cast<std::int64_t>(cut->lanes.size())});
      lanes.warnings.insert(cut->warnings.begin(), cut->warnings.end());
    }
  }
  return lanes;
}

Result<StudySetup> set_up_lanes(const Plan& plan, const SetupOptions& options, const Clock& clock,
                                device::CpuBudget budget) {
  StudySetup setup;
  setup.machine = describe_machine(budget, options.version);
  auto versions = find_models(plan, options.models);
  if (!versions) return std::move(versions).error();
  auto lanes = find_lanes(plan, budget);
  if (!lanes) return std::move(lanes).error();
  setup.warnings.assign(lanes->warnings.begin(), lanes->warnings.end());
  std::vector<ModelToMeasure> models;
  for (const model::Version& version : *versions) {
    models.push_back({.manifest = version.manifest, .digest = version.manifest.source_sha256});
  }
  auto list = list_experiments(plan, models, lanes->values, setup.machine);
  if (!list) return std::move(list).error();
  setup.list = *std::move(list);
  setup.opener = open_lanes({.executable = options.executable,
                             .engines = options.engines,
                             .versions = *std::move(versions),
                             .budget = std::move(budget),
                             .stop_asked = options.stop_asked},
                            clock);
  return setup;
}

Result<StudySetup> set_up_server(const Plan& plan, const SetupOptions& options,
                                 const device::CpuBudget& budget) {
  StudySetup setup;
  setup.machine = describe_machine(budget, options.version);
  for (const Grid& grid : plan.grids) {
    if (grid.precision.empty() && grid.lanes.empty()) continue;
    return invalid_argument("[grid]: a server has its own precision and lanes; leave these out");
  }
  auto manifests = fetch_models(plan);
  if (!manifests) return std::move(manifests).error();
  std::vector<ModelToMeasure> models;
  for (const model::Manifest& manifest : *manifests) {
    models.push_back({.manifest = manifest, .digest = ""});
  }
  const std::vector<std::vector<LanesToMeasure>> lanes(plan.grids.size(),
                                                       {{.plan = "", .count = 1}});
  auto list = list_experiments(plan, models, lanes, setup.machine);
  if (!list) return std::move(list).error();
  setup.list = *std::move(list);
  auto opener = open_server(plan, *std::move(manifests));
  if (!opener) return std::move(opener).error();
  setup.opener = *std::move(opener);
  return setup;
}

}  // namespace

Result<StudySetup> set_up_study(const Plan& plan, const SetupOptions& options, const Clock& clock) {
  auto budget = device::read_cpu_budget();
  if (!budget) return std::move(budget).error();
  if (plan.target != kLanesTarget) return set_up_server(plan, options, *budget);
  return set_up_lanes(plan, options, clock, *std::move(budget));
}

Status keep_plan(const Plan& plan, std::string_view toml, const std::filesystem::path& plan_folder,
                 store::Store& store) {
  if (auto kept = store.put(plan.study + "/plan.toml", toml); !kept) return kept;
  for (const std::string& label : labels_of(plan)) {
    std::ifstream in(plan_folder / label, std::ios::binary);
    if (!in) continue;  // a plain size
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (auto kept = store.put(plan.study + "/" + label, text); !kept) return kept;
  }
  return {};
}

}  // namespace corelane::bench
