#include "report/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "bench/result.h"
#include "bench/testing/example_results.h"
#include "price/catalogue.h"
#include "report/curve.h"
#include "report/report.h"
#include "report/sentence.h"
#include "report/study.h"
#include "report/testing/made_up.h"

namespace corelane::report {
namespace {

using ::testing::HasSubstr;

std::vector<bench::ExperimentResult> curve() {
  return {made_up({.precision = "f32", .batch = 1, .items_per_second = 10, .p95 = 50}),
          made_up({.precision = "bf16", .batch = 1, .items_per_second = 20, .p95 = 30}),
          made_up({.precision = "bf16", .batch = 8, .items_per_second = 90, .p95 = 100}),
          made_up({.precision = "bf16", .batch = 32, .items_per_second = 100, .p95 = 400})};
}

Workload workload_of(std::vector<bench::ExperimentResult> results) {
  auto study = build_study(std::move(results), price::price_by_hand({3.6}));
  EXPECT_TRUE(study);
  return study->workloads.at(0);
}

TEST(Choose, TakesTheKneeWithoutALimit) {
  const auto choice = choose(workload_of(curve()), std::nullopt);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->reason, ChoiceReason::kKnee);
  EXPECT_EQ(choice->start, 0U);
  EXPECT_EQ(choice->chosen, 2U);
  EXPECT_EQ(choice->knee, 2U);
  EXPECT_EQ(choice->cheapest, 3U);
}

TEST(Choose, TakesTheCheapestInsideTheLimit) {
  const Workload workload = workload_of(curve());
  const auto narrow = choose(workload, 60);
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->reason, ChoiceReason::kCheapestInLimit);
  EXPECT_EQ(narrow->chosen, 1U);
  EXPECT_EQ(narrow->inside, 2U);
  EXPECT_EQ(choose(workload, 400)->chosen, 3U) << "the limit itself is inside";
}

TEST(Choose, SaysThatNothingIsInsideTheLimitAndNamesTheNearest) {
  const auto choice = choose(workload_of(curve()), 29);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->reason, ChoiceReason::kNothingInLimit);
  EXPECT_EQ(choice->chosen, 1U);
  EXPECT_EQ(choice->inside, 0U);
}

TEST(Choose, NeverTakesAPointOutsideTheLimitNorADearerOneInside) {
  const Study study = *build_study(bench::example_study(), std::nullopt);
  for (const Workload& workload : study.workloads) {
    for (double limit = 10; limit < 10000; limit *= 1.3) {
      const auto choice = choose(workload, limit);
      ASSERT_TRUE(choice);
      if (choice->reason == ChoiceReason::kNothingInLimit) {
        continue;
      }
      const Point& chosen = workload.points[choice->chosen];
      EXPECT_LE(chosen.result.latency.p95, limit);
      for (const Point& other : workload.points) {
        EXPECT_TRUE(other.result.latency.p95 > limit ||
                    other.result.items_per_second * (1 - kNoise) <= chosen.result.items_per_second);
      }
    }
  }
}

TEST(Choose, StartsAtFullPrecisionBatchOneAndThePlanMeasuredFirst) {
  const Workload workload = workload_of(
      {made_up({.lanes = "cpu:0|cpu:1", .concurrency = 4, .started_at = "2026-01-01T00:00:01Z"}),
       made_up({.lanes = "cpu:0|cpu:1", .concurrency = 2, .started_at = "2026-01-01T00:00:02Z"}),
       made_up({.lanes = "cpu:0-1", .concurrency = 1, .started_at = "2026-01-01T00:00:03Z"}),
       made_up({.precision = "bf16", .started_at = "2026-01-01T00:00:00Z"})});
  const auto choice = choose(workload, std::nullopt);
  ASSERT_TRUE(choice);
  const bench::Experiment& start = workload.points[choice->start].result.experiment;
  EXPECT_EQ(start.lanes, "cpu:0|cpu:1");
  EXPECT_EQ(start.concurrency, 2);
  EXPECT_EQ(start.precision, "f32");
}

TEST(Choose, HasNothingToSayOfInvalidResultsOnly) {
  auto result = made_up({});
  result.valid = false;
  const Workload workload = workload_of({result});
  EXPECT_FALSE(choose(workload, std::nullopt));
  EXPECT_THAT(answer_for(workload, std::nullopt).sentence, HasSubstr("none of its 1 measurement"));
}

TEST(AnswerFor, NamesTheCheapestAndByHowMuchAndWhyToTakeTheKnee) {
  const Answer answer = answer_for(workload_of(curve()), std::nullopt);
  EXPECT_EQ(answer.sentence,
            "On this machine bert is cheapest in bf16 at batch 32 on 1 lane of 2 cores: 100 "
            "items/s, P95 400 ms, $10.0 per million; 10 times cheaper than where one starts (f32, "
            "batch 1: $100 per million).");
  EXPECT_EQ(
      answer.why,
      "Unless latency does not matter choose the knee of the curve, bf16 at batch 8 on 1 lane "
      "of 2 cores: 90.0 items/s, P95 100 ms, $11.1 per million. Beyond it the cheapest gives "
      "only 11 % more items per second for 4.0 times the P95.");
}

TEST(AnswerFor, SaysWhatALimitCosts) {
  const Answer answer = answer_for(workload_of(curve()), 60);
  EXPECT_THAT(answer.sentence,
              HasSubstr("Within P95 60 ms bert is cheapest on this machine in bf16 "
                        "at batch 1"));
  EXPECT_THAT(answer.why, HasSubstr("of 4 configurations 2 are inside the limit"));
  EXPECT_THAT(answer.why, HasSubstr("400 % more items per second for 13 times the P95"));
}

TEST(AnswerFor, SaysThatNoConfigurationHoldsTheLimit) {
  const Answer answer = answer_for(workload_of(curve()), 5);
  EXPECT_EQ(
      answer.sentence,
      "No configuration of bert holds P95 5 ms on this machine: the nearest is bf16 at batch 1 "
      "on 1 lane of 2 cores with P95 30 ms.");
}

TEST(MakeReport, SaysWhereNoPriceWasGivenAndWhatHoldsAllTheSame) {
  const auto report =
      make_report(*build_study(curve(), std::nullopt), std::nullopt, {.p95_limit = {}});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->notes.size(), 1U);
  EXPECT_THAT(report->notes[0], HasSubstr("No price was given"));
  EXPECT_THAT(report->answers[0].sentence,
              HasSubstr("10 times cheaper than where one starts (f32, batch 1: 10.0 items/s)"));
}

TEST(MakeReport, RefusesPricesOfTwoBasesSideBySide) {
  price::Price here{.instance = "a", .per_hour = {1}, .basis = "on demand"};
  price::Price there{.instance = "b", .per_hour = {1}, .basis = "reserved"};
  const auto report =
      make_report(*build_study(curve(), here), *build_study(curve(), there), {.p95_limit = {}});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("on demand here, reserved on the other side"));
}

TEST(LimitHolds, OnlyWhereEveryWorkloadHasAConfigurationInside) {
  auto results = curve();
  results.push_back(made_up({.p95 = 1000, .model = "slow"}));
  const Study study = *build_study(results, std::nullopt);
  EXPECT_TRUE(limit_holds(*make_report(study, std::nullopt, {.p95_limit = std::nullopt})));
  EXPECT_TRUE(limit_holds(*make_report(study, std::nullopt, {.p95_limit = 1000})));
  EXPECT_FALSE(limit_holds(*make_report(study, std::nullopt, {.p95_limit = 60})));
}

}  // namespace
}  // namespace corelane::report
