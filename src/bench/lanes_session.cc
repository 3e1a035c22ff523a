#include "bench/lanes_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "bench/experiments.h"
#include "bench/session.h"
#include "device/lane_plan.h"
#include "device/process_memory.h"
#include "lane/arena.h"
#include "lane/pool.h"
#include "load/inputs.h"
#include "load/lanes_target.h"
#include "load/target.h"
#include "model/manifest.h"
#include "service/lane_runner.h"
#include "service/service.h"
#include "service/stats.h"

namespace corelane::bench {
namespace {

constexpr Nanos kLongestLoad = std::chrono::minutes(10);
constexpr Nanos kLookAgain = std::chrono::milliseconds(5);
constexpr std::size_t kQueueLimit = 65'536;  // clients wait for their answers: no queue grows

/// {"openvino", "2026.4.1"} from an engine's report.
std::map<std::string, std::string> version_in(const std::string& report) {
  const auto json = nlohmann::json::parse(report, nullptr, false);
  if (!json.is_object() || !json.contains("engine") || !json["engine"].is_string() ||
      !json.contains("version") || !json["version"].is_string()) {
    return {};
  }
  return {{json["engine"].get<std::string>(), json["version"].get<std::string>()}};
}

class LaneClients final : public Clients {
 public:
  static Result<std::unique_ptr<Clients>> make(service::Service& service, lane::Arena& arena,
                                               const model::Manifest& manifest,
                                               const PlannedExperiment& planned) {
    auto inputs = load::make_inputs(manifest, planned.inputs);
    if (!inputs) return std::move(inputs).error();
    auto placed = load::ArenaInputs::place(arena, *inputs);
    if (!placed) return std::move(placed).error();
    std::unique_ptr<LaneClients> clients(new LaneClients(*std::move(placed)));
    const auto count = static_cast<std::size_t>(planned.experiment.concurrency);
    for (std::size_t i = 0; i < count; ++i) {
      clients->targets_.push_back(std::make_unique<load::LanesTarget>(
          service, *clients->inputs_,
          load::LanesTarget::Model{manifest.name, std::to_string(manifest.version)},
          load::ClientPlace{.index = i, .count = count}));
    }
    return std::unique_ptr<Clients>(std::move(clients));
  }

  std::vector<load::Target*> targets() override {
    std::vector<load::Target*> all;
    for (const auto& target : targets_) all.push_back(target.get());
    return all;
  }

 private:
  explicit LaneClients(std::unique_ptr<load::ArenaInputs> inputs) : inputs_(std::move(inputs)) {}

  std::unique_ptr<load::ArenaInputs> inputs_;
  std::vector<std::unique_ptr<load::LanesTarget>> targets_;
};

class LanesSession final : public Session {
 public:
  LanesSession(std::unique_ptr<lane::LanePool> pool, std::unique_ptr<service::Service> service,
               std::unique_ptr<service::LaneRunner> runner, model::Manifest manifest)
      : pool_(std::move(pool)),
        service_(std::move(service)),
        runner_(std::move(runner)),
        manifest_(std::move(manifest)) {}

  Result<std::unique_ptr<Clients>> clients(const PlannedExperiment& planned) override {
    return LaneClients::make(*service_, pool_->arena(), manifest_, planned);
  }

  SessionFacts facts() const override {
    std::vector<int> pids = {getpid()};
    for (const service::LaneStats& lane : service_->stats().lanes) pids.push_back(lane.pid);
    SessionFacts facts{.engine_report = service_->models().front().report, .versions = {}};
    facts.versions = version_in(facts.engine_report);
    facts.memory_bytes = device::proportional_memory(pids);
    facts.lanes = static_cast<std::int64_t>(pool_->lanes().size());
    return facts;
  }

  const service::Service& service() const { return *service_; }

 private:
  // Destroyed from the last to the first: the runner before the service, the pool at the end.
  std::unique_ptr<lane::LanePool> pool_;
  std::unique_ptr<service::Service> service_;
  std::unique_ptr<service::LaneRunner> runner_;
  model::Manifest manifest_;
};

class LanesOpener final : public SessionOpener {
 public:
  LanesOpener(LanesOptions options, const Clock& clock)
      : options_(std::move(options)), clock_(clock) {}

  Result<std::unique_ptr<Session>> open(const Experiment& experiment) override {
    auto version = find_version(options_.versions, experiment);
    if (!version) return std::move(version).error();
    auto plan = device::make_lane_plan(experiment.lanes, options_.budget);
    if (!plan) return std::move(plan).error();
    auto pool = lane::LanePool::start(
        {.lanes = plan->lanes, .executable = options_.executable, .engines = options_.engines},
        clock_);
    if (!pool) return in_context(std::move(pool), "starting the lanes");
    auto service = service::Service::start(**pool, clock_,
                                           {{.folder = (*version)->folder,
                                             .manifest = (*version)->manifest,
                                             .precision = experiment.precision}},
                                           {.queue_limit = kQueueLimit});
    if (!service) return std::move(service).error();
    auto runner = service::run_lanes_on_thread(**service, (*pool)->lanes());
    if (!runner) return std::move(runner).error();
    auto session = std::make_unique<LanesSession>(*std::move(pool), *std::move(service),
                                                  *std::move(runner), (*version)->manifest);
    if (auto loaded = wait_until_loaded(session->service()); !loaded) {
      return std::move(loaded).error();
    }
    return std::unique_ptr<Session>(std::move(session));
  }

 private:
  Status wait_until_loaded(const service::Service& service) const {
    const Nanos limit = clock_.now() + kLongestLoad;
    while (!service.settled()) {
      if (options_.stop_asked()) return Error{ErrorCode::kCancelled, "stopped while loading"};
      if (clock_.now() > limit) {
        return Error{ErrorCode::kDeadlineExceeded, "the model was not loaded within ten minutes"};
      }
      clock_.sleep_until(clock_.now() + kLookAgain);
    }
    const service::ServedModel model = service.models().front();
    if (model.ready) return {};
    return internal_error(
        fmt::format("{}@{} ({}): {}", model.name, model.version, model.precision, model.reason));
  }

  LanesOptions options_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<SessionOpener> open_lanes(LanesOptions options, const Clock& clock) {
  return std::make_unique<LanesOpener>(std::move(options), clock);
}

Result<const model::Version*> find_version(std::span<const model::Version> versions,
                                           const Experiment& experiment) {
  const auto found =
      std::find_if(versions.begin(), versions.end(), [&](const model::Version& version) {
        return version.manifest.name == experiment.model &&
               version.manifest.version == experiment.version;
      });
  if (found == versions.end()) {
    return not_found(fmt::format("no {}@{}", experiment.model, experiment.version));
  }
  return &*found;
}

}  // namespace corelane::bench
