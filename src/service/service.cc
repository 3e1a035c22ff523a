#include "service/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/lane.h"
#include "lane/pool.h"
#include "model/labels.h"
#include "schedule/cost.h"
#include "service/catalogue.h"
#include "service/change_rules.h"
#include "service/changes.h"
#include "service/dispatcher.h"
#include "service/job.h"
#include "service/served_version.h"
#include "service/signature.h"
#include "service/stats.h"
#include "service/validate.h"

namespace corelane::service {
namespace {

/// Checks versions and reads what belongs to them.
Result<std::vector<std::shared_ptr<ServedVersion>>> prepare(std::vector<VersionToServe> versions) {
  std::vector<std::shared_ptr<ServedVersion>> served;
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
    served.push_back(std::make_shared<ServedVersion>(
        ServedVersion{.manifest = std::move(version.manifest),
                      .signature = *std::move(signature),
                      .precision = version.precision,
                      .folder = std::move(version.folder),
                      .stamp = std::move(version.stamp),
                      .cost = schedule::LinearCost(schedule::assumed_overhead(version.precision)),
                      .labels = *std::move(labels)}));
  }
  return served;
}

void log_freed(const FreedVersion& freed) {
  constexpr double kMiB = 1024.0 * 1024.0;
  std::string line = freed.label + " unloaded";
  for (const LaneMemory& lane : freed.lanes) {
    const double before = static_cast<double>(lane.before.count) / kMiB;
    const double after = static_cast<double>(lane.after.count) / kMiB;
    line +=
        fmt::format("; lane {} gave back {:.1f} MiB of {:.1f}", lane.lane, before - after, before);
  }
  log(LogLevel::kInfo, line);
}

}  // namespace

class Service::Impl {
 public:
  Impl(lane::LanePool& pool, const Clock& clock,
       std::vector<std::shared_ptr<ServedVersion>> versions, const ServiceOptions& options)
      : clock_(clock),
        lanes_(pool.lanes()),
        drivers_(lanes_.size()),
        dispatcher_(lanes_, options.queue_limit),
        changes_(pool, dispatcher_.with([](Dispatcher& held) -> Dispatcher& { return held; }),
                 published_) {
    changes_.begin_with(std::move(versions));
  }

  Result<VersionPtr> find(std::string_view model, std::string_view version) const;
  void submit(Request request, ReplySink& sink);
  void drive(std::size_t lane);
  void expire();
  void change(const std::string& model, std::vector<std::shared_ptr<ServedVersion>> wanted,
              OnChanged done);
  std::vector<ServedModel> models() const;
  bool ready() const;

  std::vector<VersionInChange> in_change() const {
    return dispatcher_.with([&](const Dispatcher&) { return changes_.in_change(); });
  }
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
  /// What a use of the dispatcher leaves to do once its lock is free.
  struct Ends {
    std::vector<FailedJob> failed;
    std::vector<Changes::Ended> changed;
  };

  std::shared_ptr<const Catalogue> catalogue() const {
    return published_.with([](const auto& published) { return published; });
  }
  bool try_to_submit(const VersionPtr& version, Request& request, ReplySink& sink);
  void batch_ended(std::size_t lane, const lane::BatchDone& done);
  void take_ends(Dispatcher& dispatcher, Nanos now, Ends& ends);
  void tell(Ends ends);
  void answer(Driver& driver, const Running& batch, const lane::BatchDone& done,
              lane::LaneId lane) const;

  const Clock& clock_;
  std::span<lane::Lane* const> lanes_;
  std::vector<Driver> drivers_;
  Guarded<std::shared_ptr<const Catalogue>> published_;
  Guarded<Dispatcher> dispatcher_;
  Changes changes_;        // by the dispatcher's lock
  bool draining_ = false;  // by the dispatcher's lock
};

