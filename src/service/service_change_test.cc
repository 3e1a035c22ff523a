// Changes of what is served, over fake lanes that the test answers for.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
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
#include "model/manifest.h"
#include "service/service.h"
#include "service/testing/fake_pool.h"
#include "tensor/dtype.h"

namespace corelane::service {
namespace {

using tensor::DType;

VersionToServe build(std::int64_t version, const std::string& stamp = "a") {
  model::Manifest manifest;
  manifest.name = "m";
  manifest.version = version;
  manifest.inputs = {{.name = "x", .type = DType::kFp32, .shape = {std::int64_t{1}}}};
  manifest.outputs = {{.name = "y", .type = DType::kFp32, .shape = {std::int64_t{1}}}};
  return {.folder = "m", .manifest = manifest, .precision = "f32", .stamp = stamp};
}

struct Answer final : ReplySink {
  int calls = 0;
  std::optional<ErrorCode> error;
  std::int64_t version = 0;
  void reply(const Reply& reply) override {
    ++calls;
    if (reply.version != nullptr) version = reply.version->version;
    if (!reply.status) error = reply.status.error().code;
  }
};

class ServiceChangeTest : public testing::Test {
 protected:
  /// Two lanes that serve m@1 in slot 0.
  ServiceChangeTest() {
    service_ = *Service::start(pool_, clock_, {build(1)}, {});
    for (std::uint32_t lane = 0; lane < 2; ++lane) {
      pool_.come_up(lane);
      drive(lane);
    }
  }
  void drive(std::uint32_t lane) { service_->drive(lane::LaneId{lane}); }
  void loaded(std::uint32_t lane, std::uint32_t slot, Status status = {}) {
    pool_.fake(lane).loaded(lane::SlotId{slot}, std::move(status));
    drive(lane);
  }
  void unloaded(std::uint32_t lane, std::uint32_t slot, std::uint64_t before = 0,
                std::uint64_t after = 0) {
    pool_.fake(lane).unloaded(lane::SlotId{slot}, {.count = before}, {.count = after});
    drive(lane);
  }
  void down(std::uint32_t lane) {
    pool_.fake(lane).down();
    drive(lane);
  }
  void change(std::vector<VersionToServe> versions) {
    report_.reset();
    service_->change("m", std::move(versions),
                     [this](const ChangeReport& report) { report_ = report; });
  }
  Answer& submit(const std::string& version = "") {
    Request request{.model = "m", .version = version};
    auto block = pool_.arena().allocate(4);
    request.inputs.push_back(
        {.name = "x",
         .tensor = {.dtype = DType::kFp32, .shape = {1}, .offset = block->offset(), .bytes = 4}});
    request.storage.push_back(*std::move(block));
    answers_.push_back(std::make_unique<Answer>());
    service_->submit(std::move(request), *answers_.back());
    return *answers_.back();
  }
  void finish(std::uint32_t lane) {
    static constexpr float kOne = 1;
    pool_.fake(lane).finish(
        pool_.fake(lane).dispatched().back().number,
        {{{.dtype = DType::kFp32, .shape = {1}, .bytes = std::as_bytes(std::span(&kOne, 1))}}});
    drive(lane);
  }
  std::uint32_t last_slot(std::uint32_t lane) {
    return static_cast<std::uint32_t>(pool_.fake(lane).dispatched().back().slot);
  }

