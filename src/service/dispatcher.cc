#include "service/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/lane.h"
#include "schedule/choose_batch.h"
#include "schedule/retry.h"
#include "service/digest.h"
#include "service/job.h"
#include "service/queue.h"
#include "service/served_version.h"
#include "service/stats.h"

namespace corelane::service {

Dispatcher::Dispatcher(std::span<lane::Lane* const> lanes, std::size_t queue_limit)
    : queue_limit_(queue_limit) {
  for (lane::Lane* lane : lanes) {
    LaneState& state = lanes_.emplace_back();
    state.lane = lane;
    state.stats.name = lane->info().name;
  }
}

JobPtr Dispatcher::new_job() {
  if (spare_jobs_.empty()) return std::make_unique<Job>();
  JobPtr job = std::move(spare_jobs_.back());
  spare_jobs_.pop_back();
  return job;
}

void Dispatcher::recycle(std::vector<JobPtr>&& jobs) {
  for (JobPtr& job : jobs) {
    job->version.reset();
    spare_jobs_.push_back(std::move(job));
  }
  jobs.clear();
  spare_lists_.push_back(std::move(jobs));
}

bool Dispatcher::serves(const LaneState& lane, const ServedVersion& version) const {
  return lane.up && lane.loads[version.index] == LaneState::Load::kLoaded;
}

bool Dispatcher::can_take(const LaneState& lane) const {
  return lane.up && !lane.running && lane.unreleased < lane::Lane::kDepth;
}

bool Dispatcher::runs(const LaneState& lane, const ServedVersion& version) const {
  return lane.running && lane.running->version == &version;
}

std::size_t Dispatcher::count_live(const ServedVersion& version) const {
  return static_cast<std::size_t>(std::count_if(
      lanes_.begin(), lanes_.end(), [&](const LaneState& l) { return serves(l, version); }));
}

std::size_t Dispatcher::count_sharing(const ServedVersion& version) const {
  return static_cast<std::size_t>(std::count_if(
      lanes_.begin(), lanes_.end(),
      [&](const LaneState& l) { return serves(l, version) && (can_take(l) || runs(l, version)); }));
}

std::int64_t Dispatcher::running_rows(const ServedVersion& version) const {
  std::int64_t rows = 0;
  for (const LaneState& lane : lanes_) rows += runs(lane, version) ? lane.running->rows : 0;
  return rows;
}

bool Dispatcher::may_come_up(const ServedVersion& version) const {
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const LaneState& l) {
    return l.was_up && l.loads[version.index] != LaneState::Load::kFailed;
  });
}

Status Dispatcher::refuse_poison(const Job& job) {
  if (!poison_.holds_any_of(input_bytes(job)) || !poison_.holds(digest_of(job))) return {};
  ++of(*job.version).stats->poison;
  return internal_error(fmt::format(
      "{}: these inputs killed their worker each time they ran, the last time alone; they are "
      "not run again until the model is loaded anew",
      job.version->signature.label));
}

Status Dispatcher::accept(JobPtr& job) {
  const ServedVersion& version = *job->version;
  if (Status status = refuse_poison(*job); !status) return status;
  if (!ready(version) && !may_come_up(version)) {
    return unavailable(
        fmt::format("{} is not ready: {}", version.signature.label, why_not_ready(version)));
  }
  Queue& queue = of(version).queue;
  if (queue.size() >= queue_limit_) {
    const double wait = to_seconds(expected_wait(version));
    return unavailable(fmt::format("{}: queue full ({} waiting{})", version.signature.label,
                                   queue.size(),
                                   wait > 0 ? fmt::format(", about {:.1f} s", wait) : ""));
  }
  ++of(version).stats->accepted;
  ++unanswered_;
  next_deadline_ = std::min(next_deadline_, job->request.deadline);
  queue.push(std::move(job));
  for (std::size_t lane = 0; lane < lanes_.size() && !queue.empty(); ++lane) feed(lane);
  return {};
}

Nanos Dispatcher::expected_wait(const ServedVersion& version) const {
  const auto lanes = static_cast<std::int64_t>(std::max<std::size_t>(count_live(version), 1));
  const auto waiting = static_cast<std::int64_t>(of(version).queue.size());
  return of(version).time_per_request * waiting / lanes;
}

