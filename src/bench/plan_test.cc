#include "bench/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/result.h"
#include "load/inputs.h"

namespace corelane::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr char kWhole[] = R"([study]
name = "bert-on-this-box"
models = ["bert-base", "resnet50@2"]
target = "lanes"
[grid]
batch = [1, 4]
precision = ["f32", "bf16"]
lanes = ["auto"]
concurrency = [1, 2]
tokens = [128, 64]
[inputs]
flag = 1
input_ids = { low = 0, high = 30521 }
[load]
kind = "closed"
warmup = "1s"
max_warmup = "5s"
window = "4s"
max_window = "1min"
min_requests = 12
seed = 9
[slo]
p95 = "50ms"
[price]
instance = "c7i.large"
)";

Result<Plan> parsed(const std::string& toml) { return parse_plan(toml, "study.toml", "/nowhere"); }

TEST(ParsePlan, ReadsEverything) {
  const auto plan = parsed(kWhole);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->study, "bert-on-this-box");
  EXPECT_THAT(plan->models, ElementsAre(ModelChoice{"bert-base", {}}, ModelChoice{"resnet50", 2}));
  EXPECT_EQ(plan->target, "lanes");
  EXPECT_THAT(plan->grids[0].batch, ElementsAre(1, 4));
  EXPECT_THAT(plan->grids[0].precision, ElementsAre("f32", "bf16"));
  EXPECT_THAT(plan->grids[0].lanes, ElementsAre("auto"));
  EXPECT_THAT(plan->grids[0].concurrency, ElementsAre(1, 2));
  EXPECT_THAT(plan->grids[0].dimensions.at("tokens"),
              ElementsAre(Sizes{"128", {128}}, Sizes{"64", {64}}));
  EXPECT_EQ(plan->values.at("flag"), (load::ValueRange{1, 1}));
  EXPECT_EQ(plan->values.at("input_ids"), (load::ValueRange{0, 30521}));
  EXPECT_EQ(plan->limits.warmup, seconds(1));
  EXPECT_EQ(plan->limits.max_warmup, seconds(5));
  EXPECT_EQ(plan->limits.window, seconds(4));
  EXPECT_EQ(plan->limits.max_window, seconds(60));
  EXPECT_EQ(plan->limits.min_requests, 12);
  EXPECT_EQ(plan->seed, 9);
  EXPECT_EQ(plan->slo_p95, milliseconds(50));
  EXPECT_EQ(plan->instance, "c7i.large");
}

TEST(ParsePlan, NeedsNoMoreThanANameAndAModel) {
  const auto plan = parsed("[study]\nname = \"a\"\nmodels = [\"m\"]\n");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->grids[0].batch, ElementsAre(1));
  EXPECT_TRUE(plan->grids[0].concurrency.empty());
  EXPECT_FALSE(plan->slo_p95);
}

TEST(ParsePlan, TakesSeveralGrids) {
  const auto plan = parsed(
      "[study]\nname = \"a\"\nmodels = [\"m\", \"n\"]\n"
      "[[grid]]\nbatch = [1, 2]\n"
      "[[grid]]\nmodels = [\"n\"]\ntokens = [7]\n");
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->grids.size(), 2U);
  EXPECT_THAT(plan->grids[0].batch, ElementsAre(1, 2));
  EXPECT_THAT(plan->grids[1].models, ElementsAre("n"));
  EXPECT_THAT(plan->grids[1].dimensions.at("tokens"), ElementsAre(Sizes{"7", {7}}));
}

struct Broken {
  const char* from;
  const char* to;
  const char* message;
};

