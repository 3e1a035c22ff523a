#include "report/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "price/catalogue.h"
#include "report/report.h"
#include "report/study.h"
#include "report/table.h"
#include "report/testing/made_up.h"

namespace corelane::report {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

price::Price priced(const std::string& instance, double per_hour) {
  return {.instance = instance, .per_hour = {per_hour}, .basis = "on demand"};
}

std::vector<std::string> texts(const Row& row) {
  std::vector<std::string> words;
  for (const Cell& cell : row.cells) {
    words.push_back(cell.text);
  }
  return words;
}

// BERT-base at batch 8 of the published study, in mixed precision on both of its machines.
const MadeUp kG5 = {.precision = "bf16", .batch = 8, .items_per_second = 681, .p95 = 12};
const MadeUp kG4dn = {.precision = "bf16", .batch = 8, .items_per_second = 350, .p95 = 23};

TEST(ComparisonTable, HasTheColumnsAndFiguresOfThePublishedStudy) {
  const Study here = *build_study({made_up(kG5)}, priced("g5.4xlarge", 1.624));
  const Study there = *build_study({made_up(kG4dn)}, priced("g4dn.4xlarge", 1.204));
  const Table table = comparison_table(here, there);
  std::vector<std::string> headings;
  for (const Column& column : table.columns) {
    headings.push_back(column.group + "/" + column.title);
  }
  EXPECT_THAT(headings,
              ElementsAre("/Model", "/Batch", "/Precision", "Throughput, items/s/g5.4xlarge",
                          "Throughput, items/s/g4dn.4xlarge", "Latency, P95 ms/g5.4xlarge",
                          "Latency, P95 ms/g4dn.4xlarge", "$ per million/g5.4xlarge",
                          "$ per million/g4dn.4xlarge", "/Cost-benefit"));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_THAT(texts(table.rows[0]), ElementsAre("bert", "8", "mixed (bf16)", "681", "350", "12.0",
                                                "23.0", "$0.662", "$0.956", "1.44"));
}

TEST(ComparisonTable, HasOnlyRowsThatBothSidesMeasured) {
  const Study here = *build_study({made_up(kG5), made_up({.batch = 1})}, std::nullopt);
  const Study there = *build_study({made_up(kG4dn), made_up({.batch = 2})}, std::nullopt);
  const Table table = comparison_table(here, there);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].cells.back().text, "–") << "no cost-benefit without prices";
}

TEST(PrecisionTable, PutsFullAndMixedBesideEachOtherAtTheirCheapest) {
  const Study study = *build_study({made_up({.items_per_second = 8, .lanes = "cpu:0-1"}),
                                    made_up({.items_per_second = 10, .lanes = "cpu:0|cpu:1"}),
                                    made_up({.precision = "bf16", .items_per_second = 25})},
                                   std::nullopt);
  const Table table = precision_table(study);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_THAT(texts(table.rows[0]), ElementsAre("bert", "1", "10.0", "25.0", "100", "100", "2.50"));
}

TEST(PrecisionTable, NamesThePrecisionWhereThereAreSeveral) {
  const Study study = *build_study(
      {made_up({}), made_up({.precision = "bf16"}), made_up({.precision = "int8"})}, std::nullopt);
  const Table table = precision_table(study);
  EXPECT_EQ(table.columns[2].title, "Against");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].cells[2].text, "mixed (bf16)");
  EXPECT_EQ(table.rows[1].cells[2].text, "int8");
}

TEST(PrecisionTable, IsEmptyWhereThereIsOnePrecision) {
  EXPECT_THAT(precision_table(*build_study({made_up({})}, std::nullopt)).rows, IsEmpty());
}

TEST(Tables, HaveAsManyCellsAsColumns) {
  const Study study = *build_study({made_up(kG5), made_up({})}, priced("a", 1));
  const Report report = *make_report(study, study, {.p95_limit = 50});
  for (const Table& table :
       {points_table(report, 0, Detail::kBrief), points_table(report, 0, Detail::kFull),
        answer_table(report, 0), precision_table(study), comparison_table(study, study),
        not_counted_table(study)}) {
    for (const Row& row : table.rows) {
      EXPECT_EQ(row.cells.size(), table.columns.size()) << table.title;
    }
  }
}

TEST(PointsTable, SaysWhatEachPointIsToTheAnswer) {
  const Study study = *build_study({made_up({.items_per_second = 10, .p95 = 20}),
                                    made_up({.batch = 8, .items_per_second = 40, .p95 = 200})},
                                   std::nullopt);
  const Report report = *make_report(study, std::nullopt, {.p95_limit = 50});
  const Table table = points_table(report, 0, Detail::kBrief);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].cells.back().text, "choice, knee, start");
  EXPECT_EQ(table.rows[0].mark, Mark::kChosen);
  EXPECT_EQ(table.rows[1].cells.back().text, "cheapest, over P95 50 ms");
}

}  // namespace
}  // namespace corelane::report