void Dispatcher::feed_all() {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) feed(lane);
}

void Dispatcher::feed(std::size_t index) {
  const LaneState& lane = lanes_[index];
  if (!can_take(lane)) return;
  oldest_.clear();
  for (const auto& entry : entries_) {
    oldest_.push_back(entry && serves(lane, *entry->version) ? entry->queue.oldest()
                                                             : schedule::kNothingWaits);
  }
  while (can_take(lane)) {
    const std::size_t next = schedule::choose_slot(oldest_);
    if (next == oldest_.size()) return;
    if (!start_batch(index, *entries_[next]->version)) oldest_[next] = schedule::kNothingWaits;
  }
}

bool Dispatcher::start_batch(std::size_t index, const ServedVersion& version) {
  Queue& queue = of(version).queue;
  const auto choice = chooser_.choose({.waiting = queue.waiting(),
                                       .lane = static_cast<std::uint32_t>(index),
                                       .live_lanes = count_live(version),
                                       .sharing_lanes = count_sharing(version),
                                       .running_rows = running_rows(version)},
                                      version.signature.limits, version.cost);
  if (choice.members.empty()) return false;
  Running batch{.version = &version};
  if (!spare_lists_.empty()) {
    batch.jobs = std::move(spare_lists_.back());
    spare_lists_.pop_back();
  }
  queue.take(choice.members, batch.jobs);
  return hand_over(index, batch);
}

bool Dispatcher::hand_over(std::size_t index, Running& batch) {
  LaneState& lane = lanes_[index];
  while (!batch.jobs.empty()) {
    members_.clear();
    batch.rows = 0;
    for (const JobPtr& job : batch.jobs) {
      members_.push_back({.inputs = job->valid.inputs});
      batch.rows += job->valid.rows;
    }
    auto number =
        lane.lane->dispatch({.slot = batch.version->slot, .members = members_, .padded_to = {}});
    if (number) {
      batch.batch = *number;
      lane.running = std::move(batch);
      return true;
    }
    if (number.error().code != ErrorCode::kResourceExhausted) {
      // The worker has gone; its LaneDown is on the way to us.
      lane.up = false;
      put_back(std::move(batch.jobs));
      return false;
    }
    if (batch.jobs.size() == 1) {
      fail(std::move(batch.jobs.front()), number.error());
      batch.jobs.clear();
      return false;
    }
    std::vector<JobPtr> second_half;
    const std::size_t keep = batch.jobs.size() / 2;
    for (std::size_t i = keep; i < batch.jobs.size(); ++i) {
      second_half.push_back(std::move(batch.jobs[i]));
    }
    batch.jobs.resize(keep);
    put_back(std::move(second_half));
  }
  return false;
}

void Dispatcher::put_back(std::vector<JobPtr>&& jobs) {
  for (JobPtr& job : jobs) queue_again(std::move(job));
  jobs.clear();
}

void Dispatcher::queue_again(JobPtr job) {
  next_deadline_ = std::min(next_deadline_, job->request.deadline);
  Queue& queue = of(*job->version).queue;
  queue.insert(std::move(job));
}

void Dispatcher::fail(JobPtr job, Error error) {
  ++of(*job->version).stats->failed;
  --unanswered_;
  failed_.push_back({.job = std::move(job), .error = std::move(error)});
}

void Dispatcher::expire(Nanos now) {
  if (now < next_deadline_) return;
  next_deadline_ = Nanos::max();
  for (const auto& entry : entries_) {
    if (!entry) continue;
    Queue& queue = entry->queue;
    std::vector<std::uint32_t> late;
    for (std::uint32_t i = 0; i < queue.size(); ++i) {
      const Nanos deadline = queue.jobs()[i]->request.deadline;
      if (deadline <= now) {
        late.push_back(i);
      } else {
        next_deadline_ = std::min(next_deadline_, deadline);
      }
    }
    std::vector<JobPtr> ended;
    queue.take(late, ended);
    for (JobPtr& job : ended) {
      const double waited = to_millis(now - job->timing.accepted);
      std::string why =
          fmt::format("{}: still waiting for a lane when its timeout came, after {:.1f} ms",
                      job->version->signature.label, waited);
      fail(std::move(job), {ErrorCode::kDeadlineExceeded, std::move(why)});
    }
  }
}

