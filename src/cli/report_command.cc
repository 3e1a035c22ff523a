#include "cli/report_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace corelane::cli {
namespace {

namespace fs = std::filesystem;

/// `corelane bench` keeps the plan beside the results.
constexpr const char* kPlan = "plan.toml";

/// As a shell takes it.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@,+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
    return word;
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted + "'";
}

void add_option(std::string& command, const char* name, const std::string& value) {
  if (!value.empty()) {
    command += fmt::format(" {} {}", name, shell_word(value));
  }
}

void add_price(std::string& command, const std::string& prefix, const WishedPrice& price) {
  add_option(command, (prefix + "price").c_str(), price.instance);
  if (price.usd_per_hour > 0) {
    add_option(command, (prefix + "usd-per-hour").c_str(), fmt::format("{}", price.usd_per_hour));
  }
}

}  // namespace

std::string command_again(const ReportCommand& options) {
  std::string command;
  std::string report = "corelane report";
  for (const fs::path& results : options.results) {
    std::error_code failed;
    if (fs::exists(results / kPlan, failed)) {
      const fs::path folder = (results / "").parent_path().parent_path();
      command += "corelane bench --again " + shell_word((results / kPlan).string());
      if (folder != kDefaultResults) {
        add_option(command, "--results", folder.empty() ? "." : folder.string());
      }
      command += " && ";
    }
    report += " " + shell_word(results.string());
  }
  add_option(report, "--p95", options.p95);
  add_price(report, "--", options.price);
  for (const fs::path& results : options.against) {
    add_option(report, "--against", results.string());
  }
  add_price(report, "--against-", options.against_price);
  if (!options.price.instance.empty() || !options.against_price.instance.empty()) {
    add_option(report, "--prices", options.prices.string());
  }
  add_option(report, "--basis", options.basis);
  add_option(report, "--region", options.region);
  add_option(report, "--html", options.html.string());
  return command + report;
}

}  // namespace corelane::cli