Result<VersionPtr> Service::Impl::find(std::string_view model, std::string_view version) const {
  const auto served = catalogue();
  if (version.empty() && served->of(model).size() > 1) {
    const VersionPtr ready = dispatcher_.with([&](const Dispatcher& dispatcher) -> VersionPtr {
      for (const VersionPtr& each : served->of(model)) {
        if (dispatcher.accepts(*each) && dispatcher.ready(*each)) return each;
      }
      return nullptr;
    });
    if (ready) return ready;
  }
  return served->find(model, version);
}

void Service::Impl::submit(Request request, ReplySink& sink) {
  for (;;) {
    auto version = find(request.model, request.version);
    if (!version) return sink.reply({.status = std::move(version).error()});
    // Not when another build took its place meanwhile: then that one can be found.
    if (try_to_submit(*version, request, sink)) return;
  }
}

bool Service::Impl::try_to_submit(const VersionPtr& version, Request& request, ReplySink& sink) {
  auto valid = validate(request, version->signature);
  if (!valid) {
    dispatcher_.with(
        [&](Dispatcher& dispatcher) { dispatcher.count_refusal(*version, valid.error().code); });
    sink.reply({.status = std::move(valid).error(), .version = &version->manifest});
    return true;
  }
  const Nanos now = clock_.now();
  Nanos retry_after{};
  Ends ends;
  bool current = true;
  Status status = dispatcher_.with([&](Dispatcher& dispatcher) -> Status {
    current = dispatcher.accepts(*version);
    if (!current) return {};
    JobPtr job = dispatcher.new_job();
    job->waiting = {.rows = valid->rows, .sizes = valid->sizes, .since = now};
    job->request = std::move(request);
    job->valid = *std::move(valid);
    job->version = version;
    job->sink = &sink;
    job->timing = {.accepted = now};
    job->losses = 0;
    Status accepted =
        draining_ ? Status(unavailable("the server is shutting down")) : dispatcher.accept(job);
    if (!accepted) {
      dispatcher.count_refusal(*version, accepted.error().code);
      retry_after = dispatcher.expected_wait(*version);
    }
    take_ends(dispatcher, now, ends);
    return accepted;
  });
  if (!current) return false;
  tell(std::move(ends));
  if (!status) {
    sink.reply(
        {.status = std::move(status), .version = &version->manifest, .retry_after = retry_after});
  }
  return true;
}

void Service::Impl::take_ends(Dispatcher& dispatcher, Nanos now, Ends& ends) {
  ends.failed = dispatcher.take_failed(now);
  if (!changes_.idle()) changes_.advance(ends.changed);
}

void Service::Impl::change(const std::string& model,
                           std::vector<std::shared_ptr<ServedVersion>> wanted, OnChanged done) {
  Ends ends;
  dispatcher_.with([&](Dispatcher&) {
    changes_.ask(model, std::move(wanted), std::move(done));
    changes_.advance(ends.changed);
  });
  tell(std::move(ends));
}

void Service::Impl::drive(std::size_t index) {
  while (auto event = lanes_[index]->next_event()) {
    if (const auto* done = std::get_if<lane::BatchDone>(&*event)) {
      batch_ended(index, *done);
      continue;
    }
    const Nanos now = clock_.now();
    Ends ends;
    dispatcher_.with([&](Dispatcher& dispatcher) {
      if (const auto* loaded = std::get_if<lane::ModelLoaded>(&*event)) {
        dispatcher.load_ended(index, *loaded);
      } else if (const auto* unloaded = std::get_if<lane::ModelUnloaded>(&*event)) {
        dispatcher.unload_ended(index, *unloaded);
      } else if (const auto* up = std::get_if<lane::LaneUp>(&*event)) {
        dispatcher.lane_up(index, *up);
      } else if (const auto* down = std::get_if<lane::LaneDown>(&*event)) {
        dispatcher.lane_down(index, *down);
      }
      take_ends(dispatcher, now, ends);
    });
    tell(std::move(ends));
  }
}

