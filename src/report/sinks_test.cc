// Every sink against golden files in tests/data/report/, made from the synthetic study. To write
// them anew: CORELANE_UPDATE=1 build/dev/src/report/corelane_report_test --gtest_filter='Sinks.*'
#include "report/sinks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bench/result.h"
#include "bench/testing/example_results.h"
#include "price/catalogue.h"
#include "report/html.h"
#include "report/report.h"
#include "report/study.h"
#include "report/testing/made_up.h"
#include "report/text.h"

namespace corelane::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

price::Price example_price() {
  price::Price price;
  price.instance = "example.large";
  price.per_hour = {0.0893};
  price.basis = "on demand";
  price.region = "nowhere-1";
  price.source = "made up";
  price.date = "2026-01-01";
  price.vcpus = 2;
  return price;
}

Report example_report(std::optional<double> limit) {
  auto study = build_study(bench::example_study(), example_price());
  EXPECT_TRUE(study);
  auto report = make_report(*std::move(study), std::nullopt,
                            {.p95_limit = limit,
                             .made_at = "2026-01-02 03:04 UTC",
                             .made_by = "corelane (test)",
                             .command = "corelane report example"});
  EXPECT_TRUE(report);
  return *std::move(report);
}

void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(CORELANE_GOLDEN) / name;
  if (std::getenv("CORELANE_UPDATE") != nullptr) {
    std::ofstream(file, std::ios::binary) << text;
    return;
  }
  std::ifstream in(file, std::ios::binary);
  const std::string golden{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_EQ(text, golden) << "differs from " << file;
}

TEST(Sinks, TextIsAsTheGoldenFile) {
  expect_golden("example.txt", to_text(example_report(std::nullopt), Colours::kNone));
}

TEST(Sinks, TextUnderALimitIsAsTheGoldenFile) {
  expect_golden("example-p95.txt", to_text(example_report(200), Colours::kNone));
}

TEST(Sinks, CsvIsAsTheGoldenFile) {
  expect_golden("example.csv", to_csv(example_report(std::nullopt)));
}

TEST(Sinks, MarkdownIsAsTheGoldenFile) {
  expect_golden("example.md", to_markdown(example_report(std::nullopt)));
}

TEST(Sinks, JsonIsAsTheGoldenFile) {
  expect_golden("example.json", to_json(example_report(std::nullopt)));
}

TEST(Text, HasColoursOnlyWhereTheyAreAskedFor) {
  const Report report = example_report(std::nullopt);
  EXPECT_THAT(to_text(report, Colours::kNone), Not(HasSubstr("\033")));
  EXPECT_THAT(to_text(report, Colours::kAnsi), HasSubstr("\033[32m> mixed (bf16)"));
}

Report report_of_hostile_names() {
  bench::ExperimentResult result = made_up({.model = "a\",<b>|\n</script>"});
  result.experiment.study = "</title>";
  auto study = build_study({std::move(result)}, std::nullopt);
  EXPECT_TRUE(study);
  return *make_report(*std::move(study), std::nullopt, {});
}

TEST(Html, LetsNoNameEndAnElementOrAScript) {
  const std::string page = to_html(report_of_hostile_names());
  EXPECT_THAT(page, HasSubstr("a&quot;,&lt;b&gt;|\n&lt;/script&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<b>|")));
  EXPECT_THAT(page, Not(HasSubstr("|\\n</script>")));
  EXPECT_THAT(page, Not(HasSubstr("</title></title>")));
}

TEST(Html, HoldsSpecificationsThatAreJson) {
  const std::string page = to_html(example_report(200));
  constexpr std::string_view kOpen = "class=\"spec\" data-chart=\"";
  int found = 0;
  for (std::size_t at = page.find(kOpen); at != std::string::npos; at = page.find(kOpen, at + 1)) {
    const std::size_t from = page.find('>', at) + 1;
    const std::size_t to = page.find("</script>", from);
    EXPECT_TRUE(nlohmann::json::accept(page.substr(from, to - from)));
    ++found;
  }
  EXPECT_EQ(found, 3 * 5 + 1);
}

TEST(Csv, QuotesWhatWouldBreakALine) {
  EXPECT_THAT(to_csv(report_of_hostile_names()), HasSubstr(",\"a\"\",<b>|\n</script>\",1,"));
}

TEST(Markdown, EscapesWhatWouldEndACell) {
  EXPECT_THAT(to_markdown(report_of_hostile_names()), HasSubstr("a\",\\<b\\>\\| \\</script\\>"));
}

TEST(Json, SaysNullWhereNothingIsKnown) {
  const auto json = nlohmann::json::parse(to_json(report_of_hostile_names()));
  EXPECT_TRUE(json["here"]["price"].is_null());
  EXPECT_TRUE(json["p95_limit_ms"].is_null());
  EXPECT_TRUE(json["here"]["workloads"][0]["points"][0]["usd_per_million"].is_null());
}

}  // namespace
}  // namespace corelane::report
