#include "bench/runner.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "bench/experiments.h"
#include "bench/result.h"
#include "bench/session.h"
#include "bench/verdict.h"
#include "load/closed_loop.h"
#include "load/sample.h"
#include "load/window.h"
#include "store/store.h"

namespace corelane::bench {
namespace {

std::string result_name(const std::string& study, const std::string& id) {
  return study + "/" + id + ".json";
}

std::string samples_file(const std::string& id) { return id + ".samples.csv"; }

/// Everything of a result but its machine and its start.
ExperimentResult result_of(const PlannedExperiment& planned, const load::LoadRun& run,
                           const SessionFacts& facts, const Machine& machine) {
  const load::Measurement measured = load::measure(run);
  const double window = to_seconds(run.closed - run.opened);
  ExperimentResult result;
  result.id = planned.id;
  result.experiment = planned.experiment;
  result.machine = machine;
  for (const auto& [name, version] : facts.versions) result.machine.versions[name] = version;
  result.warmup_seconds = to_seconds(run.opened - run.started);
  result.warmup_requests = measured.warmup_requests;
  result.window_seconds = window;
  result.counts = measured.counts;
  result.items = measured.items;
  result.items_per_second = measured.items_per_second.per_second;
  if (const auto& interval = measured.items_per_second.interval) {
    result.items_per_second_low = interval->low;
    result.items_per_second_high = interval->high;
  }
  result.latency = measured.latency;
  result.split = measured.split;
  if (facts.lanes > 0) {
    result.lane_busy = measured.lane_seconds / window / static_cast<double>(facts.lanes);
  }
  result.generator_cores = run.generator_cores;
  result.memory_bytes = facts.memory_bytes;
  result.engine_report = facts.engine_report;
  result.invalid_because = reasons_against(
      measured, {.min_requests = planned.experiment.min_requests,
                 .concurrency = planned.experiment.concurrency,
                 .generator_cores = run.generator_cores,
                 .machine_cores = facts.on_this_machine ? static_cast<double>(machine.cores) : 0,
                 .first_error = run.first_error});
  result.valid = result.invalid_because.empty();
  result.samples_file = samples_file(planned.id);
  return result;
}

/// Confined to the thread that runs the study.
class Runner {
 public:
  Runner(const StudyOptions& options, SessionOpener& opener, store::Store& store,
         const Clock& clock, StudyWatcher& watcher)
      : options_(options), opener_(opener), store_(store), clock_(clock), watcher_(watcher) {}

  Result<StudyOutcome> run(std::span<const PlannedExperiment> list) {
    for (const PlannedExperiment& planned : list) {
      if (options_.stop_asked()) {
        outcome_.stopped = true;
        break;
      }
      if (take_earlier(planned)) continue;
      if (auto kept = measure(planned); !kept) return std::move(kept).error();
      if (outcome_.stopped) break;
    }
    return std::move(outcome_);
  }

 private:
  /// A result that is there and can be read counts; a damaged one is measured again.
  bool take_earlier(const PlannedExperiment& planned) {
    if (options_.again) return false;
    const std::string name = result_name(options_.study, planned.id);
    const auto text = store_.get(name);
    if (!text) return false;
    auto result = parse_result(*text, name);
    if (!result || result->id != planned.id) return false;
    watcher_.found(*result);
    outcome_.results.push_back(*std::move(result));
    return true;
  }

  void fail(const PlannedExperiment& planned, const Error& error) {
    ++outcome_.failed;
    watcher_.failed(planned, error);
  }

  /// Makes sure that the session that the experiment needs is open.
  Status prepare(const Experiment& experiment) {
    if (session_of_ && same_session(*session_of_, experiment)) {
      return session_ ? Status() : Status(session_error_);
    }
    session_.reset();  // before the next one needs its cores
    session_of_ = experiment;
    auto opened = opener_.open(experiment);
    if (!opened) {
      session_error_ = std::move(opened).error();
      return session_error_;
    }
    session_ = *std::move(opened);
    return {};
  }

  /// An error only where the store fails.
  Status measure(const PlannedExperiment& planned) {
    if (auto ready = prepare(planned.experiment); !ready) {
      fail(planned, ready.error());
      return {};
    }
    auto clients = session_->clients(planned);
    if (!clients) {
      fail(planned, clients.error());
      return {};
    }
    const std::string started = utc_time(clock_.since_epoch());
    const load::LoadRun run = load::run_closed_loop((*clients)->targets(), options_.limits, clock_,
                                                    [&](const load::Progress& progress) {
                                                      watcher_.running(planned, progress);
                                                      return !options_.stop_asked();
                                                    });
    if (run.interrupted) {
      outcome_.stopped = true;
      return {};
    }
    ExperimentResult result = result_of(planned, run, session_->facts(), options_.machine);
    result.started_at = started;
    return keep(std::move(result), run);
  }

  /// The samples first: a result promises that they are there.
  Status keep(ExperimentResult result, const load::LoadRun& run) {
    if (auto put = store_.put(options_.study + "/" + result.samples_file, write_samples(run));
        !put) {
      return put;
    }
    if (auto put = store_.put(result_name(options_.study, result.id), write_result(result)); !put) {
      return put;
    }
    ++outcome_.measured;
    watcher_.measured(result);
    outcome_.results.push_back(std::move(result));
    return {};
  }

  const StudyOptions& options_;
  SessionOpener& opener_;
  store::Store& store_;
  const Clock& clock_;
  StudyWatcher& watcher_;
  StudyOutcome outcome_;
  std::optional<Experiment> session_of_;
  Error session_error_;
  std::unique_ptr<Session> session_;
};

}  // namespace

Result<StudyOutcome> run_study(std::span<const PlannedExperiment> list, const StudyOptions& options,
                               SessionOpener& opener, store::Store& store, const Clock& clock,
                               StudyWatcher& watcher) {
  return Runner(options, opener, store, clock, watcher).run(list);
}

std::string write_samples(const load::LoadRun& run) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "phase,scheduled_us,sent_us,done_us,ok,items,queue_us,gather_us,compute_us,"
                 "write_us\n");
  const auto micros = [](Nanos time) { return time.count() / 1000; };
  for (const load::Sample& sample : run.samples) {
    const char* phase = sample.done <= run.opened   ? "warmup"
                        : sample.sent >= run.closed ? "after"
                        : sample.done > run.closed  ? "unfinished"
                                                    : "window";
    fmt::format_to(out, "{},{},{},{},{:d},{}", phase, micros(sample.scheduled - run.opened),
                   micros(sample.sent - run.opened), micros(sample.done - run.opened), sample.ok,
                   sample.items);
    if (sample.split.known) {
      fmt::format_to(out, ",{},{},{},{}\n", micros(sample.split.queue), micros(sample.split.gather),
                     micros(sample.split.compute), micros(sample.split.write));
    } else {
      fmt::format_to(out, ",,,,\n");
    }
  }
  return fmt::to_string(text);
}

std::string utc_time(Nanos since_epoch) {
  const std::time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
}

}  // namespace corelane::bench