void Service::Impl::batch_ended(std::size_t index, const lane::BatchDone& done) {
  Ends ends;
  Running batch = dispatcher_.with([&](Dispatcher& dispatcher) {
    Running ended = dispatcher.finish(index, done);
    take_ends(dispatcher, done.timing.written, ends);
    return ended;
  });
  answer(drivers_[index], batch, done, lanes_[index]->info().id);
  lanes_[index]->release(done.batch);
  for (JobPtr& job : batch.jobs) job->request.storage.clear();
  dispatcher_.with([&](Dispatcher& dispatcher) {
    dispatcher.recycle(std::move(batch.jobs));
    dispatcher.released(index);
  });
  tell(std::move(ends));
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

void Service::Impl::tell(Ends ends) {
  for (FailedJob& ended : ends.failed) {
    ended.job->sink->reply({.status = std::move(ended.error),
                            .version = &ended.job->version->manifest,
                            .timing = ended.job->timing});
  }
  for (const Changes::Ended& change : ends.changed) {
    for (const FreedVersion& freed : change.report.freed) log_freed(freed);
    if (change.tell) change.tell(change.report);
  }
}

void Service::Impl::expire() {
  const Nanos now = clock_.now();
  Ends ends;
  dispatcher_.with([&](Dispatcher& dispatcher) {
    dispatcher.expire(now);
    take_ends(dispatcher, now, ends);
  });
  tell(std::move(ends));
}

std::vector<ServedModel> Service::Impl::models() const {
  const auto served = catalogue();
  return dispatcher_.with([&](const Dispatcher& dispatcher) {
    std::vector<ServedModel> all;
    for (const auto& version : served->all()) {
      if (!dispatcher.accepts(*version)) continue;  // gone since
      all.push_back({.name = version->manifest.name,
                     .version = version->manifest.version,
                     .precision = version->precision,
                     .stamp = version->stamp,
                     .ready = dispatcher.ready(*version),
                     .reason = dispatcher.why_not_ready(*version),
                     .report = dispatcher.report(*version)});
    }
    return all;
  });
}

bool Service::Impl::ready() const {
  return dispatcher_.with([&](const Dispatcher& dispatcher) {
    // Read with the lock held that changes are made with: all of these are in place.
    const auto served = catalogue();
    return !draining_ &&
           std::all_of(served->all().begin(), served->all().end(),
                       [&](const VersionPtr& version) { return dispatcher.ready(*version); });
  });
}

Service::Service(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Service::~Service() = default;

Result<std::unique_ptr<Service>> Service::start(lane::LanePool& pool, const Clock& clock,
                                                std::vector<VersionToServe> versions,
                                                const ServiceOptions& options) {
  auto served = prepare(std::move(versions));
  if (!served) return std::move(served).error();
  return std::unique_ptr<Service>(
      new Service(std::make_unique<Impl>(pool, clock, *std::move(served), options)));
}

void Service::change(const std::string& model, std::vector<VersionToServe> versions,
                     OnChanged done) {
  auto wanted = prepare(std::move(versions));
  if (!wanted) return done({.status = std::move(wanted).error()});
  impl_->change(model, *std::move(wanted), std::move(done));
}

void Service::submit(Request request, ReplySink& sink) { impl_->submit(std::move(request), sink); }
void Service::expire() { impl_->expire(); }
void Service::drive(lane::LaneId lane) { impl_->drive(static_cast<std::size_t>(lane)); }

Result<std::shared_ptr<const model::Manifest>> Service::find(std::string_view model,
                                                             std::string_view version) const {
  auto found = impl_->find(model, version);
  if (!found) return std::move(found).error();
  return std::shared_ptr<const model::Manifest>(*found, &(*found)->manifest);
}

std::vector<ServedModel> Service::models() const { return impl_->models(); }
std::vector<VersionInChange> Service::in_change() const { return impl_->in_change(); }
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