  ManualClock clock_;
  FakePool pool_{2};
  std::unique_ptr<Service> service_;
  std::optional<ChangeReport> report_;
  std::vector<std::unique_ptr<Answer>> answers_;
};

TEST_F(ServiceChangeTest, SwapsOnceEveryLaneHasLoadedAndFreesTheOldOneAfterItsAnswers) {
  Answer& old = submit();
  change({build(2)});
  loaded(0, 1);
  EXPECT_FALSE(report_);
  EXPECT_EQ(service_->models()[0].version, 1);
  loaded(1, 1);
  ASSERT_TRUE(report_);
  EXPECT_TRUE(report_->status);
  ASSERT_EQ(service_->models().size(), 1U);
  EXPECT_EQ(service_->models()[0].version, 2);
  EXPECT_TRUE(service_->ready());
  submit();
  EXPECT_EQ(last_slot(1), 1U);
  EXPECT_TRUE(pool_.unloads().empty()) << "the old one still runs a request";
  finish(0);
  EXPECT_EQ(old.version, 1);
  EXPECT_FALSE(old.error);
  EXPECT_EQ(pool_.unloads().count(lane::SlotId{0}), 1U);
  unloaded(0, 0);
  EXPECT_EQ(service_->in_change().size(), 1U);
  unloaded(1, 0);
  EXPECT_TRUE(service_->in_change().empty());
  finish(1);
  EXPECT_EQ(answers_[1]->version, 2);
}

TEST_F(ServiceChangeTest, KeepsTheOldBuildWhereALaneFailsToLoadTheNew) {
  change({build(1, "b")});
  loaded(0, 1, unsupported("no such operator"));
  EXPECT_FALSE(report_) << "the other lane is still at it";
  loaded(1, 1);
  ASSERT_TRUE(report_);
  EXPECT_EQ(report_->status.error().message, "m@1 (f32): lane cpu:0: no such operator");
  EXPECT_TRUE(service_->ready());
  submit();
  EXPECT_EQ(last_slot(0), 0U);
  finish(0);
  EXPECT_EQ(pool_.unloads().count(lane::SlotId{1}), 1U);
  unloaded(1, 1);
  EXPECT_TRUE(service_->in_change().empty());
}

TEST_F(ServiceChangeTest, AnswersWhatItAcceptedBeforeAnUnloadAndTellsWhatCameBack) {
  Answer& running = submit();
  Answer& other = submit();
  Answer& waiting = submit();
  change({});
  EXPECT_EQ(submit().error, ErrorCode::kNotFound);
  finish(0);  // the waiting one goes to this lane
  finish(0);
  EXPECT_TRUE(pool_.unloads().empty());
  finish(1);
  for (const Answer* answer : {&running, &other, &waiting}) {
    EXPECT_EQ(answer->calls, 1);
    EXPECT_FALSE(answer->error);
  }
  unloaded(0, 0, 100, 30);
  EXPECT_FALSE(report_);
  unloaded(1, 0, 100, 40);
  ASSERT_TRUE(report_);
  ASSERT_EQ(report_->freed.size(), 1U);
  EXPECT_EQ(report_->freed[0].label, "m@1");
  EXPECT_EQ(report_->freed[0].lanes[0].after.count, 30U);
}

TEST_F(ServiceChangeTest, LeavesABuildThatIsTheSameAlone) {
  change({build(1)});
  ASSERT_TRUE(report_);
  EXPECT_TRUE(report_->status);
  EXPECT_EQ(pool_.loads().size(), 1U);
}

TEST_F(ServiceChangeTest, WaitsForALaneThatDiesWhileItLoads) {
  change({build(2)});
  loaded(0, 1);
  down(1);
  EXPECT_FALSE(report_);
  pool_.come_up(1);
  drive(1);
  ASSERT_TRUE(report_);
  EXPECT_TRUE(report_->status);
}

TEST_F(ServiceChangeTest, FreesAVersionThoughALaneDiesWhileItUnloads) {
  change({});
  unloaded(0, 0);
  down(1);
  EXPECT_FALSE(report_);
  unloaded(1, 0);  // what the supervisor says of a worker that died first
  EXPECT_TRUE(report_);
  pool_.come_up(1);
  drive(1);
  EXPECT_TRUE(service_->settled());
}

TEST_F(ServiceChangeTest, ServesTheNewestReadyOneOfSeveralAndOlderOnesByNumber) {
  change({build(1), build(2)});
  loaded(0, 1);
  loaded(1, 1);
  EXPECT_EQ(service_->models().size(), 2U);
  submit();
  EXPECT_EQ(last_slot(0), 1U);
  finish(0);
  submit("1");
  EXPECT_EQ(last_slot(0), 0U);
  finish(0);
}

TEST_F(ServiceChangeTest, CarriesOutChangesOfOneModelOneAfterTheOther) {
  change({build(2)});
  change({});
  EXPECT_EQ(pool_.loads().size(), 2U);
  EXPECT_EQ(service_->models()[0].version, 1) << "the second waits for the first";
  loaded(0, 1);
  loaded(1, 1);
  EXPECT_TRUE(service_->models().empty());
  EXPECT_EQ(pool_.unloads().size(), 2U);
}

TEST_F(ServiceChangeTest, CountsOnWhereAnEarlierBuildEnded) {
  submit();
  finish(0);
  for (std::uint32_t slot = 1; slot < 20; ++slot) {
    change({build(1, std::to_string(slot))});
    for (std::uint32_t lane = 0; lane < 2; ++lane) loaded(lane, slot);
    for (std::uint32_t lane = 0; lane < 2; ++lane) unloaded(lane, slot - 1);
    EXPECT_TRUE(service_->in_change().empty());
    submit();
    EXPECT_EQ(last_slot(0), slot);
    finish(0);
  }
  ASSERT_EQ(service_->stats().versions.size(), 1U);
  EXPECT_EQ(service_->stats().versions[0].succeeded, 20U);
  EXPECT_EQ(pool_.arena().in_use().count, 0U);
}

}  // namespace
}  // namespace corelane::service