std::vector<FailedJob> Dispatcher::take_failed(Nanos now) {
  for (const FailedJob& ended : failed_) {
    of(*ended.job->version).stats->failure_time += now - ended.job->timing.accepted;
  }
  return std::exchange(failed_, {});
}

Running Dispatcher::finish(std::size_t index, const lane::BatchDone& done) {
  LaneState& lane = lanes_[index];
  check(lane.running && lane.running->batch == done.batch,
        "a lane ends the batch that it was given");
  Running batch = std::move(*lane.running);
  lane.running.reset();
  ++lane.unreleased;
  note_run(batch, done, lane);
  feed(index);
  return batch;
}

void Dispatcher::note_run(const Running& batch, const lane::BatchDone& done, LaneState& lane) {
  constexpr int kSmoothing = 8;
  Entry& entry = of(*batch.version);
  VersionStats& stats = *entry.stats;
  const auto members = static_cast<std::int64_t>(batch.jobs.size());
  unanswered_ -= batch.jobs.size();
  ++lane.stats.batches;
  lane.stats.busy += done.timing.written - done.timing.received;
  if (!done.status) {
    stats.failed += batch.jobs.size();
    for (const JobPtr& job : batch.jobs) {
      stats.failure_time += done.timing.written - job->timing.accepted;
    }
    return;
  }
  stats.succeeded += batch.jobs.size();
  stats.items += static_cast<std::uint64_t>(batch.rows);
  ++stats.batches;
  stats.compute.add(done.timing.ran - done.timing.gathered);
  for (const JobPtr& job : batch.jobs) {
    stats.queue.add(done.timing.received - job->timing.accepted);
    stats.success_time += done.timing.written - job->timing.accepted;
  }
  stats.steps.add(done.timing, batch.jobs.size());
  stats.steps_by_rows[batch.rows].add(done.timing);
  stats.last_run = done.timing.written;
  Nanos& smoothed = entry.time_per_request;
  const Nanos each = (done.timing.written - done.timing.received) / members;
  smoothed += smoothed == Nanos{} ? each : (each - smoothed) / kSmoothing;
}

void Dispatcher::released(std::size_t index) {
  --lanes_[index].unreleased;
  feed(index);
}

void Dispatcher::lane_up(std::size_t index, const lane::LaneUp& up) {
  LaneState& lane = lanes_[index];
  lane.stats.restarts += lane.was_up ? 1 : 0;
  lane.stats.pid = up.pid;
  lane.up = true;
  lane.was_up = true;
  lane.deaths_before_up = 0;
  lane.unreleased = 0;
  feed(index);
}

void Dispatcher::lane_down(std::size_t index, const lane::LaneDown& down) {
  LaneState& lane = lanes_[index];
  ++lane.deaths_before_up;
  lane.up = false;
  lane.stats.pid = 0;
  lane.why_down = down.reason;
  // The next worker loads what this one had; it is not given what failed again.
  std::replace(lane.loads.begin(), lane.loads.end(), LaneState::Load::kLoaded,
               LaneState::Load::kPending);
  if (lane.running) {
    Running lost = std::move(*lane.running);
    lane.running.reset();
    for (JobPtr& job : lost.jobs) {
      const schedule::AfterLoss next = schedule::decide_after_loss(++job->losses);
      if (next == schedule::AfterLoss::kGiveUp) {
        poison_.remember(digest_of(*job));
        fail(std::move(job), internal_error(fmt::format(
                                 "{}: this request was with {} workers that died, the last one "
                                 "on lane {}: {}",
                                 lost.version->signature.label, 3, lane.stats.name, down.reason)));
        continue;
      }
      job->waiting.avoid_lane = static_cast<std::uint32_t>(index);
      job->waiting.alone = next == schedule::AfterLoss::kRunAgainAlone;
      ++of(*job->version).stats->retried;
      queue_again(std::move(job));
    }
    lost.jobs.clear();
    spare_lists_.push_back(std::move(lost.jobs));
  }
  feed_all();
}

}  // namespace corelane::service
