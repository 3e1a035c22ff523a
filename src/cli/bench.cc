#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/duration.h"
#include "base/log.h"
#include "base/result.h"
#include "base/units.h"
#include "bench/live_table.h"
#include "bench/plan.h"
#include "bench/result.h"
#include "bench/runner.h"
#include "bench/setup.h"
#include "bench/study_table.h"
#include "cli/commands.h"
#include "cli/own_files.h"
#include "cli/stop_signals.h"
#include "price/catalogue.h"
#include "store/store.h"

namespace corelane::cli {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
  std::string what;  // a plan file or a model
  std::string models = "models";
  std::string results = "results";
  std::string target;
  std::string prices = "prices.toml";
  double seconds = 0;  // 0: as the plan says
  bool quick = false;
  bool again = false;
  bool json = false;
};

int fail(const Error& error) {
  fmt::print(stderr, "corelane bench: {}\n", error.message);
  return error.code == ErrorCode::kInvalidArgument ? kUsage : kFailed;
}

/// A plan with the text that it was read from.
struct WrittenPlan {
  bench::Plan plan;
  std::string toml;
  fs::path folder;
};

Result<WrittenPlan> read_plan(const BenchOptions& options) {
  const bool is_file = options.what.ends_with(".toml") || fs::is_regular_file(options.what);
  WrittenPlan written;
  std::string where = options.what;
  if (is_file) {
    std::ifstream in(options.what, std::ios::binary);
    if (!in) return errno_error("reading the plan " + options.what, errno);
    written.toml = {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    written.folder = fs::path(options.what).parent_path();
  } else {
    bench::DefaultPlan wanted{.model = options.what, .quick = options.quick};
    if (!options.target.empty()) wanted.target = options.target;
    written.toml = bench::write_default_plan(wanted);
    where = "plan for " + options.what;
  }
  auto plan = bench::parse_plan(written.toml, where, written.folder);
  if (!plan) return std::move(plan).error();
  written.plan = *std::move(plan);
  if (is_file && options.quick) {
    written.plan.limits.warmup = std::min<Nanos>(written.plan.limits.warmup, from_seconds(0.5));
    written.plan.limits.window = from_seconds(2);
    written.plan.limits.min_requests = std::min<std::int64_t>(written.plan.limits.min_requests, 5);
  }
  if (options.seconds > 0) written.plan.limits.window = from_seconds(options.seconds);
  written.plan.limits.max_window =
      std::max(written.plan.limits.max_window, written.plan.limits.window);
  if (!options.target.empty()) written.plan.target = options.target;
  return written;
}

/// None where nobody gave one; an instance that the price list lacks is a warning, since the
/// measurement does not depend on it.
std::optional<UsdPerHour> find_price(const bench::Plan& plan, const std::string& file) {
  if (plan.usd_per_hour || plan.instance.empty()) return plan.usd_per_hour;
  const auto catalogue = price::read_catalogue(file);
  if (!catalogue) {
    log(LogLevel::kWarning, "no cost is shown: " + catalogue.error().message);
    return std::nullopt;
  }
  const auto found = price::find_price(*catalogue, {.instance = plan.instance});
  if (!found) {
    log(LogLevel::kWarning, "no cost is shown: " + found.error().message);
    return std::nullopt;
  }
  return found->per_hour;
}

bench::Screen screen_for(const BenchOptions& options) {
  bench::Screen screen{.rows = options.json ? stderr : stdout, .status = stderr};
  winsize size{};
  if (isatty(STDERR_FILENO) != 0 && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0) {
    screen.redraws = true;
    if (size.ws_col > 0) screen.width = size.ws_col;
  }
  return screen;
}

void print_json(const bench::StudyOutcome& outcome, const std::string& folder) {
  fmt::print("{{\n\"folder\": \"{}\",\n\"stopped\": {},\n\"not_run\": {},\n\"results\": [\n",
             folder, outcome.stopped, outcome.failed);
  for (std::size_t i = 0; i < outcome.results.size(); ++i) {
    fmt::print("{}{}", i == 0 ? "" : ",\n", bench::write_result(outcome.results[i]));
  }
  fmt::print("]\n}}\n");
}

/// What came of it in a line or two, and what to do next; the exit status.
int conclude(const bench::StudyOutcome& outcome, std::size_t planned, const bench::Plan& plan,
             const BenchOptions& options) {
  std::size_t valid = 0;
  std::size_t within = 0;
  for (const bench::ExperimentResult& result : outcome.results) {
    valid += result.valid ? 1 : 0;
    within += result.valid && bench::within_slo(result, plan.slo_p95) ? 1 : 0;
  }
  const std::string folder = (fs::path(options.results) / plan.study).string();
  fmt::print(stderr, "{} of {} experiments measured, {} valid, {} not run: {}\n",
             outcome.results.size(), planned, valid, outcome.failed, folder);
  if (outcome.stopped) {
    fmt::print(stderr, "stopped; the same command goes on with the {} that are left\n",
               planned - outcome.results.size());
    return kInterrupted;
  }
  if (outcome.failed > 0 || valid == 0) return kFailed;
  fmt::print(stderr, "`corelane report {}` says what they mean\n", folder);
  if (within == 0) {
    fmt::print(stderr, "none is within P95 <= {}\n", to_string(*plan.slo_p95));
    return kDoesNotHold;
  }
  return kDone;
}

/// Says once that a stop was asked for.
class StopAsked {
 public:
  bool operator()() {
    if (!asked_ && signals_.came_within(Nanos(0))) {
      asked_ = true;
      signals_.let_the_next_one_kill();
      fmt::print(stderr,
                 "\nstopping when the requests under way have ended; once more stops at once\n");
    }
    return asked_;
  }

 private:
  StopSignals signals_;
  bool asked_ = false;
};

int run_bench(const BenchOptions& options, Environment& environment) {
  auto written = read_plan(options);
  if (!written) return fail(written.error());
  const bench::Plan& plan = written->plan;
  StopAsked stop_asked;
  auto setup = bench::set_up_study(plan,
                                   {.models = options.models,
                                    .executable = own_executable(),
                                    .engines = own_engines(),
                                    .version = CORELANE_VERSION,
                                    .stop_asked = [&] { return stop_asked(); }},
                                   environment.clock);
  if (!setup) return fail(setup.error());
  for (const std::string& warning : setup->warnings) log(LogLevel::kWarning, warning);
  for (const std::string& note : setup->list.notes) fmt::print(stderr, "{}\n", note);

  const auto store = store::open_directory(options.results);
  if (auto kept = bench::keep_plan(plan, written->toml, written->folder, *store); !kept) {
    return fail(kept.error());
  }
  const auto& experiments = setup->list.experiments;
  fmt::print(stderr, "{}: {} experiments, results go to {}\n", plan.study, experiments.size(),
             (fs::path(options.results) / plan.study).string());
  bench::TableColumns columns = bench::columns_for(experiments);
  columns.slo_p95 = plan.slo_p95;
  columns.price = find_price(plan, options.prices);
  Result<bench::StudyOutcome> outcome = internal_error("not run");
  {
    bench::LiveTable table(screen_for(options), columns, experiments.size(),
                           plan.limits.warmup + plan.limits.window, environment.clock);
    outcome = bench::run_study(experiments,
                               {.study = plan.study,
                                .limits = plan.limits,
                                .machine = setup->machine,
                                .again = options.again,
                                .stop_asked = [&] { return stop_asked(); }},
                               *setup->opener, *store, environment.clock, table);
  }
  if (!outcome) return fail(outcome.error());
  if (options.json) print_json(*outcome, (fs::path(options.results) / plan.study).string());
  return conclude(*outcome, experiments.size(), plan, options);
}

}  // namespace

