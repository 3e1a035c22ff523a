#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/own_files.h"
#include "cli/stop_signals.h"
#include "cli/uncompiled.h"
#include "device/cpu_budget.h"
#include "device/lane_plan.h"
#include "lane/lane.h"
#include "lane/pool.h"
#include "serve/config.h"
#include "serve/model_keeper.h"
#include "serve/model_source.h"
#include "serve/server.h"
#include "service/service.h"

namespace corelane::cli {
namespace {

constexpr Nanos kDrainLimit = std::chrono::milliseconds(4500);
constexpr const char* kDefaultConfig = "corelane.toml";

struct ServeOptions {
  std::string path;
  std::string models = "models";
  std::string lanes = "auto";
  std::string precision = "auto";
  std::string http = "127.0.0.1:8000";
  std::string grpc = "auto";
  std::string ready_file;
  std::string config;
  std::size_t queue = 256;
  std::vector<std::string> load;
  double watch = 0;  // seconds; 0: never
  std::map<std::string, serve::EndpointConfig> endpoints;
};

int fail(const Error& error) {
  fmt::print(stderr, "corelane serve: {}\n", error.message);
  return error.code == ErrorCode::kInvalidArgument ? kUsage : kFailed;
}

/// Settings of the file for which no flag was given.
Status apply_config(const CLI::App& command, ServeOptions& options) {
  if (options.config.empty()) {
    if (!std::filesystem::exists(kDefaultConfig)) return {};
    options.config = kDefaultConfig;
  }
  std::ifstream file(options.config);
  if (!file) return not_found(options.config + ": cannot be read");
  std::stringstream text;
  text << file.rdbuf();
  auto config = serve::parse_config(text.str(), options.config);
  if (!config) return std::move(config).error();
  const auto take = [&](const char* flag, const std::optional<std::string>& from,
                        std::string& into) {
    if (from && command.count(flag) == 0) into = *from;
  };
  take("--models", config->models, options.models);
  take("--http", config->http, options.http);
  take("--grpc", config->grpc, options.grpc);
  take("--precision", config->precision, options.precision);
  take("--lanes", config->lanes, options.lanes);
  if (config->queue && command.count("--queue") == 0) {
    if (*config->queue < 1) return invalid_argument(options.config + ": serve.queue is below 1");
    options.queue = static_cast<std::size_t>(*config->queue);
  }
  options.endpoints = config->endpoints;
  return {};
}

Result<serve::ModelSource> open_source(const ServeOptions& options) {
  const std::filesystem::path root = options.path.empty() ? options.models : options.path;
  if (auto commands = how_to_serve(root, options.models)) return unsupported(*std::move(commands));
  return serve::ModelSource(
      {.root = root, .precision = options.precision, .endpoints = options.endpoints});
}

/// What clients reach the server by; grpc is empty where it is off.
struct Addresses {
  std::string http;
  std::string grpc;
};

std::string to_text(const std::string& host, std::uint16_t port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return fmt::format("{}:{}", is_ipv6 ? "[" + host + "]" : host, port);
}

void print_table(const service::Service& service, lane::LanePool& pool, const Addresses& addresses,
                 Nanos took) {
  std::string lanes;
  for (const lane::Lane* lane : pool.lanes()) lanes += lane->info().name + "  ";
  std::string models;
  for (const service::ServedModel& model : service.models()) {
    models += fmt::format("{}{}@{} ({}{})", models.empty() ? "" : "  ", model.name, model.version,
                          model.precision, model.ready ? "" : ", NOT READY: " + model.reason);
  }
  fmt::print("lanes   {}\nmodels  {}\nhttp    {}   grpc {}   metrics /metrics\nready in {:.1f} s\n",
             lanes, models, addresses.http, addresses.grpc.empty() ? "off" : addresses.grpc,
             to_seconds(took));
  std::fflush(stdout);
}

/// Names the file as not there yet, so that nobody takes an earlier server's for this one's, and
/// takes it away at the end.
class ReadyFile {
 public:
  explicit ReadyFile(std::string file) : file_(std::move(file)) { remove(); }
  ~ReadyFile() { remove(); }
  ReadyFile(const ReadyFile&) = delete;
  ReadyFile& operator=(const ReadyFile&) = delete;

 private:
  void remove() const {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file_, ignored)) std::filesystem::remove(file_, ignored);
  }

  std::string file_;
};

Status write_ready_file(const std::string& file, const Addresses& addresses) {
  std::error_code unknown;
  const auto there = std::filesystem::symlink_status(file, unknown);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
    return invalid_argument("--ready-file " + file + " is there already and is no regular file");
  }
  const std::string draft = file + ".part";
  {
    std::ofstream out(draft);
    out << fmt::format("{{\"http\": \"{}\", ", addresses.http);
    if (!addresses.grpc.empty()) out << fmt::format("\"grpc\": \"{}\", ", addresses.grpc);
    out << fmt::format("\"pid\": {}}}\n", getpid());
    if (!out.flush()) return io_error("writing " + draft);
  }
  std::error_code error;
  std::filesystem::rename(draft, file, error);
  if (error) return io_error("writing " + file + ": " + error.message());
  return {};
}

/// kCancelled where a signal came first.
Status wait_until_loaded(const service::Service& service, const StopSignals& signals) {
  constexpr Nanos kLookAgain = std::chrono::milliseconds(2);
  while (!service.settled()) {
    if (signals.came_within(kLookAgain)) {
      return Error{ErrorCode::kCancelled, "stopped while models were being loaded"};
    }
  }
  std::string failed;
  for (const service::ServedModel& model : service.models()) {
    if (model.ready) continue;
    failed +=
        fmt::format("\n  {}@{} ({}): {}", model.name, model.version, model.precision, model.reason);
  }
  if (failed.empty()) return {};
  return internal_error("not every model could be loaded:" + failed);
}

