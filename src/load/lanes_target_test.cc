#include "load/lanes_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/testing/manual_clock.h"
#include "base/units.h"
#include "lane/lane.h"
#include "load/inputs.h"
#include "load/target.h"
#include "model/manifest.h"
#include "service/service.h"
#include "service/testing/fake_pool.h"
#include "tensor/dtype.h"

namespace corelane::load {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

model::Manifest manifest_with(tensor::DType type) {
  model::Manifest manifest;
  manifest.name = "m";
  manifest.inputs = {{.name = "x", .type = type, .shape = {"batch", 3}}};
  manifest.outputs = manifest.inputs;
  manifest.dimensions["batch"] = {.min = 1, .max = 4, .buckets = {}};
  return manifest;
}

/// A service on one fake lane, and a thread that sends one request.
class LanesTargetTest : public ::testing::Test {
 protected:
  void start(tensor::DType type) {
    const model::Manifest manifest = manifest_with(type);
    std::vector<service::VersionToServe> versions = {
        {.folder = "m", .manifest = manifest, .precision = "f32"}};
    service_ = *service::Service::start(pool_, clock_, std::move(versions), {});
    pool_.come_up(0);
    service_->drive(lane::LaneId{0});
    inputs_ = *ArenaInputs::place(pool_.arena(),
                                  *make_inputs(manifest, {.batch = 2, .sizes = {}, .values = {}}));
    target_ = std::make_unique<LanesTarget>(*service_, *inputs_, LanesTarget::Model{"m", ""},
                                            ClientPlace{});
  }

  /// Sends turn 0 and lets `answer` act on what the lane was given.
  template <typename Act>
  Result<Answer> send_and(Act answer) {
    std::optional<Result<Answer>> result;
    std::jthread client([&] { result = target_->send(0); });
    while (pool_.fake(0).dispatched().empty()) std::this_thread::yield();
    answer(pool_.fake(0).dispatched().back());
    service_->drive(lane::LaneId{0});
    client.join();
    return *std::move(result);
  }

  ManualClock clock_;
  service::FakePool pool_{1};
  std::unique_ptr<service::Service> service_;
  std::unique_ptr<ArenaInputs> inputs_;
  std::unique_ptr<LanesTarget> target_;
};

TEST_F(LanesTargetTest, SleepsUntilTheAnswerAndTellsWhereTheTimeWent) {
  start(tensor::DType::kFp32);
  const auto before = pool_.arena().in_use();
  const auto answer = send_and([&](const auto& dispatched) {
    ASSERT_EQ(dispatched.members.size(), 1U);
    EXPECT_EQ(dispatched.members[0][0].shape, (tensor::Shape{2, 3}));
    const std::vector<float> values(6);
    pool_.fake(0).finish(dispatched.number,
                         {{{.dtype = tensor::DType::kFp32,
                            .shape = {2, 3},
                            .bytes = std::as_bytes(std::span(values))}}},
                         {.received = milliseconds(1),
                          .gathered = milliseconds(3),
                          .ran = milliseconds(10),
                          .written = milliseconds(11)});
  });
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->items, 2);
  EXPECT_TRUE(answer->split.known);
  EXPECT_EQ(answer->split.queue, milliseconds(1));
  EXPECT_EQ(answer->split.gather, milliseconds(2));
  EXPECT_EQ(answer->split.compute, milliseconds(7));
  EXPECT_EQ(answer->split.write, milliseconds(1));
  EXPECT_EQ(answer->split.lane, milliseconds(10));
  EXPECT_EQ(pool_.arena().in_use().count, before.count) << "inputs are used where they lie";
}

TEST_F(LanesTargetTest, TakesAFailedBatchForAFailedRequest) {
  start(tensor::DType::kFp32);
  const auto answer = send_and([&](const auto& dispatched) {
    pool_.fake(0).fail(dispatched.number, internal_error("the engine broke"));
  });
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("the engine broke"));
}

TEST_F(LanesTargetTest, BringsAStorageForTextsAndGivesItBack) {
  start(tensor::DType::kBytes);
  const auto before = pool_.arena().in_use();
  const auto answer = send_and([&](const auto& dispatched) {
    EXPECT_GT(pool_.arena().in_use().count, before.count);
    pool_.fake(0).fail(dispatched.number, internal_error("enough seen"));
  });
  EXPECT_FALSE(answer);
  EXPECT_EQ(pool_.arena().in_use().count, before.count);
}

TEST(InputOfTurn, LetsClientsGoThroughTheInputsTogether) {
  EXPECT_EQ(input_of_turn({.index = 0, .count = 3}, 0, 7), 0U);
  EXPECT_EQ(input_of_turn({.index = 2, .count = 3}, 0, 7), 2U);
  EXPECT_EQ(input_of_turn({.index = 0, .count = 3}, 1, 7), 3U);
  EXPECT_EQ(input_of_turn({.index = 1, .count = 3}, 2, 7), 0U);
}

TEST(SplitOf, GivesARequestItsShareOfTheLaneByRows) {
  service::Timing timing;
  timing.worker = {.received = Nanos(0),
                   .gathered = milliseconds(1),
                   .ran = milliseconds(7),
                   .written = milliseconds(8)};
  timing.batch_rows = 8;
  EXPECT_EQ(split_of(timing, 2).lane, milliseconds(2));
}

}  // namespace
}  // namespace corelane::load
