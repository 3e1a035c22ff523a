#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/plan.h"
#include "bench/result.h"
#include "load/inputs.h"
#include "model/manifest.h"

namespace corelane::bench {

/// A model that a plan names, as it was found (in models/, or from a server's metadata).
struct ModelToMeasure {
  model::Manifest manifest;
  std::string digest;  // of what is run; "" for a server's
};

/// A value of the plan's `lanes` on this machine; one empty value for a server.
struct LanesToMeasure {
  std::string plan;        // "cpu:0|cpu:1"
  std::int64_t count = 1;  // lanes in it
};

struct PlannedExperiment {
  std::string id;
  Experiment experiment;
  load::InputPlan inputs;
};

struct ExperimentList {
  std::vector<PlannedExperiment> experiments;
  std::vector<std::string> notes;  // combinations that were left out, and why
};

/// Every combination of each grid's lists, in an order that never changes: those that share model,
/// precision and lanes stand together, since changing these costs a restart or a load. A dimension
/// counts only for models that have it; a batch above a model's maximum and a precision that it
/// does not have are left out for that model and noted. Two values that come to the same experiment
/// ("auto" and "cpu:0|cpu:1") give one.
///
/// `lanes` are those of each grid. kInvalidArgument, naming the field, where a value suits none of
/// the models.
Result<ExperimentList> list_experiments(const Plan& plan, std::span<const ModelToMeasure> models,
                                        std::span<const std::vector<LanesToMeasure>> lanes,
                                        const Machine& machine);

/// The size of a dimension of which a plan says nothing: 128, or the dimension's maximum if that is
/// smaller.
std::int64_t default_size(const model::Dimension& dimension);

/// 16 hexadecimal digits that stay the same for the same experiment, model, inputs and machine
/// (its CPU, cores, quota and memory; not its software). The study's name does not count.
std::string experiment_id(const Experiment& experiment, const load::InputPlan& inputs,
                          const Machine& machine);

/// Whether both run on the same lanes with the same thing loaded.
bool same_session(const Experiment& a, const Experiment& b);

}  // namespace corelane::bench