TEST(ParsePlan, NamesTheLineAndTheField) {
  const Broken cases[] = {
      {"[grid]", "[gird]", "study.toml:5: unknown field 'gird' (did you mean 'grid'?)"},
      {"window =", "windw =",
       "study.toml:18: [load]: unknown field 'windw' (did you mean 'window'?)"},
      {"window = \"4s\"", "window = \"4\"", "study.toml:18: [load]: window: '4' is not a duration"},
      {"window = \"4s\"", "window = 4", "study.toml:18: [load]: window must be a string"},
      {"\"closed\"", "\"open\"", "study.toml:15: [load]: kind must be \"closed\""},
      {"[1, 4]", "[1, 0]", "study.toml:6: [grid]: batch must be at least 1, not 0"},
      {"concurrency = [1, 2]", "concurrency = [100000000]",
       "[grid]: concurrency must be at most 4096, not 100000000"},
      {"batch =", "models = [\"other\"]\nbatch =", "models: 'other' is not one of the study's"},
      {"[1, 4]", "4", "study.toml:6: [grid]: batch must be a list"},
      {"[128, 64]", "[128, -1]", "study.toml:10: [grid]: tokens must be at least 1, not -1"},
      {"[128, 64]", "[128, \"none.txt\"]",
       "study.toml:10: [grid]: tokens: reading /nowhere/none.txt"},
      {"[128, 64]", "[\"../l.txt\"]", "tokens: '../l.txt' must lie in the plan's folder"},
      {"\"bert-on-this-box\"", "\"a/b\"", "study.toml:2: [study]: name becomes a folder"},
      {"resnet50@2", "resnet50@x",
       "study.toml:3: [study]: models: 'resnet50@x' must end in a version"},
      {"[\"bert-base\", \"resnet50@2\"]", "[]",
       "study.toml:3: [study]: models must name at least one"},
      {"target = \"lanes\"", "target = \"ftp://x\"", "study.toml:4: [study]: target must be"},
      {"min_requests = 12", "min_requests = 0", "min_requests must be at least 1"},
      {"max_window = \"1min\"", "max_window = \"1s\"",
       "window must be longer than 0 and no longer than"},
      {"{ low = 0,", "{ low = 30522,", "low must not exceed high"},
      {"[slo]", "[slo", "study.toml:22:"},
  };
  for (const Broken& broken : cases) {
    std::string toml = kWhole;
    const auto at = toml.find(broken.from);
    ASSERT_NE(at, std::string::npos) << broken.from;
    const auto plan = parsed(toml.replace(at, std::string(broken.from).size(), broken.to));
    ASSERT_FALSE(plan) << broken.to;
    EXPECT_THAT(plan.error().message, HasSubstr(broken.message));
  }
}

TEST(ReadPlan, FindsFilesOfLengthsBesideThePlan) {
  std::string pattern = (fs::temp_directory_path() / "corelane-plan-XXXXXX").string();
  const fs::path folder = mkdtemp(pattern.data());
  std::ofstream(folder / "study.toml")
      << "[study]\nname = \"a\"\nmodels = [\"m\"]\n[grid]\ntokens = [\"lengths.txt\"]\n";
  std::ofstream(folder / "lengths.txt") << "# drawn once\n38\n\n 45 # long\n";
  const auto plan = read_plan(folder / "study.toml");
  fs::remove_all(folder);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->grids[0].dimensions.at("tokens"), ElementsAre(Sizes{"lengths.txt", {38, 45}}));
}

TEST(ParseLengths, NamesTheLine) {
  EXPECT_THAT(parse_lengths("1\n2x\n", "l.txt").error().message, HasSubstr("l.txt:2: '2x'"));
  EXPECT_THAT(parse_lengths("1\n0\n", "l.txt").error().message, HasSubstr("l.txt:2: '0'"));
  EXPECT_THAT(parse_lengths("# none\n", "l.txt").error().message, HasSubstr("holds no lengths"));
  EXPECT_THAT(*parse_lengths("7\r\n8", "l.txt"), ElementsAre(7, 8));
}

TEST(WriteDefaultPlan, IsAPlan) {
  for (const bool quick : {false, true}) {
    for (const char* target : {"lanes", "http://127.0.0.1:8000"}) {
      const auto plan =
          parsed(write_default_plan({.model = "minilm@2", .target = target, .quick = quick}));
      ASSERT_TRUE(plan) << plan.error().message;
      EXPECT_THAT(plan->models, ElementsAre(ModelChoice{"minilm", 2}));
      EXPECT_EQ(plan->target, target);
    }
  }
}

}  // namespace
}  // namespace corelane::bench
