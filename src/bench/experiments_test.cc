#include "bench/experiments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/plan.h"
#include "bench/result.h"
#include "model/manifest.h"
#include "tensor/dtype.h"

namespace corelane::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ModelToMeasure bert() {
  model::Manifest manifest;
  manifest.name = "bert";
  manifest.inputs = {
      {.name = "ids", .type = tensor::DType::kInt64, .shape = {"batch", "tokens"}, .pad = 0}};
  manifest.dimensions["batch"] = {.min = 1, .max = 8, .buckets = {}};
  manifest.dimensions["tokens"] = {.min = 1, .max = 64, .buckets = {}};
  manifest.precisions["bf16"] = {.engine = "openvino", .file = "bf16.xml", .accuracy = {}};
  manifest.precisions["f32"] = {.engine = "openvino", .file = "f32.xml", .accuracy = {}};
  return {.manifest = manifest, .digest = "abc"};
}

ModelToMeasure resnet() {
  ModelToMeasure model = bert();
  model.manifest.name = "resnet";
  model.manifest.inputs = {{.name = "image", .shape = {"batch", 3, 224, 224}}};
  model.manifest.dimensions.erase("tokens");
  model.manifest.dimensions["batch"].max = 32;
  model.manifest.precisions.erase("bf16");
  return model;
}

using LanesOfGrids = std::vector<std::vector<LanesToMeasure>>;
const LanesOfGrids kLanes = {{{"cpu:0|cpu:1", 2}, {"cpu:0-1", 1}}};
const LanesOfGrids kFirstLanes = {{{"cpu:0|cpu:1", 2}}};

Plan plan() {
  Plan plan;
  plan.study = "s";
  plan.grids[0].batch = {1, 8};
  return plan;
}

std::vector<std::string> lines(const ExperimentList& list) {
  std::vector<std::string> lines;
  for (const auto& [id, e, inputs] : list.experiments) {
    std::string line = e.model + " " + e.precision + " " + e.lanes + " b" +
                       std::to_string(e.batch) + " c" + std::to_string(e.concurrency);
    for (const auto& [name, label] : e.shape) line += " " + name + "=" + label;
    lines.push_back(line);
  }
  return lines;
}

TEST(ListExperiments, KeepsTogetherWhatSharesModelPrecisionAndLanes) {
  const std::vector<ModelToMeasure> models = {bert()};
  const auto list = list_experiments(plan(), models, kLanes, {});
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_THAT(
      lines(*list),
      ElementsAre("bert f32 cpu:0|cpu:1 b1 c2 tokens=64", "bert f32 cpu:0|cpu:1 b8 c2 tokens=64",
                  "bert f32 cpu:0-1 b1 c1 tokens=64", "bert f32 cpu:0-1 b8 c1 tokens=64",
                  "bert bf16 cpu:0|cpu:1 b1 c2 tokens=64", "bert bf16 cpu:0|cpu:1 b8 c2 tokens=64",
                  "bert bf16 cpu:0-1 b1 c1 tokens=64", "bert bf16 cpu:0-1 b8 c1 tokens=64"));
  EXPECT_THAT(list->notes, IsEmpty());
  EXPECT_EQ(list->experiments.front().experiment.engine, "openvino");
}

TEST(ListExperiments, KeepsTogetherWhatSeveralGridsShare) {
  Plan wanted = plan();
  wanted.grids[0].batch = {1};
  wanted.grids.push_back({.models = {"bert"}, .batch = {1}, .concurrency = {8}});
  wanted.grids[1].dimensions["tokens"] = {{"l.txt", {5, 9}}};
  wanted.grids[0].precision = wanted.grids[1].precision = {"f32"};
  const std::vector<ModelToMeasure> models = {bert(), resnet()};
  const LanesOfGrids lanes = {kLanes[0], kFirstLanes[0]};
  const auto list = list_experiments(wanted, models, lanes, {});
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_THAT(
      lines(*list),
      ElementsAre("bert f32 cpu:0|cpu:1 b1 c2 tokens=64", "bert f32 cpu:0|cpu:1 b1 c8 tokens=l.txt",
                  "bert f32 cpu:0-1 b1 c1 tokens=64", "resnet f32 cpu:0|cpu:1 b1 c2",
                  "resnet f32 cpu:0-1 b1 c1"));
}

TEST(ListExperiments, AppliesADimensionOnlyToModelsThatHaveIt) {
  Plan wanted = plan();
  wanted.grids[0].batch = {1};
  wanted.grids[0].precision = {"f32"};
  wanted.grids[0].dimensions["tokens"] = {{"16", {16}}, {"l.txt", {5, 9}}};
  const std::vector<ModelToMeasure> models = {bert(), resnet()};
  const auto list = list_experiments(wanted, models, kFirstLanes, {});
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_THAT(lines(*list), ElementsAre("bert f32 cpu:0|cpu:1 b1 c2 tokens=16",
                                        "bert f32 cpu:0|cpu:1 b1 c2 tokens=l.txt",
                                        "resnet f32 cpu:0|cpu:1 b1 c2"));
  EXPECT_THAT(list->experiments[1].inputs.sizes.at("tokens"), ElementsAre(5, 9));
}

