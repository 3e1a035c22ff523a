#include "cli/report_command.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace corelane::cli {
namespace {

TEST(CommandAgain, RepeatsWhatTheReportWasMadeFrom) {
  ReportCommand options;
  options.results = {"results/demo"};
  options.p95 = "50ms";
  options.price.instance = "c7i.large";
  options.prices = "prices.toml";
  options.html = "my report.html";
  EXPECT_EQ(command_again(options),
            "corelane report results/demo --p95 50ms --price c7i.large --prices prices.toml --html "
            "'my report.html'");
}

TEST(CommandAgain, NamesBothSidesAndTheirPrices) {
  ReportCommand options;
  options.results = {"a"};
  options.against = {"it's b"};
  options.price.usd_per_hour = 0.0893;
  options.against_price.usd_per_hour = 2;
  EXPECT_EQ(
      command_again(options),
      "corelane report a --usd-per-hour 0.0893 --against 'it'\\''s b' --against-usd-per-hour 2");
}

TEST(CommandAgain, MeasuresAgainWhereThePlanLiesBesideTheResults) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "study-again";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "plan.toml") << "[study]\n";
  ReportCommand options;
  options.results = {folder};
  EXPECT_EQ(command_again(options), "corelane bench --again " + (folder / "plan.toml").string() +
                                        " --results " + folder.parent_path().string() +
                                        " && corelane report " + folder.string());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace corelane::cli
