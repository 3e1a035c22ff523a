#include "wire/v2_model.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/units.h"
#include "tensor/dtype.h"

namespace corelane::wire {
namespace {

using tensor::DType;

TEST(WriteModelConfig, NamesEverythingAsTritonDoes) {
  const ModelConfig config{
      .name = "qa",
      .platform = "openvino",
      .backend = "openvino",
      .versions = {3},
      .max_batch_size = 8,
      .inputs = {{.name = "ids", .dtype = DType::kInt64, .dims = {-1}}},
      .outputs = {{.name = "text", .dtype = DType::kBytes, .dims = {1}},
                  {.name = "class", .dtype = DType::kFp32, .dims = {2}, .label_filename = "l.txt"}},
      .parameters = {{"precision", "bf16"}}};
  EXPECT_EQ(write_model_config(config),
            R"({"name":"qa","platform":"openvino","backend":"openvino",)"
            R"("version_policy":{"specific":{"versions":[3]}},"max_batch_size":8,)"
            R"("input":[{"name":"ids","data_type":"TYPE_INT64","dims":[-1]}],)"
            R"("output":[{"name":"text","data_type":"TYPE_STRING","dims":[1]},)"
            R"({"name":"class","data_type":"TYPE_FP32","dims":[2],"label_filename":"l.txt"}],)"
            R"("dynamic_batching":{"max_queue_delay_microseconds":0},)"
            R"("parameters":{"precision":{"string_value":"bf16"}}})");
}

TEST(WriteModelConfig, ClaimsNoBatchingWhereThereIsNone) {
  const std::string json = write_model_config({.name = "m"});
  EXPECT_NE(json.find(R"("max_batch_size":0,"input":[],"output":[],"parameters":{})"),
            std::string::npos)
      << json;
}

TEST(WriteModelStatistics, NamesEverythingAsTritonDoes) {
  using std::chrono::milliseconds;
  const ModelStatistics model{.name = "qa",
                              .version = 3,
                              .last_inference = milliseconds(1700000000123),
                              .inference_count = 5,
                              .execution_count = 2,
                              .success = {.count = 3, .total = Nanos(30)},
                              .fail = {.count = 1, .total = Nanos(7)},
                              .queue = {.count = 3, .total = Nanos(4)},
                              .compute_input = {.count = 3, .total = Nanos(5)},
                              .compute_infer = {.count = 3, .total = Nanos(6)},
                              .compute_output = {.count = 3, .total = Nanos(8)},
                              .batches = {{.batch_size = 2,
                                           .compute_input = {.count = 2, .total = Nanos(1)},
                                           .compute_infer = {.count = 2, .total = Nanos(2)},
                                           .compute_output = {.count = 2, .total = Nanos(3)}}},
                              .memory = {{.type = "CPU", .id = 1, .size = {.count = 4096}}}};
  EXPECT_EQ(write_model_statistics({&model, 1}),
            R"({"model_stats":[{"name":"qa","version":"3","last_inference":1700000000123,)"
            R"("inference_count":5,"execution_count":2,"inference_stats":{)"
            R"("success":{"count":3,"ns":30},"fail":{"count":1,"ns":7},"queue":{"count":3,"ns":4},)"
            R"("compute_input":{"count":3,"ns":5},"compute_infer":{"count":3,"ns":6},)"
            R"("compute_output":{"count":3,"ns":8},"cache_hit":{"count":0,"ns":0},)"
            R"("cache_miss":{"count":0,"ns":0}},"response_stats":{},)"
            R"("batch_stats":[{"batch_size":2,"compute_input":{"count":2,"ns":1},)"
            R"("compute_infer":{"count":2,"ns":2},"compute_output":{"count":2,"ns":3}}],)"
            R"("memory_usage":[{"type":"CPU","id":1,"byte_size":4096}]}]})");
  EXPECT_EQ(write_model_statistics({}), R"({"model_stats":[]})");
}

}  // namespace
}  // namespace corelane::wire
