#include "bench/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/testing/manual_clock.h"
#include "base/units.h"
#include "bench/experiments.h"
#include "bench/result.h"
#include "bench/session.h"
#include "load/closed_loop.h"
#include "load/target.h"
#include "load/testing/fake_target.h"
#include "stats/distribution.h"
#include "store/store.h"

namespace corelane::bench {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class MemoryStore final : public store::Store {
 public:
  Status put(const std::string& name, std::string_view text) override {
    if (name.ends_with(refuse_suffix)) return io_error("disk full");
    texts[name] = text;
    return {};
  }
  Result<std::string> get(const std::string& name) const override {
    const auto found = texts.find(name);
    if (found == texts.end()) return not_found(name);
    return found->second;
  }
  Result<std::vector<std::string>> list(const std::string&) const override {
    return std::vector<std::string>();
  }

  std::map<std::string, std::string> texts;
  std::string refuse_suffix = "(none)";
};

class FakeClients final : public Clients {
 public:
  explicit FakeClients(std::int64_t count, std::int64_t items) {
    for (std::int64_t i = 0; i < count; ++i) {
      fakes_.push_back(std::make_unique<load::FakeTarget>(items));
    }
  }
  std::vector<load::Target*> targets() override {
    std::vector<load::Target*> all;
    for (const auto& fake : fakes_) all.push_back(fake.get());
    return all;
  }

