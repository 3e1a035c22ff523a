#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "lane/lane.h"
#include "schedule/choose_batch.h"
#include "schedule/poison.h"
#include "service/change_rules.h"
#include "service/job.h"
#include "service/queue.h"
#include "service/stats.h"

namespace corelane::service {

/// What one lane holds and does, as the service knows it from the lane's events.
struct LaneState {
  /// kAbsent: not asked to load it; kUnloading: asked to give it back.
  enum class Load { kAbsent, kPending, kLoaded, kFailed, kUnloading };

  lane::Lane* lane = nullptr;
  bool up = false;
  bool was_up = false;
  std::string why_down = "starting";
  std::size_t deaths_before_up = 0;
  std::vector<Load> loads;           // of each version
  std::vector<std::string> reasons;  // why a load failed
  std::vector<std::string> reports;  // what the engine loaded
  std::optional<Running> running;
  std::size_t unreleased = 0;
  LaneStats stats;
};

/// A worker that has died this often since it was last up stays away.
inline constexpr std::size_t kHopeless = 3;

/// Queues, lanes and what runs where: the state of the service. It decides nothing itself (that is
/// schedule/) and answers nobody (that is Service, once the lock is free again).
/// Thread-compatible: the service calls it with its lock held, so lanes are dispatched to by one
/// thread at a time.
class Dispatcher {
 public:
  Dispatcher(std::span<lane::Lane* const> lanes, std::size_t queue_limit);

  /// A version that all lanes have been asked to load as `slot`; from now on it can be accepted.
  /// Counts go on where an earlier version of that name and number ended.
  std::shared_ptr<const ServedVersion> add(std::shared_ptr<ServedVersion> version,
                                           lane::SlotId slot);
  /// No request of it is accepted from now on.
  void retire(const ServedVersion& version) { of(version).retired = true; }
  bool accepts(const ServedVersion& version) const;
  /// Nothing of it waits or runs.
  bool drained(const ServedVersion& version) const;
  /// Its lanes are being asked to give it back. Precondition: retired and drained.
  void unloading(const ServedVersion& version);
  /// No lane has it any more, or will.
  bool gone(const ServedVersion& version) const;
  /// Its place is free. Precondition: gone.
  void remove(const ServedVersion& version);
  /// What each lane says of loading it.
  std::vector<LaneLoad> loads(const ServedVersion& version) const;
  /// What the lanes gave back so far.
  std::vector<LaneMemory> given_back(const ServedVersion& version) const;

  /// A job to fill, from those that have ended where there is one.
  JobPtr new_job();
  void recycle(std::vector<JobPtr>&& jobs);

  /// Queues the job and starts it at once where a lane is idle, or says why not and leaves it with
  /// the caller.
  Status accept(JobPtr& job);
  /// How long a request would wait behind those that wait now; 0: not known.
  Nanos expected_wait(const ServedVersion& version) const;

  /// The batch has ended on the lane; the lane has its next one when this returns. The caller
  /// answers, releases and calls released().
  Running finish(std::size_t lane, const lane::BatchDone& done);
  void released(std::size_t lane);

  void load_ended(std::size_t lane, const lane::ModelLoaded& loaded);
  void unload_ended(std::size_t lane, const lane::ModelUnloaded& unloaded);
  void lane_up(std::size_t lane, const lane::LaneUp& up);
  /// What the worker held is queued again, in front, or given up.
  void lane_down(std::size_t lane, const lane::LaneDown& down);

  /// Ends the jobs that wait and whose deadline has come. Cheap where none has.
  void expire(Nanos now);

  /// Jobs that have ended with an error inside the calls above, for the caller to answer. `now`,
  /// or shortly before, is when they ended.
  std::vector<FailedJob> take_failed(Nanos now);

  void count_refusal(const ServedVersion& version, ErrorCode code);
  /// A lane that is up has loaded the version.
  bool ready(const ServedVersion& version) const;
  /// Why ready() does not hold; empty where it does.
  std::string why_not_ready(const ServedVersion& version) const;
  /// What the engine of the first lane that has loaded the version says; empty before.
  std::string report(const ServedVersion& version) const;
  bool settled() const;
  std::size_t unanswered() const { return unanswered_; }
  ServiceStats stats() const;

 private:
  struct Entry {
    std::shared_ptr<const ServedVersion> version;
    VersionStats* stats = nullptr;
    bool retired = false;
    Queue queue{};
    Nanos time_per_request{};  // smoothed, on one lane
    std::vector<LaneMemory> given_back{};
  };

  Entry& of(const ServedVersion& version) { return *entries_[version.index]; }
  const Entry& of(const ServedVersion& version) const { return *entries_[version.index]; }
  VersionStats& counts_of(const ServedVersion& version);
  bool serves(const LaneState& lane, const ServedVersion& version) const;
  bool can_take(const LaneState& lane) const;
  std::size_t count_live(const ServedVersion& version) const;
  bool runs(const LaneState& lane, const ServedVersion& version) const;
  std::size_t count_sharing(const ServedVersion& version) const;
  std::int64_t running_rows(const ServedVersion& version) const;
  bool may_come_up(const ServedVersion& version) const;
  void feed(std::size_t lane);
  void feed_all();
  bool start_batch(std::size_t lane, const ServedVersion& version);
  bool hand_over(std::size_t lane, Running& batch);
  void put_back(std::vector<JobPtr>&& jobs);
  void queue_again(JobPtr job);
  void fail(JobPtr job, Error error);
  Status refuse_poison(const Job& job);
  void note_run(const Running& batch, const lane::BatchDone& done, LaneState& lane);

  std::vector<LaneState> lanes_;
  std::vector<std::unique_ptr<Entry>> entries_;       // by ServedVersion::index; null: free
  std::vector<std::unique_ptr<VersionStats>> stats_;  // of all that there ever were
  std::size_t queue_limit_;
  std::size_t unanswered_ = 0;
  Nanos next_deadline_ = Nanos::max();  // none that waits is earlier
  schedule::BatchChooser chooser_;
  schedule::PoisonBook poison_;
  std::vector<FailedJob> failed_;
  std::vector<JobPtr> spare_jobs_;
  std::vector<std::vector<JobPtr>> spare_lists_;
  std::vector<lane::Member> members_;
  std::vector<Nanos> oldest_;
};

}  // namespace corelane::service