Run add_bench(CLI::App& command) {
  auto options = std::make_shared<BenchOptions>();
  command
      .add_option("what", options->what, "A plan (a .toml file) or a model (a sound default plan)")
      ->required();
  command.add_flag("--quick", options->quick, "A small grid, or a plan with short windows");
  command.add_option("--models", options->models, "Repository of models")->capture_default_str();
  command.add_option("--results", options->results, "Where results go; finished ones are kept")
      ->capture_default_str();
  command.add_option("--target", options->target,
                     "\"lanes\" or a v2 server: http://host:port (default: as the plan says)");
  command.add_option("--seconds", options->seconds, "Length of each measuring window, at least")
      ->check(CLI::PositiveNumber);
  command.add_flag("--again", options->again, "Measure also what has a result already");
  command.add_option("--prices", options->prices, "Price list for the plan's [price] instance")
      ->capture_default_str();
  command.add_flag("--json", options->json, "Results as JSON on stdout, the table on stderr");
  command.footer(
      "Examples:\n"
      "  corelane bench minilm --quick\n"
      "  corelane bench examples/demo/demo.toml --results results\n"
      "  corelane bench minilm --target http://127.0.0.1:8000 --json\n");
  return [options](Environment& environment) { return run_bench(*options, environment); };
}

}  // namespace corelane::cli