 private:
  std::vector<std::unique_ptr<load::FakeTarget>> fakes_;
};

class FakeSession final : public Session {
 public:
  Result<std::unique_ptr<Clients>> clients(const PlannedExperiment& planned) override {
    if (planned.experiment.batch == 13) return invalid_argument("thirteen");
    return std::unique_ptr<Clients>(
        std::make_unique<FakeClients>(planned.experiment.concurrency, planned.experiment.batch));
  }
  SessionFacts facts() const override {
    return {.engine_report = R"({"device":"cpu"})",
            .versions = {{"probe", "1"}},
            .memory_bytes = 77,
            .lanes = 2,
            .on_this_machine = false};
  }
};

class FakeOpener final : public SessionOpener {
 public:
  Result<std::unique_ptr<Session>> open(const Experiment& experiment) override {
    opened.push_back(experiment.model + " " + experiment.lanes);
    if (experiment.model == "broken") return internal_error("does not load");
    return std::unique_ptr<Session>(std::make_unique<FakeSession>());
  }
  std::vector<std::string> opened;
};

class Log final : public StudyWatcher {
 public:
  void found(const ExperimentResult& result) override { lines.push_back("found " + result.id); }
  void running(const PlannedExperiment& planned, const load::Progress&) override {
    std::this_thread::yield();  // the clock is a manual one: lets the clients keep up
    if (planned.id == stop_at) stop = true;
  }
  void measured(const ExperimentResult& result) override {
    lines.push_back("measured " + result.id);
  }
  void failed(const PlannedExperiment& planned, const Error& error) override {
    lines.push_back("failed " + planned.id + ": " + error.message);
  }
  std::vector<std::string> lines;
  std::string stop_at;
  bool stop = false;
};

PlannedExperiment planned(std::string id, std::string model, std::int64_t batch,
                          std::string lanes = "cpu:0|cpu:1") {
  PlannedExperiment planned;
  planned.id = std::move(id);
  planned.experiment.model = std::move(model);
  planned.experiment.lanes = std::move(lanes);
  planned.experiment.batch = batch;
  planned.experiment.concurrency = 2;
  planned.experiment.min_requests = 10;
  return planned;
}

class RunStudy : public ::testing::Test {
 protected:
  Result<StudyOutcome> run(const std::vector<PlannedExperiment>& list) {
    options_.study = "s";
    options_.limits = {.warmup = milliseconds(50),
                       .max_warmup = milliseconds(500),
                       .window = milliseconds(100),
                       .min_requests = 10,
                       .max_window = std::chrono::hours(100'000)};
    options_.machine.cores = 2;
    options_.stop_asked = [this] { return log_.stop; };
    log_.lines.clear();
    opener_.opened.clear();
    return run_study(list, options_, opener_, store_, clock_, log_);
  }

  ManualClock clock_;
  StudyOptions options_;
  MemoryStore store_;
  FakeOpener opener_;
  Log log_;
};

TEST_F(RunStudy, KeepsAResultAndItsSamplesForEachExperiment) {
  const auto outcome = run({planned("a", "m", 1), planned("b", "m", 4)});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(log_.lines, ElementsAre("measured a", "measured b"));
  EXPECT_EQ(outcome->measured, 2U);
  EXPECT_FALSE(outcome->stopped);
  const auto kept = parse_result(store_.texts.at("s/b.json"), "b");
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(*kept, outcome->results[1]);
  EXPECT_TRUE(stats::adds_up(kept->counts));
  EXPECT_GE(kept->counts.ok, 10);
  EXPECT_EQ(kept->items, 4 * kept->counts.ok);
  EXPECT_EQ(kept->machine.versions.at("probe"), "1");
  EXPECT_EQ(kept->memory_bytes, 77U);
  EXPECT_EQ(kept->engine_report, R"({"device":"cpu"})");
  EXPECT_EQ(kept->samples_file, "b.samples.csv");
  const std::string& samples = store_.texts.at("s/b.samples.csv");
  EXPECT_THAT(samples, StartsWith("phase,scheduled_us,sent_us,done_us,ok,items,"));
  std::size_t in_window = 0;
  for (std::size_t at = 0; (at = samples.find("\nwindow,", at)) != std::string::npos; ++at) {
    ++in_window;
  }
  EXPECT_EQ(static_cast<std::int64_t>(in_window), kept->counts.ok + kept->counts.failed);
}

TEST_F(RunStudy, OpensASessionOnceForNeighboursThatShareIt) {
  ASSERT_TRUE(run({planned("a", "m", 1), planned("b", "m", 4), planned("c", "m", 1, "cpu:0-1"),
                   planned("d", "n", 1, "cpu:0-1")}));
  EXPECT_THAT(opener_.opened, ElementsAre("m cpu:0|cpu:1", "m cpu:0-1", "n cpu:0-1"));
}

TEST_F(RunStudy, GoesOnWhereItWas) {
  ASSERT_TRUE(run({planned("a", "m", 1)}));
  const auto outcome = run({planned("a", "m", 1), planned("b", "m", 4)});
  ASSERT_TRUE(outcome);
  EXPECT_THAT(log_.lines, ElementsAre("found a", "measured b"));
  EXPECT_EQ(outcome->results.size(), 2U);
  EXPECT_EQ(outcome->measured, 1U);
}

TEST_F(RunStudy, OpensNothingWhenAllIsThere) {
  ASSERT_TRUE(run({planned("a", "m", 1)}));
  ASSERT_TRUE(run({planned("a", "m", 1)}));
  EXPECT_THAT(opener_.opened, IsEmpty());
}

TEST_F(RunStudy, MeasuresADamagedResultAgain) {
  ASSERT_TRUE(run({planned("a", "m", 1)}));
  store_.texts["s/a.json"].resize(100);
  ASSERT_TRUE(run({planned("a", "m", 1)}));
  EXPECT_THAT(log_.lines, ElementsAre("measured a"));
}

TEST_F(RunStudy, MeasuresAgainWhenAskedTo) {
  ASSERT_TRUE(run({planned("a", "m", 1)}));
  options_.again = true;
  ASSERT_TRUE(run({planned("a", "m", 1)}));
  EXPECT_THAT(log_.lines, ElementsAre("measured a"));
}

TEST_F(RunStudy, PassesOverWhatCannotRun) {
  const auto outcome = run({planned("a", "broken", 1), planned("b", "broken", 4),
                            planned("c", "m", 13), planned("d", "m", 1)});
  ASSERT_TRUE(outcome);
  EXPECT_THAT(log_.lines, ElementsAre("failed a: does not load", "failed b: does not load",
                                      "failed c: thirteen", "measured d"));
  EXPECT_THAT(opener_.opened, ElementsAre("broken cpu:0|cpu:1", "m cpu:0|cpu:1"));
  EXPECT_EQ(outcome->failed, 3U);
  EXPECT_FALSE(store_.texts.contains("s/a.json"));
}

TEST_F(RunStudy, DropsWhatRunsWhenItIsAskedToStop) {
  log_.stop_at = "b";
  const auto outcome = run({planned("a", "m", 1), planned("b", "m", 4), planned("c", "m", 8)});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->stopped);
  EXPECT_THAT(log_.lines, ElementsAre("measured a"));
  EXPECT_FALSE(store_.texts.contains("s/b.json"));
}

TEST_F(RunStudy, FailsWhenTheStoreDoes) {
  store_.refuse_suffix = ".csv";
  const auto outcome = run({planned("a", "m", 1)});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("disk full"));
  EXPECT_FALSE(store_.texts.contains("s/a.json")) << "a result promises its samples";
}

TEST(UtcTime, IsIso8601) {
  EXPECT_EQ(utc_time(Nanos(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_time(std::chrono::seconds(1'796'074'814)), "2026-11-30T21:40:14Z");
}

}  // namespace
}  // namespace corelane::bench
