#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/guarded.h"
#include "base/result.h"
#include "lane/lane.h"
#include "lane/pool.h"
#include "service/catalogue.h"
#include "service/dispatcher.h"
#include "service/service.h"

namespace corelane::service {

/// Carries out changes of what is served, step by step as the lanes answer: load beside what runs,
/// swap, drain, unload. What to do stands in change_rules.h.
///
/// One change of a model loads at a time; another waits for it, and is planned from what it left.
/// Draining holds nobody up. Thread-compatible: the service calls it with the dispatcher's lock
/// held, calls advance() after whatever may have moved a change, and tells who asked once the lock
/// is free again.
class Changes {
 public:
  /// Everything is borrowed.
  Changes(lane::LanePool& pool, Dispatcher& dispatcher,
          Guarded<std::shared_ptr<const Catalogue>>& published);

  /// A change that has ended, for whoever asked.
  struct Ended {
    OnChanged tell;
    ChangeReport report;
  };

  /// The versions are served from now on, ready or not: how a service starts.
  void begin_with(std::vector<std::shared_ptr<ServedVersion>> versions);
  void ask(std::string model, std::vector<std::shared_ptr<ServedVersion>> wanted, OnChanged done);
  void advance(std::vector<Ended>& ended);
  bool idle() const { return changes_.empty(); }
  /// Versions that are not served: those that are being loaded, those that drain or unload.
  std::vector<VersionInChange> in_change() const;

 private:
  enum class Phase { kWaiting, kLoading, kFreeing, kDone };
  struct Change {
    std::string model;
    std::vector<std::shared_ptr<ServedVersion>> wanted;
    OnChanged done;
    Phase phase = Phase::kWaiting;
    std::vector<VersionPtr> keep{};
    std::vector<VersionPtr> loading{};
    std::vector<VersionPtr> freeing{};    // not yet asked of the lanes
    std::vector<VersionPtr> unloading{};  // asked of the lanes
    ChangeReport report{};
  };

  VersionPtr load(const std::shared_ptr<ServedVersion>& version);
  bool must_wait(const Change& change) const;
  void begin(Change& change);
  void look_at_loads(Change& change, std::vector<Ended>& ended);
  void swap(Change& change);
  void free_versions(Change& change);
  static void end(Change& change, std::vector<Ended>& ended);

  lane::LanePool& pool_;
  std::vector<lane::LaneId> lanes_;
  Dispatcher& dispatcher_;
  Guarded<std::shared_ptr<const Catalogue>>& published_;
  std::shared_ptr<const Catalogue> catalogue_;  // what is published
  std::deque<Change> changes_;                  // in the order asked
};

}  // namespace corelane::service
