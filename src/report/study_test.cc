#include "report/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/result.h"
#include "bench/testing/example_results.h"
#include "price/catalogue.h"
#include "report/testing/made_up.h"

namespace corelane::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Study study_of(std::vector<bench::ExperimentResult> results) {
  auto study = build_study(std::move(results), std::nullopt);
  EXPECT_TRUE(study);
  return *std::move(study);
}

TEST(BuildStudy, SortsTheExampleIntoItsWorkloads) {
  const Study study = study_of(bench::example_study());
  std::vector<std::string> titles;
  for (const Workload& workload : study.workloads) {
    titles.push_back(title_of(workload));
  }
  EXPECT_THAT(titles, ElementsAre("bert-base (128 tokens)", "bert-base (tokens from lengths.txt)",
                                  "resnet50"));
  EXPECT_EQ(study.machine.cpu, "Example CPU (synthetic)");
}

TEST(BuildStudy, KeepsInvalidResultsApartWithTheirReasons) {
  const Study study = study_of(bench::example_study());
  const Workload& resnet = study.workloads.back();
  ASSERT_EQ(resnet.invalid.size(), 1U);
  EXPECT_THAT(resnet.invalid[0].result.invalid_because, ElementsAre(HasSubstr("only 6 requests")));
  for (const Point& point : resnet.points) {
    EXPECT_TRUE(point.result.valid);
  }
}

TEST(BuildStudy, CountsTheNewestOfTheSameExperimentAndTellsTheOther) {
  const Study study =
      study_of({made_up({.items_per_second = 10}),
                made_up({.items_per_second = 12, .started_at = "2026-05-01T00:00:00Z"}),
                made_up({.items_per_second = 11, .started_at = "2026-03-01T00:00:00Z"})});
  ASSERT_EQ(study.workloads.size(), 1U);
  ASSERT_EQ(study.workloads[0].points.size(), 1U);
  EXPECT_EQ(study.workloads[0].points[0].result.items_per_second, 12);
  ASSERT_EQ(study.left_out.size(), 2U);
  EXPECT_EQ(study.left_out[0].why, "measured again at 2026-05-01T00:00:00Z");
}

TEST(BuildStudy, IsOfTheMachineOfTheNewestResult) {
  const Study study = study_of({made_up({.started_at = "2026-05-01T00:00:00Z", .cpu = "New"}),
                                made_up({.batch = 8, .cpu = "Old"}), made_up({.cpu = "Old"})});
  EXPECT_EQ(study.machine.cpu, "New");
  ASSERT_EQ(study.left_out.size(), 2U);
  EXPECT_EQ(study.left_out[0].why, "measured on another machine: Old");
}

TEST(BuildStudy, OfNothingSaysWhatToDo) {
  const auto study = build_study({}, std::nullopt);
  ASSERT_FALSE(study);
  EXPECT_EQ(study.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(study.error().message, HasSubstr("corelane bench"));
}

TEST(BuildStudy, PricesEveryPoint) {
  auto study = build_study({made_up({.items_per_second = 100})}, price::price_by_hand({3.6}));
  ASSERT_TRUE(study);
  const auto& cost = study->workloads[0].points[0].per_million;
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->value, 10);
}

TEST(BuildStudy, PutsTwoPortsOfAServerIntoOneWorkloadAndLanesIntoAnother) {
  auto direct = made_up({});
  auto one = made_up({.batch = 4});
  auto other = made_up({.batch = 8});
  one.experiment.target = "http://127.0.0.1:8000";
  other.experiment.target = "http://127.0.0.1:9000";
  const Study study = study_of({direct, one, other});
  ASSERT_EQ(study.workloads.size(), 2U);
  EXPECT_EQ(title_of(study.workloads[0]), "bert (over http)");
  EXPECT_EQ(study.workloads[0].points.size(), 2U);
}

TEST(BestAlong, TakesTheCheapestConcurrencyOfEachBatch) {
  const Study study =
      study_of({made_up({.batch = 1, .items_per_second = 10, .concurrency = 1}),
                made_up({.batch = 1, .items_per_second = 15, .concurrency = 2}),
                made_up({.batch = 1, .items_per_second = 15.1, .p95 = 200, .concurrency = 4}),
                made_up({.batch = 8, .items_per_second = 20, .concurrency = 1})});
  const Workload& workload = study.workloads[0];
  EXPECT_EQ(axis_of(workload), Axis::kBatch);
  EXPECT_THAT(best_along(workload, Axis::kBatch), ElementsAre(1, 3));
}

TEST(AxisOf, IsTheConcurrencyWhereThereIsOneBatch) {
  const Study study = study_of({made_up({.concurrency = 1}), made_up({.concurrency = 8})});
  EXPECT_EQ(axis_of(study.workloads[0]), Axis::kConcurrency);
}

}  // namespace
}  // namespace corelane::report
