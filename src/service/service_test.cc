#include "service/service.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/testing/manual_clock.h"
#include "base/units.h"
#include "lane/lane.h"
#include "lane/tensor_ref.h"
#include "model/manifest.h"
#include "service/stats.h"
#include "service/testing/fake_pool.h"
#include "tensor/dtype.h"

namespace corelane::service {
namespace {

using tensor::DType;

/// FP32 [batch, tokens] in and out, batches of up to four, tokens padded.
model::Manifest manifest_of(const std::string& name, std::int64_t version = 1) {
  model::Manifest manifest;
  manifest.name = name;
  manifest.version = version;
  manifest.inputs = {{.name = "x", .type = DType::kFp32, .shape = {"batch", "tokens"}}};
  manifest.outputs = {{.name = "y", .type = DType::kFp32, .shape = {"batch", "tokens"}}};
  manifest.dimensions["batch"] = {.min = 1, .max = 4, .buckets = {}};
  manifest.dimensions["tokens"] = {.min = 1, .max = 100, .buckets = {100}};
  return manifest;
}

struct Answer final : ReplySink {
  int calls = 0;
  std::optional<ErrorCode> error;
  std::string message;
  std::vector<float> values;
  Timing timing;
  Nanos retry_after{};

  void reply(const Reply& reply) override {
    ++calls;
    timing = reply.timing;
    retry_after = reply.retry_after;
    if (!reply.status) {
      error = reply.status.error().code;
      message = reply.status.error().message;
      return;
    }
    const auto bytes = reply.outputs[0].tensor.bytes;
    values.resize(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
  }
};

class ServiceTest : public testing::Test {
 protected:
  void start(std::size_t lanes, std::vector<model::Manifest> manifests = {manifest_of("m")},
             ServiceOptions options = {}) {
    pool_ = std::make_unique<FakePool>(lanes);
    std::vector<VersionToServe> versions;
    for (auto& manifest : manifests) {
      versions.push_back({.folder = manifest.name, .manifest = manifest, .precision = "bf16"});
    }
    service_ = *Service::start(*pool_, clock_, std::move(versions), options);
  }
  void start_up(std::size_t lanes, std::vector<model::Manifest> manifests = {manifest_of("m")},
                ServiceOptions options = {}) {
    start(lanes, std::move(manifests), options);
    for (std::size_t i = 0; i < lanes; ++i) come_up(i);
  }
  void come_up(std::size_t lane) {
    pool_->come_up(lane);
    drive(lane);
  }
  void drive(std::size_t lane) { service_->drive(lane::LaneId{static_cast<std::uint32_t>(lane)}); }

  Answer& submit(float value, std::int64_t tokens = 1, const std::string& model = "m",
                 const std::string& version = "") {
    Request request{.model = model, .version = version};
    request.deadline = deadline_;
    auto block = pool_->arena().allocate(static_cast<std::size_t>(tokens) * sizeof(float));
    const std::vector<float> values(static_cast<std::size_t>(tokens), value);
    std::memcpy(block->bytes().data(), values.data(), values.size() * sizeof(float));
    request.inputs.push_back({.name = "x",
                              .tensor = {.dtype = DType::kFp32,
                                         .shape = {1, tokens},
                                         .offset = block->offset(),
                                         .bytes = values.size() * sizeof(float)}});
    request.storage.push_back(*std::move(block));
    answers_.push_back(std::make_unique<Answer>());
    service_->submit(std::move(request), *answers_.back());
    return *answers_.back();
  }

  /// The lane answers the batch that it was given last: every member its number, 100 times.
  void finish(std::size_t lane, const lane::BatchTiming& timing = {}) {
    const auto dispatched = fake(lane).dispatched().back();
    std::vector<std::vector<tensor::TensorView>> outputs;
    std::vector<float> values;
    for (const auto& member : dispatched.members) {
      values.push_back(first_value(member[0]) * 100);
    }
    for (const float& value : values) {
      outputs.push_back(
          {{.dtype = DType::kFp32, .shape = {1, 1}, .bytes = std::as_bytes(std::span(&value, 1))}});
    }
    fake(lane).finish(dispatched.number, outputs, timing);
    drive(lane);
  }
  float first_value(const lane::TensorRef& tensor) {
    // The arena is one mapping: any block tells where it begins.
    auto probe = pool_->arena().allocate(1);
    const std::byte* base = probe->bytes().data() - probe->offset();
    float value = 0;
    std::memcpy(&value, base + tensor.offset, sizeof value);
    return value;
  }
  lane::FakeLane& fake(std::size_t lane) { return pool_->fake(lane); }
  std::vector<std::size_t> batch_sizes(std::size_t lane) {
    std::vector<std::size_t> sizes;
    for (const auto& batch : fake(lane).dispatched()) sizes.push_back(batch.members.size());
    return sizes;
  }

