#include "service/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/lane.h"
#include "lane/pool.h"
#include "model/labels.h"
#include "schedule/cost.h"
#include "service/dispatcher.h"
#include "service/job.h"
#include "service/served_version.h"
#include "service/signature.h"
#include "service/stats.h"
#include "service/validate.h"

namespace corelane::service {

class Service::Impl {
 public:
  Impl(lane::LanePool& pool, const Clock& clock,
       std::vector<std::unique_ptr<ServedVersion>> versions, const ServiceOptions& options)
      : clock_(clock),
        lanes_(pool.lanes()),
        versions_(std::move(versions)),
        drivers_(lanes_.size()),
        dispatcher_(lanes_, versions_, options.queue_limit) {
    for (const auto& version : versions_) {
      by_name_[version->manifest.name].push_back(version.get());
    }
    for (auto& [name, all] : by_name_) {
      std::sort(all.begin(), all.end(), [](const ServedVersion* a, const ServedVersion* b) {
        return a->manifest.version > b->manifest.version;
      });
    }
  }

  Result<const ServedVersion*> find(std::string_view model, std::string_view version) const;
  void submit(Request request, ReplySink& sink);
  void drive(std::size_t lane);
  void expire();
  std::vector<ServedModel> models() const;
  bool ready() const;

  void drain() {
    dispatcher_.with([&](Dispatcher&) { draining_ = true; });
  }
  template <typename Ask>
  auto ask(Ask&& question) const {
    return dispatcher_.with(std::forward<Ask>(question));
  }

 private:
  /// What the thread that drives a lane keeps from batch to batch.
  struct Driver {
    std::vector<OutputTensor> outputs;
  };

  std::string served_names() const;
  void batch_ended(std::size_t lane, const lane::BatchDone& done);
  void answer(Driver& driver, const Running& batch, const lane::BatchDone& done,
              lane::LaneId lane) const;
  void answer_failed(std::vector<FailedJob> failed);

