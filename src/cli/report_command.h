#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace corelane::cli {

/// Where `corelane bench` puts results when nothing else is said.
inline constexpr const char* kDefaultResults = "results";

/// What a side costs by the command line.
struct WishedPrice {
  std::string instance;
  double usd_per_hour = 0;  // 0: not given
};

/// The options of `corelane report`.
struct ReportCommand {
  std::vector<std::filesystem::path> results;
  std::vector<std::filesystem::path> against;
  std::filesystem::path html;
  std::filesystem::path csv;
  std::filesystem::path markdown;
  bool json = false;
  bool open = false;
  std::string p95;
  WishedPrice price;
  WishedPrice against_price;
  std::filesystem::path prices;
  std::string basis;
  std::string region;
};

/// The line for a shell that measures again, where a plan lies beside the results, and reports
/// again.
std::string command_again(const ReportCommand& options);

}  // namespace corelane::cli