/// Blocks until a signal, then answers what was accepted. Meanwhile looks for changes, where
/// `watch` says how often.
int serve_and_drain(const service::Service& service, serve::Server& server,
                    const StopSignals& signals, const std::function<void()>& look, Nanos watch) {
  while (watch > Nanos{} && !signals.came_within(watch)) look();
  if (watch == Nanos{}) signals.wait();
  signals.let_the_next_one_kill();
  log(LogLevel::kInfo, "finishing what was accepted; a second signal stops at once");
  if (server.drain(kDrainLimit)) return kDone;
  fmt::print(stderr, "corelane serve: {} requests were not answered in time\n",
             service.unanswered());
  std::_Exit(kFailed);  // joining would wait for them; the workers end with this process
}

Result<device::LanePlan> plan_lanes(const std::string& text) {
  auto budget = device::read_cpu_budget();
  if (!budget) return std::move(budget).error();
  auto plan = device::make_lane_plan(text, *budget);
  if (plan) {
    for (const std::string& warning : plan->warnings) log(LogLevel::kWarning, warning);
  }
  return plan;
}

/// What a server needs of its process: as many descriptors as it may have, for connections and
/// workers, and no end by a log line that nobody reads any more.
void prepare_process() {
  std::signal(SIGPIPE, SIG_IGN);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);  // else with what there is
}

int serve_until_told(const ServeOptions& options, Environment& environment) {
  prepare_process();
  const Nanos began = environment.clock.now();
  auto address = serve::parse_address(options.http);
  if (!address) return fail(in_context(std::move(address), "--http"));
  auto grpc = serve::parse_grpc_address(options.grpc, *address);
  if (!grpc) return fail(in_context(std::move(grpc), "--grpc"));
  const ReadyFile ready_file(options.ready_file);
  auto source = open_source(options);
  if (!source) return fail(source.error());
  auto versions = source->at_start(options.load);
  if (!versions) return fail(versions.error());
  auto plan = plan_lanes(options.lanes);
  if (!plan) return fail(in_context(std::move(plan), "--lanes"));

  StopSignals signals;
  auto pool = lane::LanePool::start(
      {.lanes = plan->lanes, .executable = own_executable(), .engines = own_engines()},
      environment.clock);
  if (!pool) return fail(in_context(std::move(pool), "starting the lanes"));
  auto service = service::Service::start(**pool, environment.clock, *std::move(versions),
                                         {.queue_limit = options.queue});
  if (!service) return fail(service.error());
  serve::ModelKeeper keeper(**service, *std::move(source));
  serve::ServerOptions listen{.address = address->host, .port = address->port, .keeper = &keeper};
  if (*grpc) listen.grpc = {.address = (*grpc)->host, .port = (*grpc)->port};
  auto server = serve::Server::start(**service, **pool, environment.clock, listen);
  if (!server) return fail(in_context(std::move(server), "listening"));
  if (auto loaded = wait_until_loaded(**service, signals); !loaded) {
    return fail(loaded.error());
  }

  Addresses addresses{.http = to_text(address->host, (*server)->port())};
  if (const auto port = (*server)->grpc_port()) addresses.grpc = to_text((*grpc)->host, *port);
  print_table(**service, **pool, addresses, environment.clock.now() - began);
  if (!options.ready_file.empty()) {
    if (auto status = write_ready_file(options.ready_file, addresses); !status) {
      return fail(status.error());
    }
  }
  return serve_and_drain(
      **service, **server, signals, [&] { keeper.look_for_changes(); },
      from_seconds(options.watch));
}

}  // namespace

Run add_serve(CLI::App& command) {
  auto options = std::make_shared<ServeOptions>();
  command.add_option("path", options->path,
                     "Repository, one model of it or one version (default: --models)");
  command.add_option("--models", options->models, "Repository of models")->capture_default_str();
  command
      .add_option("--load", options->load,
                  "Models to load at the start, by comma (default: those with load_at_start)")
      ->delimiter(',');
  command
      .add_option("--watch", options->watch,
                  "Seconds between looks at the repository for changes to load; 0: never")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  command.add_option("--lanes", options->lanes, "Lane plan: auto, auto:N, cpu:0|cpu:1, cpu:0-1")
      ->capture_default_str();
  command.add_option("--precision", options->precision, "auto, f32, bf16, ...")
      ->capture_default_str();
  command.add_option("--http", options->http, "Address to listen on; port 0: any free one")
      ->capture_default_str();
  command
      .add_option("--grpc", options->grpc,
                  "Address for gRPC, off, or auto: the port after that of HTTP")
      ->capture_default_str();
  command.add_option("--queue", options->queue, "Requests of one model that may wait")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option(
      "--ready-file", options->ready_file,
      "Written once all models are ready: {\"http\": \"HOST:PORT\", \"grpc\": ..., \"pid\": N}");
  command.add_option("--config", options->config,
                     "Settings for which no flag is given (default: corelane.toml, if there)");
  command.footer(
      "Examples:\n"
      "  corelane serve\n"
      "  corelane serve models/minilm\n"
      "  corelane serve examples/probe-models --lanes 'cpu:0|cpu:1' --http 127.0.0.1:0 "
      "--ready-file ready.json\n");
  return [&command, options](Environment& environment) {
    if (auto status = apply_config(command, *options); !status) return fail(status.error());
    return serve_until_told(*options, environment);
  };
}

}  // namespace corelane::cli
