#include "report/report.h"

#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/commands.h"
#include "cli/open_file.h"
#include "cli/report_command.h"
#include "price/catalogue.h"
#include "report/html.h"
#include "report/read.h"
#include "report/sinks.h"
#include "report/study.h"
#include "report/text.h"

namespace corelane::cli {
namespace {

namespace fs = std::filesystem;

/// The page that --open shows, beside the results.
constexpr const char* kPage = "report.html";

/// "50ms", "1.5s", "800us" in milliseconds.
Result<double> parse_limit(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double millis = unit == "ms" ? 1 : unit == "s" ? 1000 : unit == "us" ? 0.001 : 0;
  if (error != std::errc() || !std::isfinite(value) || value <= 0 || millis == 0) {
    return invalid_argument("--p95 " + text + ": a time such as 50ms, 1.5s or 800us is needed");
  }
  return value * millis;
}

Result<std::optional<price::Price>> find_price(const WishedPrice& wish,
                                               const ReportCommand& options) {
  if (wish.usd_per_hour > 0) {
    return std::optional(price::price_by_hand({wish.usd_per_hour}));
  }
  if (wish.instance.empty()) {
    return std::optional<price::Price>();
  }
  const auto catalogue = price::read_catalogue(options.prices);
  if (!catalogue) {
    return catalogue.error();
  }
  auto found = price::find_price(
      *catalogue, {.instance = wish.instance, .basis = options.basis, .region = options.region});
  if (!found) {
    return in_context(std::move(found), options.prices.string());
  }
  return std::optional(*std::move(found));
}

/// Warnings go to stderr: the report still stands.
Result<report::Study> load_study(const std::vector<fs::path>& paths,
                                 std::optional<price::Price> price) {
  auto read = report::read_results(paths);
  if (!read) {
    return read.error();
  }
  for (const std::string& problem : read->unreadable) {
    fmt::print(stderr, "corelane report: left out: {}\n", problem);
  }
  return report::build_study(std::move(read->results), std::move(price));
}

Status write_file(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) {
    return errno_error("writing " + file.string(), errno);
  }
  std::fflush(stdout);  // what was printed before stands before
  fmt::print(stderr, "wrote {}\n", file.string());
  return {};
}

std::string utc_minute(const Clock& clock) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock.since_epoch());
  const std::time_t time = seconds.count();
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts)};
}

Result<report::Report> make(const ReportCommand& options, const Clock& clock) {
  std::optional<double> limit;
  if (!options.p95.empty()) {
    const auto parsed = parse_limit(options.p95);
    if (!parsed) {
      return parsed.error();
    }
    limit = *parsed;
  }
  auto price = find_price(options.price, options);
  if (!price) {
    return price.error();
  }
  auto study = load_study(options.results, *price);
  if (!study) {
    return study.error();
  }
  std::optional<report::Study> against;
  if (!options.against.empty()) {
    auto other_price = find_price(options.against_price, options);
    if (!other_price) {
      return other_price.error();
    }
    auto other = load_study(options.against, *other_price);
    if (!other) {
      return in_context(std::move(other), "--against");
    }
    against = *std::move(other);
  }
  return report::make_report(*std::move(study), std::move(against),
                             {.p95_limit = limit,
                              .made_at = utc_minute(clock),
                              .made_by = "corelane " CORELANE_VERSION,
                              .command = command_again(options)});
}

Status write_files(const report::Report& made, const ReportCommand& options) {
  if (!options.html.empty()) {
    if (auto written = write_file(options.html, report::to_html(made)); !written) {
      return written;
    }
  }
  if (!options.csv.empty()) {
    if (auto written = write_file(options.csv, report::to_csv(made)); !written) {
      return written;
    }
  }
  if (!options.markdown.empty()) {
    if (auto written = write_file(options.markdown, report::to_markdown(made)); !written) {
      return written;
    }
  }
  return {};
}

report::Colours colours_of(std::FILE* stream) {
  const char* unwanted = std::getenv("NO_COLOR");
  const bool wanted = isatty(fileno(stream)) == 1 && (unwanted == nullptr || *unwanted == '\0');
  return wanted ? report::Colours::kAnsi : report::Colours::kNone;
}

int fail(const Error& error) {
  fmt::print(stderr, "corelane report: {}\n", error.message);
  return error.code == ErrorCode::kInvalidArgument ? kUsage : kFailed;
}

int run_report(ReportCommand options, const Clock& clock) {
  if (options.results.empty()) {
    options.results = {kDefaultResults};
  }
  if (options.open && options.html.empty()) {
    const fs::path& first = options.results.front();
    options.html = (fs::is_directory(first) ? first : first.parent_path()) / kPage;
  }
  const auto made = make(options, clock);
  if (!made) {
    return fail(made.error());
  }
  fmt::print("{}",
             options.json ? report::to_json(*made) : report::to_text(*made, colours_of(stdout)));
  if (const Status written = write_files(*made, options); !written) {
    return fail(written.error());
  }
  if (options.open) {
    if (const Status opened = open_file(options.html); !opened) {
      return fail(opened.error());
    }
  }
  return report::limit_holds(*made) ? kDone : kDoesNotHold;
}

void add_outputs(CLI::App& command, ReportCommand& options) {
  command.add_option("results", options.results,
                     "Directories or files that `corelane bench` wrote (default: results)");
  command.add_option("--html", options.html, "Write one page with everything; it needs no network");
  command.add_option("--csv", options.csv, "Write one line an experiment");
  command.add_option("--markdown", options.markdown, "Write the answers and tables as Markdown");
  command.add_flag("--json", options.json, "Print JSON instead of tables");
  command.add_flag("--open", options.open, "Show the page in the browser");
  command.add_option("--p95", options.p95,
                     "Choose the cheapest inside this latency, e.g. 50ms (default: the knee)");
}

void add_prices(CLI::App& command, ReportCommand& options) {
  auto* instance = command.add_option("--price", options.price.instance,
                                      "What this machine costs: an instance of the price file");
  command
      .add_option("--usd-per-hour", options.price.usd_per_hour,
                  "What this machine costs, in dollars an hour")
      ->check(CLI::PositiveNumber)
      ->excludes(instance);
  command.add_option("--prices", options.prices, "The price file (default: prices.toml)");
  command.add_option("--basis", options.basis, "Where an instance has several prices");
  command.add_option("--region", options.region, "Where an instance has several prices");
  command
      .add_option("--against", options.against,
                  "Results of another machine, to compare with in the same tables")
      ->allow_extra_args(false);
  auto* other = command.add_option("--against-price", options.against_price.instance,
                                   "What the other machine costs: an instance");
  command
      .add_option("--against-usd-per-hour", options.against_price.usd_per_hour,
                  "What the other machine costs, in dollars an hour")
      ->check(CLI::PositiveNumber)
      ->excludes(other);
}

}  // namespace

Run add_report(CLI::App& command) {
  auto options = std::make_shared<ReportCommand>();
  options->prices = "prices.toml";
  add_outputs(command, *options);
  add_prices(command, *options);
  command.footer(
      "Examples:\n"
      "  corelane report results/bert-on-this-box --usd-per-hour 0.0893 --html report.html\n"
      "  corelane report results --p95 50ms --price c7i.large --prices prices.toml --open\n"
      "  corelane report results/g5 --price g5.xlarge --against results/g4dn --against-price "
      "g4dn.xlarge\n"
      "Exit status: 0 done, 1 failed, 2 wrong usage, 3 nothing holds the --p95 limit.\n");
  return [options](Environment& environment) { return run_report(*options, environment.clock); };
}

}  // namespace corelane::cli