TEST(ListExperiments, LeavesOutWhatAModelCannotDoAndSaysSo) {
  Plan wanted = plan();
  wanted.grids[0].batch = {8, 32};
  wanted.grids[0].precision = {"f32", "bf16"};
  const std::vector<ModelToMeasure> models = {bert(), resnet()};
  const auto list = list_experiments(wanted, models, kFirstLanes, {});
  ASSERT_TRUE(list);
  EXPECT_THAT(list->notes, ElementsAre("batch 32 is left out for bert@1",
                                       "precision bf16 is left out for resnet@1"));
  EXPECT_EQ(list->experiments.size(), 4u);
}

TEST(ListExperiments, RefusesWhatSuitsNoModel) {
  const std::vector<ModelToMeasure> models = {bert()};
  const auto fault = [&](const Plan& wanted) {
    const auto list = list_experiments(wanted, models, kLanes, {});
    EXPECT_FALSE(list);
    return list ? "" : list.error().message;
  };
  Plan wanted = plan();
  wanted.grids[0].batch = {64};
  EXPECT_THAT(fault(wanted), HasSubstr("[grid] batch: bert@1 takes at most 8 items"));
  wanted = plan();
  wanted.values["id"] = {.low = 0, .high = 1};
  EXPECT_THAT(fault(wanted), HasSubstr("[inputs] id: no model of this study has such an input (did "
                                       "you mean 'ids'?)"));
  wanted = plan();
  wanted.grids[0].precision = {"int8"};
  EXPECT_THAT(fault(wanted), HasSubstr("[grid] precision: bert@1 has bf16, f32 only"));
  wanted = plan();
  wanted.grids[0].dimensions["token"] = {{"1", {1}}};
  EXPECT_THAT(fault(wanted), HasSubstr("[grid] token: no model of this study has such a dimension "
                                       "(did you mean 'tokens'?)"));
  wanted.grids[0].dimensions.clear();
  wanted.grids[0].dimensions["bacth"] = {{"1", {1}}};
  EXPECT_THAT(fault(wanted), HasSubstr("(did you mean 'batch'?)"));
}

TEST(ListExperiments, MeasuresOnceWhatTwoValuesMean) {
  const std::vector<ModelToMeasure> models = {resnet()};
  const LanesOfGrids twice = {{{"cpu:0", 1}, {"cpu:0", 1}}};
  const auto list = list_experiments(plan(), models, twice, {});
  ASSERT_TRUE(list);
  EXPECT_EQ(list->experiments.size(), 2u);
}

TEST(ExperimentId, StaysForTheSameThingAndChangesWithEverythingThatMatters) {
  const Experiment same = {.study = "one", .model = "bert", .shape = {{"tokens", "l.txt"}}};
  const load::InputPlan inputs{.sizes = {{"tokens", {5, 9}}}, .values = {}};
  const Machine machine = {
      .cpu = "X", .cpu_flags = {"avx2"}, .cores = 2, .memory_bytes = 1ULL << 34, .versions = {}};
  const std::string id = experiment_id(same, inputs, machine);
  EXPECT_EQ(id, "5bb8b86fed020cd9") << "a change of the hash orphans every result there is";

  Experiment renamed = same;
  renamed.study = "another";
  EXPECT_EQ(experiment_id(renamed, inputs, machine), id);
  Experiment other = same;
  other.batch = 2;
  EXPECT_NE(experiment_id(other, inputs, machine), id);
  other = same;
  other.model_sha256 = "new";
  EXPECT_NE(experiment_id(other, inputs, machine), id);
  load::InputPlan longer = inputs;
  longer.sizes["tokens"] = {5, 10};
  EXPECT_NE(experiment_id(same, longer, machine), id) << "the file's content counts";
  Machine faster = machine;
  faster.cpu = "Y";
  EXPECT_NE(experiment_id(same, inputs, faster), id);
  Machine updated = machine;
  updated.versions["openvino"] = "2027";
  EXPECT_EQ(experiment_id(same, inputs, updated), id);
}

TEST(DefaultSize, Is128WhereTheModelAllowsIt) {
  EXPECT_EQ(default_size({.min = 1, .max = 0, .buckets = {}}), 128);
  EXPECT_EQ(default_size({.min = 1, .max = 512, .buckets = {}}), 128);
  EXPECT_EQ(default_size({.min = 1, .max = 64, .buckets = {}}), 64);
  EXPECT_EQ(default_size({.min = 256, .max = 512, .buckets = {}}), 256);
}

}  // namespace
}  // namespace corelane::bench
