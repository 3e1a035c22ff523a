#include "serve/model_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "model/repository.h"
#include "serve/model_source.h"
#include "service/service.h"
#include "wire/v2_repository.h"

namespace corelane::serve {
namespace {

constexpr std::size_t kMostTasks = 256;

std::string freed_json(const service::ChangeReport& report) {
  std::vector<wire::FreedMemory> freed;
  for (const service::FreedVersion& version : report.freed) {
    for (const service::LaneMemory& lane : version.lanes) {
      freed.push_back({.version = version.label,
                       .lane = lane.lane,
                       .before = lane.before,
                       .after = lane.after});
    }
  }
  return wire::write_freed(freed);
}

}  // namespace

ModelKeeper::ModelKeeper(service::Service& service, ModelSource source)
    : service_(service), source_(std::move(source)), thread_([this] { run(); }) {}

ModelKeeper::~ModelKeeper() {
  work_.with([](Work& work) { work.stop = true; });
  work_.notify_all();
}

void ModelKeeper::post(Task task, const Done& done) {
  const bool taken = work_.with([&](Work& work) {
    if (work.tasks.size() >= kMostTasks) return false;
    work.tasks.push_back(std::move(task));
    return true;
  });
  work_.notify_all();
  if (!taken) done(unavailable("too many changes of models wait"));
}

void ModelKeeper::run() {
  for (;;) {
    Task task = work_.when([](const Work& work) { return work.stop || !work.tasks.empty(); },
                           [](Work& work) {
                             if (work.stop) return Task();
                             Task first = std::move(work.tasks.front());
                             work.tasks.pop_front();
                             return first;
                           });
    if (!task) return;
    task();
  }
}

void ModelKeeper::load(std::string model, Done done) {
  post([this, model = std::move(model), done] { load_now(model, done); }, done);
}

void ModelKeeper::unload(std::string model, Done done) {
  post([this, model = std::move(model), done] { unload_now(model, done); }, done);
}

void ModelKeeper::index(bool only_ready, Done done) {
  post(
      [this, only_ready, done] {
        auto entries = list();
        if (only_ready) {
          std::erase_if(entries, [](const auto& entry) { return entry.state != "READY"; });
        }
        done(wire::write_repository_index(entries));
      },
      done);
}

void ModelKeeper::load_now(const std::string& model, const Done& done) {
  auto version = source_.newest(model);
  if (!version) {
    return done(invalid_argument(fmt::format("loading {}: {}", model, version.error().message)));
  }
  seen_[model].tried = version->stamp;
  const std::string label = fmt::format("{}@{}", model, version->manifest.version);
  std::vector<service::VersionToServe> wanted;
  wanted.push_back(*std::move(version));
  service_.change(model, std::move(wanted),
                  [this, model, label, done](const service::ChangeReport& report) {
                    if (report.status) {
                      log(LogLevel::kInfo, label + " loaded");
                      return done(std::string());
                    }
                    const std::string& why = report.status.error().message;
                    note(model, why);
                    log(LogLevel::kWarning, fmt::format("loading {}: {}", model, why));
                    done(invalid_argument(fmt::format("loading {}: {}", model, why)));
                  });
}

void ModelKeeper::unload_now(const std::string& model, const Done& done) {
  const auto served = service_.models();
  if (std::none_of(served.begin(), served.end(),
                   [&](const auto& each) { return each.name == model; })) {
    return done(invalid_argument(fmt::format("unloading {}: it is not loaded", model)));
  }
  note(model, "unloaded");
  service_.change(model, {},
                  [done](const service::ChangeReport& report) { done(freed_json(report)); });
}

std::vector<wire::RepositoryEntry> ModelKeeper::list() const {
  std::vector<wire::RepositoryEntry> entries;
  const auto add = [&](wire::RepositoryEntry entry) {
    const bool there = std::any_of(entries.begin(), entries.end(), [&](const auto& other) {
      return other.name == entry.name && other.version == entry.version;
    });
    if (!there) entries.push_back(std::move(entry));
  };
  for (const service::ServedModel& model : service_.models()) {
    add({.name = model.name,
         .version = model.version,
         .state = model.ready ? "READY" : "UNAVAILABLE",
         .reason = model.reason});
  }
  for (const service::VersionInChange& version : service_.in_change()) {
    const bool loading = version.doing == service::VersionInChange::Doing::kLoading;
    add({.name = version.name,
         .version = version.version,
         .state = loading ? "LOADING" : "UNLOADING"});
  }
  const auto scan = source_.scan();
  if (!scan) return entries;
  const Reasons reasons = reasons_.with([](const Reasons& all) { return all; });
  for (const model::Version& version : scan->versions) {
    const auto reason = reasons.find(version.manifest.name);
    add({.name = version.manifest.name,
         .version = version.manifest.version,
         .state = "UNAVAILABLE",
         .reason = reason == reasons.end() ? "not loaded" : reason->second});
  }
  return entries;
}

void ModelKeeper::look_for_changes() {
  post([this] { look(); }, [](const Result<std::string>&) {});
}

void ModelKeeper::look() {
  std::map<std::string, std::set<std::string>> served;
  for (const service::ServedModel& model : service_.models()) {
    served[model.name].insert(model.stamp);
  }
  for (const auto& [name, stamps] : served) {
    auto version = source_.newest(name);
    if (!version) continue;  // half written, or gone: what runs runs on
    Seen& seen = seen_[name];
    const bool still = seen.at_last_look == version->stamp;
    seen.at_last_look = version->stamp;
    if (stamps.contains(version->stamp) || seen.tried == version->stamp || !still) continue;
    load_now(name, [](const Result<std::string>&) {});
  }
}

}  // namespace corelane::serve
