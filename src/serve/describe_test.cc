#include "serve/describe.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lane/lane.h"
#include "model/manifest.h"
#include "service/service.h"
#include "service/stats.h"
#include "tensor/dtype.h"

namespace corelane::serve {
namespace {

using tensor::DType;
using Sizes = std::vector<std::int64_t>;

model::Manifest manifest() {
  model::Manifest made;
  made.name = "qa";
  made.version = 3;
  made.inputs = {{.name = "ids", .type = DType::kInt64, .shape = {"batch", "tokens"}}};
  made.outputs = {{.name = "y", .type = DType::kFp32, .shape = {"batch", std::int64_t{2}}}};
  made.dimensions["batch"] = {.min = 1, .max = 8, .buckets = {}};
  made.dimensions["tokens"] = {};
  made.precisions["f32"].engine = "openvino";
  made.precisions["bf16"].engine = "torch";
  return made;
}

const std::vector<service::ServedModel>& served() {
  static const std::vector<service::ServedModel> all{
      {.name = "qa", .version = 2, .precision = "f32"},
      {.name = "qa", .version = 3, .precision = "bf16"},
      {.name = "other", .version = 3, .precision = "f32"}};
  return all;
}

TEST(DescribeConfig, TakesTheBatchOutOfTheDims) {
  const wire::ModelConfig config = describe_config(manifest(), served());
  EXPECT_EQ(config.name, "qa");
  EXPECT_EQ(config.backend, "torch");
  EXPECT_EQ(config.versions, (Sizes{2, 3}));
  EXPECT_EQ(config.max_batch_size, 8);
  EXPECT_EQ(config.inputs[0].dims, Sizes{-1});
  EXPECT_EQ(config.outputs[0].dims, Sizes{2});
  EXPECT_EQ(config.parameters.at("precision"), "bf16");
}

TEST(DescribeConfig, KeepsAllDimsWhereTheModelTakesNoBatches) {
  model::Manifest single = manifest();
  single.inputs[0].shape = {"tokens"};
  single.outputs[0].shape = {std::int64_t{1}, std::int64_t{2}};
  const wire::ModelConfig config = describe_config(single, served());
  EXPECT_EQ(config.max_batch_size, 0);
  EXPECT_EQ(config.inputs[0].dims, Sizes{-1});
  EXPECT_EQ(config.outputs[0].dims, (Sizes{1, 2}));
}

service::VersionStats stats_of(const char* model, std::int64_t version) {
  service::VersionStats stats{.model = model, .version = version};
  const lane::BatchTiming timing{
      .received = Nanos(10), .gathered = Nanos(12), .ran = Nanos(20), .written = Nanos(21)};
  stats.succeeded = 2;
  stats.items = 3;
  stats.batches = 1;
  stats.steps.add(timing, 2);
  stats.steps_by_rows[3].add(timing);
  stats.queue.add(Nanos(4));
  stats.queue.add(Nanos(6));
  stats.last_run = Nanos(21);
  return stats;
}

TEST(DescribeStatistics, CountsRequestsRowsAndRunsApart) {
  const wire::ModelStatistics model = describe_statistics(stats_of("qa", 3), Nanos(1000));
  EXPECT_EQ(model.success.count, 2U);
  EXPECT_EQ(model.inference_count, 3U);
  EXPECT_EQ(model.execution_count, 1U);
  EXPECT_EQ(model.queue.total, Nanos(10));
  EXPECT_EQ(model.compute_infer.count, 2U);
  EXPECT_EQ(model.compute_infer.total, Nanos(16));
  EXPECT_EQ(model.last_inference, Nanos(1021));
  ASSERT_EQ(model.batches.size(), 1U);
  EXPECT_EQ(model.batches[0].batch_size, 3);
  EXPECT_EQ(model.batches[0].compute_infer.count, 1U);
  EXPECT_EQ(model.batches[0].compute_output.total, Nanos(1));
}

TEST(DescribeStatistics, HasNoLastInferenceBeforeTheFirst) {
  EXPECT_EQ(describe_statistics(service::VersionStats{}, Nanos(1000)).last_inference, Nanos(0));
}

TEST(DescribeStatistics, TellsTheMemoryOfEachLaneWhoseEngineSaysIt) {
  const service::VersionStats stats{
      .held_by = {{.lane = 0, .report = R"({"device":"cpu","memory_bytes":4096})"},
                  {.lane = 1, .report = "{}"},
                  {.lane = 2, .report = ""},
                  {.lane = 3, .report = R"({"memory_bytes":1})"}}};
  const auto memory = describe_statistics(stats, Nanos()).memory;
  ASSERT_EQ(memory.size(), 2U);
  EXPECT_EQ(memory[0].type, "CPU");
  EXPECT_EQ(memory[0].size.count, 4096U);
  EXPECT_EQ(memory[1].id, 3);
}

TEST(DescribeStatistics, PicksByModelAndVersion) {
  const service::ServiceStats stats{
      .versions = {stats_of("qa", 2), stats_of("qa", 3), stats_of("other", 3)}};
  const auto count = [&](const char* model, std::optional<std::int64_t> version) {
    return describe_statistics(stats, model, version, Nanos()).size();
  };
  EXPECT_EQ(count("", std::nullopt), 3U);
  EXPECT_EQ(count("qa", std::nullopt), 2U);
  EXPECT_EQ(count("qa", 3), 1U);
  EXPECT_EQ(count("qa", 4), 0U);
}

}  // namespace
}  // namespace corelane::serve