  const Clock& clock_;
  std::span<lane::Lane* const> lanes_;
  std::vector<std::unique_ptr<ServedVersion>> versions_;
  std::map<std::string, std::vector<const ServedVersion*>, std::less<>> by_name_;  // newest first
  std::vector<Driver> drivers_;
  Guarded<Dispatcher> dispatcher_;
  bool draining_ = false;  // by the dispatcher's lock
};

Result<const ServedVersion*> Service::Impl::find(std::string_view model,
                                                 std::string_view version) const {
  const auto named = by_name_.find(model);
  if (named == by_name_.end()) {
    return not_found(
        fmt::format("model '{}' is not served here; served: {}", model, served_names()));
  }
  if (version.empty()) return named->second.front();
  std::int64_t number = 0;
  const auto [end, error] =
      std::from_chars(version.data(), version.data() + version.size(), number);
  if (error != std::errc() || end != version.data() + version.size() || version.front() == '-') {
    return invalid_argument(fmt::format("version '{}' is not a number", version));
  }
  for (const ServedVersion* served : named->second) {
    if (served->manifest.version == number) return served;
  }
  return not_found(
      fmt::format("model '{}' has no version {} here; served: {}", model, number, served_names()));
}

std::string Service::Impl::served_names() const {
  std::string names;
  for (const auto& version : versions_) {
    if (!names.empty()) names += ", ";
    names += version->signature.label;
  }
  return names.empty() ? "nothing" : names;
}

void Service::Impl::submit(Request request, ReplySink& sink) {
  auto version = find(request.model, request.version);
  if (!version) return sink.reply({.status = std::move(version).error()});
  auto valid = validate(request, (*version)->signature);
  if (!valid) {
    dispatcher_.with(
        [&](Dispatcher& dispatcher) { dispatcher.count_refusal(**version, valid.error().code); });
    return sink.reply({.status = std::move(valid).error(), .version = &(*version)->manifest});
  }
  const Nanos now = clock_.now();
  Nanos retry_after{};
  std::vector<FailedJob> failed;
  Status status = dispatcher_.with([&](Dispatcher& dispatcher) -> Status {
    JobPtr job = dispatcher.new_job();
    job->waiting = {.rows = valid->rows, .sizes = valid->sizes, .since = now};
    job->request = std::move(request);
    job->valid = *std::move(valid);
    job->version = *version;
    job->sink = &sink;
    job->timing = {.accepted = now};
    job->losses = 0;
    Status accepted =
        draining_ ? Status(unavailable("the server is shutting down")) : dispatcher.accept(job);
    if (!accepted) {
      dispatcher.count_refusal(**version, accepted.error().code);
      retry_after = dispatcher.expected_wait(**version);
    }
    failed = dispatcher.take_failed(now);
    return accepted;
  });
  if (!failed.empty()) answer_failed(std::move(failed));
  if (status) return;
  sink.reply(
      {.status = std::move(status), .version = &(*version)->manifest, .retry_after = retry_after});
}

void Service::Impl::drive(std::size_t index) {
  while (auto event = lanes_[index]->next_event()) {
    if (const auto* done = std::get_if<lane::BatchDone>(&*event)) {
      batch_ended(index, *done);
      continue;
    }
    const Nanos now = clock_.now();
    auto failed = dispatcher_.with([&](Dispatcher& dispatcher) {
      if (const auto* loaded = std::get_if<lane::ModelLoaded>(&*event)) {
        dispatcher.load_ended(index, *loaded);
      } else if (const auto* up = std::get_if<lane::LaneUp>(&*event)) {
        dispatcher.lane_up(index, *up);
      } else if (const auto* down = std::get_if<lane::LaneDown>(&*event)) {
        dispatcher.lane_down(index, *down);
      }
      return dispatcher.take_failed(now);
    });
    answer_failed(std::move(failed));
  }
}

void Service::Impl::batch_ended(std::size_t index, const lane::BatchDone& done) {
  std::vector<FailedJob> failed;
  Running batch = dispatcher_.with([&](Dispatcher& dispatcher) {
    Running ended = dispatcher.finish(index, done);
    failed = dispatcher.take_failed(done.timing.written);
    return ended;
  });
  answer(drivers_[index], batch, done, lanes_[index]->info().id);
  lanes_[index]->release(done.batch);
  for (JobPtr& job : batch.jobs) job->request.storage.clear();
  dispatcher_.with([&](Dispatcher& dispatcher) {
    dispatcher.recycle(std::move(batch.jobs));
    dispatcher.released(index);
  });
  if (!failed.empty()) answer_failed(std::move(failed));
}

void Service::Impl::answer(Driver& driver, const Running& batch, const lane::BatchDone& done,
                           lane::LaneId lane) const {
  const ServedVersion& version = *batch.version;
  for (std::size_t member = 0; member < batch.jobs.size(); ++member) {
    Job& job = *batch.jobs[member];
    driver.outputs.clear();
    if (done.status) {
      for (const std::uint32_t output : job.valid.outputs) {
        driver.outputs.push_back({.name = version.signature.outputs[output],
                                  .tensor = done.outputs[member * done.outputs_per_member + output],
                                  .labels = version.labels[output]});
      }
    }
    job.timing.worker = done.timing;
    job.timing.batch_rows = static_cast<std::uint32_t>(batch.rows);
    job.timing.lane = lane;
    job.sink->reply({.status = done.status,
                     .version = &version.manifest,
                     .outputs = driver.outputs,
                     .timing = job.timing});
  }
}

void Service::Impl::answer_failed(std::vector<FailedJob> failed) {
  for (FailedJob& ended : failed) {
    ended.job->sink->reply({.status = std::move(ended.error),
                            .version = &ended.job->version->manifest,
                            .timing = ended.job->timing});
  }
}

void Service::Impl::expire() {
  const Nanos now = clock_.now();
  answer_failed(dispatcher_.with([&](Dispatcher& dispatcher) {
    dispatcher.expire(now);
    return dispatcher.take_failed(now);
  }));
}

std::vector<ServedModel> Service::Impl::models() const {
  return dispatcher_.with([&](const Dispatcher& dispatcher) {
    std::vector<ServedModel> all;
    for (const auto& version : versions_) {
      all.push_back({.name = version->manifest.name,
                     .version = version->manifest.version,
                     .precision = version->precision,
                     .ready = dispatcher.ready(*version),
                     .reason = dispatcher.why_not_ready(*version),
                     .report = dispatcher.report(*version)});
    }
    return all;
  });
}

bool Service::Impl::ready() const {
  return dispatcher_.with([&](const Dispatcher& dispatcher) {
    return !draining_ && std::all_of(versions_.begin(), versions_.end(), [&](const auto& version) {
      return dispatcher.ready(*version);
    });
  });
}

Service::Service(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Service::~Service() = default;

Result<std::unique_ptr<Service>> Service::start(lane::LanePool& pool, const Clock& clock,
                                                std::vector<VersionToServe> versions,
                                                const ServiceOptions& options) {
  std::vector<std::unique_ptr<ServedVersion>> served;
  for (VersionToServe& version : versions) {
    auto signature = make_signature(version.manifest);
    if (!signature) return std::move(signature).error();
    for (const auto& other : served) {
      if (other->signature.label == signature->label) {
        return Error{ErrorCode::kAlreadyExists, signature->label + " is to be served twice"};
      }
    }
    auto labels = model::read_labels(version.manifest, version.folder);
    if (!labels) return in_context(std::move(labels), signature->label);
    served.push_back(std::make_unique<ServedVersion>(
        ServedVersion{.manifest = std::move(version.manifest),
                      .signature = *std::move(signature),
                      .precision = version.precision,
                      .index = served.size(),
                      .overhead = schedule::assumed_overhead(version.precision),
                      .labels = *std::move(labels)}));
  }
  std::vector<lane::LaneId> all_lanes;
  for (const lane::Lane* lane : pool.lanes()) all_lanes.push_back(lane->info().id);
  for (std::size_t i = 0; i < served.size(); ++i) {
    served[i]->slot =
        pool.load({.folder = versions[i].folder, .precision = versions[i].precision}, all_lanes);
  }
  return std::unique_ptr<Service>(
      new Service(std::make_unique<Impl>(pool, clock, std::move(served), options)));
}

void Service::submit(Request request, ReplySink& sink) { impl_->submit(std::move(request), sink); }
void Service::expire() { impl_->expire(); }
void Service::drive(lane::LaneId lane) { impl_->drive(static_cast<std::size_t>(lane)); }

Result<const model::Manifest*> Service::find(std::string_view model,
                                             std::string_view version) const {
  auto found = impl_->find(model, version);
  if (!found) return std::move(found).error();
  return &(*found)->manifest;
}

std::vector<ServedModel> Service::models() const { return impl_->models(); }
bool Service::ready() const { return impl_->ready(); }
bool Service::settled() const {
  return impl_->ask([](const Dispatcher& d) { return d.settled(); });
}
void Service::drain() { impl_->drain(); }
std::size_t Service::unanswered() const {
  return impl_->ask([](const Dispatcher& d) { return d.unanswered(); });
}
ServiceStats Service::stats() const {
  return impl_->ask([](const Dispatcher& d) { return d.stats(); });
}

}  // namespace corelane::service