  ManualClock clock_;
  Nanos deadline_ = Nanos::max();  // of the requests that follow
  std::vector<std::unique_ptr<Answer>> answers_;
  std::unique_ptr<FakePool> pool_;
  std::unique_ptr<Service> service_;
};

TEST_F(ServiceTest, StartsARequestAtOnceOnAnIdleLaneAndAnswersIt) {
  start_up(1);
  Answer& answer = submit(7);
  ASSERT_EQ(batch_sizes(0), (std::vector<std::size_t>{1}));
  EXPECT_EQ(answer.calls, 0);
  finish(0);
  EXPECT_EQ(answer.calls, 1);
  EXPECT_EQ(answer.values, std::vector<float>{700});
  EXPECT_EQ(fake(0).released().size(), 1U);
  EXPECT_EQ(service_->unanswered(), 0U);
  EXPECT_EQ(pool_->arena().in_use().count, 0U);  // an answered request holds no memory
}

TEST_F(ServiceTest, FormsABatchOfWhatWaitsWhenTheLaneBecomesFree) {
  start_up(1);
  for (int i = 0; i < 7; ++i) submit(static_cast<float>(i));
  finish(0);
  finish(0);
  finish(0);
  EXPECT_EQ(batch_sizes(0), (std::vector<std::size_t>{1, 4, 2}));
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(answers_[i]->values, std::vector<float>{static_cast<float>(i) * 100});
  }
  EXPECT_EQ(answers_[2]->timing.batch_rows, 4U);
}

TEST_F(ServiceTest, HasTheNextBatchWithTheLaneBeforeItAnswersTheLast) {
  start_up(1);
  struct Watching final : ReplySink {
    lane::FakeLane* lane = nullptr;
    std::size_t dispatched_by_then = 0;
    void reply(const Reply&) override { dispatched_by_then = lane->dispatched().size(); }
  } watching;
  watching.lane = &fake(0);
  Request request{.model = "m"};
  auto block = pool_->arena().allocate(4);
  request.inputs.push_back(
      {.name = "x", .tensor = {.shape = {1, 1}, .offset = block->offset(), .bytes = 4}});
  request.storage.push_back(*std::move(block));
  service_->submit(std::move(request), watching);
  submit(2);
  finish(0);
  EXPECT_EQ(watching.dispatched_by_then, 2U);
  finish(0);
}

TEST_F(ServiceTest, SpreadsRequestsOverIdleLanes) {
  start_up(2);
  submit(1);
  submit(2);
  EXPECT_EQ(batch_sizes(0), (std::vector<std::size_t>{1}));
  EXPECT_EQ(batch_sizes(1), (std::vector<std::size_t>{1}));
}

TEST_F(ServiceTest, GivesWhatADeadWorkerHeldToAnotherLane) {
  start_up(2);
  Answer& answer = submit(5);
  fake(0).down();
  drive(0);
  ASSERT_EQ(batch_sizes(1), (std::vector<std::size_t>{1}));
  EXPECT_EQ(answer.calls, 0);
  EXPECT_TRUE(service_->ready());
  finish(1);
  EXPECT_EQ(answer.values, std::vector<float>{500});
}

TEST_F(ServiceTest, KeepsRequestsOfItsOnlyLaneUntilTheWorkerIsBack) {
  start_up(1);
  submit(5);
  fake(0).down();
  drive(0);
  EXPECT_FALSE(service_->ready());
  submit(6);
  come_up(0);
  finish(0);
  EXPECT_EQ(answers_[0]->values, std::vector<float>{500});
  EXPECT_EQ(answers_[1]->values, std::vector<float>{600});
  EXPECT_EQ(service_->stats().lanes[0].restarts, 1U);
}

TEST_F(ServiceTest, RetriesAloneWhatKilledTwiceAndGivesUpAfterTheThird) {
  start_up(1);
  submit(0);
  submit(1);
  submit(2);
  finish(0);  // the second batch is {1, 2}
  for (int death = 0; death < 2; ++death) {
    fake(0).down();
    drive(0);
    come_up(0);
  }
  EXPECT_EQ(batch_sizes(0), (std::vector<std::size_t>{1, 2, 2, 1}));
  fake(0).down("killed by signal 11");
  drive(0);
  EXPECT_EQ(answers_[1]->error, ErrorCode::kInternal);
  EXPECT_NE(answers_[1]->message.find("killed by signal 11"), std::string::npos);
  come_up(0);
  finish(0);
  EXPECT_EQ(answers_[2]->values, std::vector<float>{200});
  EXPECT_EQ(answers_[1]->calls, 1);
}

TEST_F(ServiceTest, RefusesInputsThatKilledUntilTheyWereGivenUp) {
  start_up(1, {manifest_of("m"), manifest_of("n")});
  submit(6, 2);
  for (int death = 0; death < 3; ++death) {
    fake(0).down("killed by signal 11");
    drive(0);
    come_up(0);
  }
  ASSERT_EQ(answers_[0]->error, ErrorCode::kInternal);
  const std::size_t ran = fake(0).dispatched().size();

  const Answer& again = submit(6, 2);
  EXPECT_EQ(again.error, ErrorCode::kInternal);
  EXPECT_NE(again.message.find("not run again"), std::string::npos) << again.message;
  EXPECT_EQ(fake(0).dispatched().size(), ran);
  EXPECT_EQ(service_->stats().versions[0].poison, 1U);
  EXPECT_EQ(service_->unanswered(), 0U);

  submit(7, 2);  // as large
  finish(0);
  submit(6, 1);  // smaller
  finish(0);
  submit(6, 2, "n");  // another model's
  finish(0);
  for (std::size_t i = 2; i < 5; ++i) EXPECT_EQ(answers_[i]->error, std::nullopt) << i;
}

TEST_F(ServiceTest, PutsABatchBackThatTheLaneRefusesBecauseItsWorkerIsGone) {
  start_up(1);
  fake(0).refuse_next(unavailable("gone"));
  submit(3);
  fake(0).down();
  drive(0);
  come_up(0);
  finish(0);
  EXPECT_EQ(answers_[0]->values, std::vector<float>{300});
}

TEST_F(ServiceTest, SendsHalfOfABatchThatDoesNotFitTheChannel) {
  start_up(1);
  for (int i = 0; i < 5; ++i) submit(static_cast<float>(i));
  fake(0).refuse_next({ErrorCode::kResourceExhausted, "too long"});
  finish(0);
  finish(0);
  finish(0);
  EXPECT_EQ(batch_sizes(0), (std::vector<std::size_t>{1, 2, 2}));
  for (const auto& answer : answers_) EXPECT_EQ(answer->calls, 1);
}

TEST_F(ServiceTest, AnswersWithTheErrorOfAFailedBatch) {
  start_up(1);
  Answer& answer = submit(1);
  fake(0).fail(fake(0).dispatched().back().number, internal_error("engine says no"));
  drive(0);
  EXPECT_EQ(answer.error, ErrorCode::kInternal);
  EXPECT_EQ(answer.message, "engine says no");
  EXPECT_EQ(service_->unanswered(), 0U);
}

TEST_F(ServiceTest, RefusesWhatDoesNotFitTheQueue) {
  start_up(1, {manifest_of("m")}, {.queue_limit = 2});
  submit(1);
  submit(2);
  submit(3);
  Answer& refused = submit(4);
  EXPECT_EQ(refused.error, ErrorCode::kUnavailable);
  EXPECT_EQ(refused.message, "m@1: queue full (2 waiting)");
  finish(0);
  finish(0);
  const VersionStats stats = service_->stats().versions[0];
  EXPECT_EQ(stats.accepted, 3U);
  EXPECT_EQ(stats.succeeded, 3U);
  EXPECT_EQ(stats.refused[static_cast<std::size_t>(ErrorCode::kUnavailable)], 1U);
}

TEST_F(ServiceTest, EndsWhatStillWaitsAtItsDeadlineWhileTheLaneIsBusy) {
  start_up(1);
  deadline_ = Nanos(100);
  submit(1);
  Answer& late = submit(2);
  deadline_ = Nanos(200);
  Answer& later = submit(3);
  clock_.advance(Nanos(99));
  service_->expire();
  EXPECT_EQ(late.calls, 0);
  clock_.advance(Nanos(1));
  service_->expire();
  EXPECT_EQ(late.error, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(later.calls, 0);
  finish(0);  // the first one runs already: it is answered
  EXPECT_EQ(answers_[0]->values, std::vector<float>{100});
  finish(0);
  EXPECT_EQ(later.values, std::vector<float>{300});
  EXPECT_EQ(service_->unanswered(), 0U);
}

TEST_F(ServiceTest, KeepsTheDeadlineOfARequestThatADeadWorkerHeld) {
  start_up(1);
  deadline_ = Nanos(100);
  Answer& answer = submit(1);
  service_->expire();
  fake(0).down();
  drive(0);
  clock_.advance(Nanos(100));
  service_->expire();
  EXPECT_EQ(answer.error, ErrorCode::kDeadlineExceeded);
}

TEST_F(ServiceTest, RefusesUnknownModelsAndVersions) {
  start_up(1, {manifest_of("m", 1), manifest_of("m", 3)});
  EXPECT_EQ(submit(1, 1, "n").message, "model 'n' is not served here; served: m@1, m@3");
  EXPECT_EQ(submit(1, 1, "m", "2").error, ErrorCode::kNotFound);
  EXPECT_EQ(submit(1, 1, "m", "two").error, ErrorCode::kInvalidArgument);
  submit(1, 1, "m");  // the newest
  EXPECT_EQ(fake(0).dispatched().back().slot, lane::SlotId{1});
  finish(0);
  submit(1, 1, "m", "1");
  EXPECT_EQ(fake(0).dispatched().back().slot, lane::SlotId{0});
  finish(0);
}

TEST_F(ServiceTest, ServesTheModelWhoseRequestHasWaitedLongest) {
  start_up(1, {manifest_of("a"), manifest_of("b")});
  submit(1, 1, "a");
  clock_.advance(Nanos(1));
  submit(2, 1, "b");
  clock_.advance(Nanos(1));
  submit(3, 1, "a");
  finish(0);
  EXPECT_EQ(fake(0).dispatched().back().slot, lane::SlotId{1});
  finish(0);
  finish(0);
  EXPECT_EQ(answers_[2]->values, std::vector<float>{300});
}

TEST_F(ServiceTest, TellsTheTruthAboutReadiness) {
  start(2);
  EXPECT_FALSE(service_->ready());
  EXPECT_FALSE(service_->settled());
  EXPECT_EQ(service_->models()[0].reason, "lane cpu:0: starting; lane cpu:1: starting");
  EXPECT_EQ(submit(1).error, ErrorCode::kUnavailable);

  fake(0).loaded(lane::SlotId{0}, unsupported("no bf16 here"));
  fake(0).up();
  drive(0);
  EXPECT_FALSE(service_->ready());
  EXPECT_EQ(service_->models()[0].reason, "lane cpu:0: no bf16 here; lane cpu:1: starting");

  come_up(1);
  EXPECT_TRUE(service_->settled());
  EXPECT_TRUE(service_->ready());
  submit(2);
  EXPECT_EQ(batch_sizes(0).size(), 0U);
  EXPECT_EQ(batch_sizes(1).size(), 1U);
  finish(1);

  service_->drain();
  EXPECT_FALSE(service_->ready());
}

TEST_F(ServiceTest, AnswersAllThatItAcceptedBeforeDraining) {
  start_up(1);
  submit(1);
  submit(2);
  service_->drain();
  EXPECT_EQ(submit(3).error, ErrorCode::kUnavailable);
  EXPECT_EQ(service_->unanswered(), 2U);
  finish(0);
  finish(0);
  EXPECT_EQ(answers_[1]->values, std::vector<float>{200});
  EXPECT_EQ(service_->unanswered(), 0U);
}

TEST_F(ServiceTest, CountsWhatAddsUp) {
  start_up(2);
  for (int i = 0; i < 9; ++i) submit(static_cast<float>(i), 1 + i % 2);
  finish(0);
  finish(1);
  const VersionStats stats = service_->stats().versions[0];
  EXPECT_EQ(stats.accepted, 9U);
  EXPECT_EQ(stats.succeeded, 2U);
  EXPECT_EQ(stats.items, 2U);
  EXPECT_EQ(stats.batches, 2U);
  EXPECT_EQ(stats.accepted, stats.succeeded + stats.failed + stats.waiting + stats.running);
  EXPECT_EQ(stats.queue.count(), 2U);
  EXPECT_EQ(stats.compute.count(), 2U);
}

TEST_F(ServiceTest, CountsTheStepsOfRequestsAndOfRunsByTheirRows) {
  start_up(1);
  submit(1);
  const lane::BatchTiming alone{
      .received = Nanos(10), .gathered = Nanos(11), .ran = Nanos(14), .written = Nanos(15)};
  submit(2);
  submit(3);  // these two run together once the first is done
  finish(0, alone);
  const lane::BatchTiming together{
      .received = Nanos(20), .gathered = Nanos(22), .ran = Nanos(30), .written = Nanos(33)};
  finish(0, together);
  const VersionStats stats = service_->stats().versions[0];
  EXPECT_EQ(stats.steps.count(), stats.succeeded);
  EXPECT_EQ(stats.steps.input(), Nanos(1 + 2 * 2));
  EXPECT_EQ(stats.steps.compute(), Nanos(3 + 2 * 8));
  EXPECT_EQ(stats.steps.output(), Nanos(1 + 2 * 3));
  EXPECT_EQ(stats.success_time, Nanos(15 + 2 * 33));
  EXPECT_EQ(stats.last_run, Nanos(33));
  ASSERT_EQ(stats.steps_by_rows.size(), 2U);
  EXPECT_EQ(stats.steps_by_rows.at(1).compute(), Nanos(3));
  EXPECT_EQ(stats.steps_by_rows.at(2).count(), 1U);
  EXPECT_EQ(stats.steps_by_rows.at(2).compute(), Nanos(8));
}

TEST_F(ServiceTest, TellsWhichLanesHoldAVersion) {
  start(2);
  come_up(1);
  const auto held_by = [&] { return service_->stats().versions[0].held_by; };
  ASSERT_EQ(held_by().size(), 1U);
  EXPECT_EQ(held_by()[0].lane, 1U);
  fake(1).down();
  drive(1);
  EXPECT_TRUE(held_by().empty());
}

TEST_F(ServiceTest, CountsTheTimeOfRequestsThatFailed) {
  start_up(1);
  deadline_ = Nanos(100);
  submit(1);
  submit(2);
  clock_.advance(Nanos(120));
  service_->expire();
  const VersionStats stats = service_->stats().versions[0];
  EXPECT_EQ(stats.failed, 1U);
  EXPECT_EQ(stats.failure_time, Nanos(120));
}

TEST(ServiceStart, RefusesToServeAVersionTwice) {
  FakePool pool(1);
  const ManualClock clock;
  const VersionToServe version{.folder = "m", .manifest = manifest_of("m"), .precision = "f32"};
  EXPECT_EQ(Service::start(pool, clock, {version, version}, {}).error().code,
            ErrorCode::kAlreadyExists);
}

TEST(Histogram, PutsADurationIntoTheFirstBucketThatHoldsIt) {
  Histogram histogram;
  histogram.add(std::chrono::microseconds(50));
  histogram.add(std::chrono::microseconds(51));
  histogram.add(std::chrono::seconds(31));
  EXPECT_EQ(histogram.counts()[0], 1U);
  EXPECT_EQ(histogram.counts()[1], 1U);
  EXPECT_EQ(histogram.counts().back(), 1U);
  EXPECT_EQ(histogram.count(), 3U);
}

}  // namespace
}  // namespace corelane::service
