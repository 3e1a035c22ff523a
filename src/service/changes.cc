#include "service/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "service/catalogue.h"
#include "service/change_rules.h"
#include "service/dispatcher.h"
#include "service/served_version.h"

namespace corelane::service {
namespace {

template <typename Pointer>
std::vector<VersionKey> keys_of(const std::vector<Pointer>& versions) {
  std::vector<VersionKey> keys;
  for (const auto& version : versions) {
    keys.push_back({.version = version->manifest.version,
                    .precision = version->precision,
                    .stamp = version->stamp});
  }
  return keys;
}

}  // namespace

Changes::Changes(lane::LanePool& pool, Dispatcher& dispatcher,
                 Guarded<std::shared_ptr<const Catalogue>>& published)
    : pool_(pool),
      dispatcher_(dispatcher),
      published_(published),
      catalogue_(std::make_shared<const Catalogue>()) {
  for (const lane::Lane* lane : pool.lanes()) lanes_.push_back(lane->info().id);
}

VersionPtr Changes::load(const std::shared_ptr<ServedVersion>& version) {
  const lane::SlotId slot =
      pool_.load({.folder = version->folder, .precision = version->precision}, lanes_);
  return dispatcher_.add(version, slot);
}

void Changes::begin_with(std::vector<std::shared_ptr<ServedVersion>> versions) {
  std::vector<VersionPtr> served;
  for (const auto& version : versions) served.push_back(load(version));
  catalogue_ = std::make_shared<const Catalogue>(std::move(served));
  published_.with([&](auto& published) { published = catalogue_; });
}

void Changes::ask(std::string model, std::vector<std::shared_ptr<ServedVersion>> wanted,
                  OnChanged done) {
  changes_.push_back(
      {.model = std::move(model), .wanted = std::move(wanted), .done = std::move(done)});
}

bool Changes::must_wait(const Change& change) const {
  for (const Change& earlier : changes_) {
    if (&earlier == &change) return false;
    if (earlier.model == change.model &&
        (earlier.phase == Phase::kWaiting || earlier.phase == Phase::kLoading)) {
      return true;
    }
  }
  return false;
}

void Changes::advance(std::vector<Ended>& ended) {
  for (Change& change : changes_) {
    if (change.phase == Phase::kWaiting && !must_wait(change)) begin(change);
    if (change.phase == Phase::kLoading) look_at_loads(change, ended);
    if (change.phase == Phase::kFreeing) {
      free_versions(change);
      if (change.phase == Phase::kDone) end(change, ended);
    }
  }
  std::erase_if(changes_, [](const Change& change) { return change.phase == Phase::kDone; });
}

void Changes::begin(Change& change) {
  const std::vector<VersionPtr> served = catalogue_->of(change.model);
  const ChangePlan plan = plan_change(keys_of(served), keys_of(change.wanted));
  for (const std::size_t place : plan.keep) change.keep.push_back(served[place]);
  for (const std::size_t place : plan.retire) change.freeing.push_back(served[place]);
  for (const std::size_t place : plan.load) change.loading.push_back(load(change.wanted[place]));
  change.phase = Phase::kLoading;
}

void Changes::look_at_loads(Change& change, std::vector<Ended>& ended) {
  std::string reasons;
  for (const VersionPtr& version : change.loading) {
    const LoadDecision decision = decide_load(dispatcher_.loads(*version));
    if (decision.next == LoadDecision::Next::kWait) return;
    if (decision.next == LoadDecision::Next::kServe) continue;
    reasons += fmt::format("{}{} ({}): {}", reasons.empty() ? "" : "; ", version->signature.label,
                           version->precision, decision.reason);
  }
  change.phase = Phase::kFreeing;
  if (reasons.empty()) {
    swap(change);
  } else {
    change.report.status = Error{ErrorCode::kInvalidArgument, reasons};
    for (const VersionPtr& version : change.loading) dispatcher_.retire(*version);
    change.freeing = std::exchange(change.loading, {});
  }
  // Who asked for versions hears as soon as they serve or never will; who asked for none, once the
  // memory is back.
  if (!change.wanted.empty()) end(change, ended);
}

void Changes::swap(Change& change) {
  std::vector<VersionPtr> now = change.keep;
  now.insert(now.end(), change.loading.begin(), change.loading.end());
  catalogue_ = std::make_shared<const Catalogue>(catalogue_->with(change.model, now));
  // First the new ones can be found, then the old ones refuse: who finds an old one refused looks
  // again and finds a new one.
  published_.with([&](auto& published) { published = catalogue_; });
  for (const VersionPtr& version : change.freeing) dispatcher_.retire(*version);
  change.loading.clear();
}

void Changes::free_versions(Change& change) {
  std::erase_if(change.freeing, [&](const VersionPtr& version) {
    if (!dispatcher_.drained(*version)) return false;
    dispatcher_.unloading(*version);
    pool_.unload(version->slot);
    change.unloading.push_back(version);
    return true;
  });
  std::erase_if(change.unloading, [&](const VersionPtr& version) {
    if (!dispatcher_.gone(*version)) return false;
    change.report.freed.push_back(
        {.label = version->signature.label, .lanes = dispatcher_.given_back(*version)});
    dispatcher_.remove(*version);
    return true;
  });
  if (change.freeing.empty() && change.unloading.empty()) change.phase = Phase::kDone;
}

void Changes::end(Change& change, std::vector<Ended>& ended) {
  ended.push_back(
      {.tell = std::exchange(change.done, nullptr), .report = std::exchange(change.report, {})});
}

std::vector<VersionInChange> Changes::in_change() const {
  std::vector<VersionInChange> all;
  const auto add = [&](const std::vector<VersionPtr>& versions, VersionInChange::Doing doing) {
    for (const VersionPtr& version : versions) {
      all.push_back(
          {.name = version->manifest.name, .version = version->manifest.version, .doing = doing});
    }
  };
  for (const Change& change : changes_) {
    add(change.loading, VersionInChange::Doing::kLoading);
    if (change.phase != Phase::kFreeing) continue;
    add(change.freeing, VersionInChange::Doing::kUnloading);
    add(change.unloading, VersionInChange::Doing::kUnloading);
  }
  return all;
}

}  // namespace corelane::service
