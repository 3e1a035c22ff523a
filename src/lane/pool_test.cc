#include "lane/pool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "device/cpu_budget.h"
#include "lane/channel_layout.h"
#include "lane/control_socket.h"
#include "lane/lane.h"
#include "lane/load_spec.h"
#include "lane/shared_memory.h"
#include "lane/testing/lane_driver.h"
#include "lane/testing/probe_model.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::lane {
namespace {

constexpr Nanos kLong = std::chrono::seconds(30);  // on a slow, busy machine with sanitizers
const SystemClock kClock;

PoolOptions options(int lanes = 1) {
  PoolOptions options{.lanes = {},
                      .executable = CORELANE_TEST_WORKER,
                      .engines = CORELANE_ENGINES,
                      .arena = {.count = 64 << 20},
                      .output_limit = {.count = 64 << 20}};
  const int cpu = device::read_cpu_budget()->usable.front();
  for (int lane = 0; lane < lanes; ++lane) {
    options.lanes.push_back({.cpus = {cpu}, .threads = 1});
  }
  return options;
}

LoadSpec probe(const std::string& name) {
  return {.folder = std::filesystem::path(CORELANE_EXAMPLES) / "probe-models" / name / "1",
          .precision = "f32"};
}

/// A pool of one lane that is up.
struct OneLane {
  explicit OneLane(const PoolOptions& with = options())
      : pool(std::move(*LanePool::start(with, kClock))) {
    const auto up = wait_for<LaneUp>(lane(), kLong);
    pid = up ? up->pid : 0;
  }
  Lane& lane() { return *pool->lanes()[0]; }
  SlotId load(const LoadSpec& spec) {
    const std::array<LaneId, 1> on{LaneId{0}};
    return pool->load(spec, on);
  }
  SlotId load_well(const LoadSpec& spec) {
    const SlotId slot = load(spec);
    const auto loaded = wait_for<ModelLoaded>(lane(), kLong);
    EXPECT_TRUE(loaded && loaded->slot == slot && loaded->status)
        << (loaded && !loaded->status ? loaded->status.error().message : "no answer");
    return slot;
  }
  PlacedTensor floats(const tensor::Shape& shape, const std::vector<float>& elements) {
    return place<float>(pool->arena(), tensor::DType::kFp32, shape, elements);
  }
  std::uint64_t dispatch(SlotId slot, const std::vector<const PlacedTensor*>& tensors,
                         const std::vector<std::int64_t>& padded_to = {}) {
    std::vector<Member> members;
    members.reserve(tensors.size());
    for (const PlacedTensor* tensor : tensors) {
      members.push_back({.inputs = {&tensor->ref, 1}});
    }
    const auto batch = lane().dispatch({.slot = slot, .members = members, .padded_to = padded_to});
    EXPECT_TRUE(batch) << batch.error().message;
    return batch ? *batch : 0;
  }

  std::unique_ptr<LanePool> pool;
  int pid = 0;
};

bool is_alive(int pid) { return kill(pid, 0) == 0; }

TEST(LanePool, RunsARequestWhereItLiesAndAnswersIt) {
  OneLane one;
  const SlotId slot = one.load_well(probe("id_fp32"));
  const PlacedTensor in = one.floats({3}, {1, 2, 3});
  const std::uint64_t batch = one.dispatch(slot, {&in});
  const auto done = wait_for<BatchDone>(one.lane(), kLong);
  ASSERT_TRUE(done);
  ASSERT_TRUE(done->status) << done->status.error().message;
  EXPECT_EQ(done->batch, batch);
  ASSERT_EQ(done->outputs.size(), 1U);
  EXPECT_EQ(done->outputs[0].shape, tensor::Shape({3}));
  EXPECT_EQ(elements_of<float>(done->outputs[0]), (std::vector<float>{1, 2, 3}));
  EXPECT_LE(done->timing.received, done->timing.gathered);
  EXPECT_LE(done->timing.gathered, done->timing.ran);
  EXPECT_LE(done->timing.ran, done->timing.written);
  EXPECT_LE(done->timing.written, kClock.now());
  one.lane().release(batch);
}

TEST(LanePool, StacksRequestsPadsThemAndCutsTheirOutputsApart) {
  OneLane one;
  const ProbeModel model(R"({ behaviour = "identity" })",
                         {.input = R"(["batch", "tokens"])", .output = R"(["batch", "tokens"])"});
  const SlotId slot = one.load_well(model.spec());
  const PlacedTensor a = one.floats({1, 2}, {1, 2});
  const PlacedTensor b = one.floats({2, 3}, {3, 4, 5, 6, 7, 8});
  const std::uint64_t batch = one.dispatch(slot, {&a, &b}, {4, 5});
  const auto done = wait_for<BatchDone>(one.lane(), kLong);
  ASSERT_TRUE(done && done->status);
  EXPECT_EQ(done->outputs_per_member, 1U);
  ASSERT_EQ(done->outputs.size(), 2U);
  EXPECT_EQ(done->outputs[0].shape, tensor::Shape({1, 2}));
  EXPECT_EQ(elements_of<float>(done->outputs[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(done->outputs[1].shape, tensor::Shape({2, 3}));
  EXPECT_EQ(elements_of<float>(done->outputs[1]), (std::vector<float>{3, 4, 5, 6, 7, 8}));
  one.lane().release(batch);
}

TEST(LanePool, TakesTheNextBatchWhileTheOutputsOfTheLastAreStillRead) {
  OneLane one;
  const SlotId slot = one.load_well(probe("id_b8"));
  std::optional<BatchDone> kept;
  for (int round = 0; round < 200; ++round) {
    const auto value = static_cast<float>(round);
    const PlacedTensor in = one.floats({1, 4}, {value, value, value, value});
    one.dispatch(slot, {&in});
    const auto done = wait_for<BatchDone>(one.lane(), kLong);
    ASSERT_TRUE(done && done->status);
    if (kept) {
      EXPECT_EQ(elements_of<float>(kept->outputs[0])[3], value - 1);
      one.lane().release(kept->batch);
    }
    kept = *done;
  }
  one.lane().release(kept->batch);
}

TEST(LanePool, AnswersABatchThatTheEngineRefusesAndStaysUp) {
  OneLane one;
  const ProbeModel failing(R"({ behaviour = "fail" })");
  const SlotId slot = one.load_well(failing.spec());
  const PlacedTensor in = one.floats({1}, {1});
  one.dispatch(slot, {&in});
  const auto failed = wait_for<BatchDone>(one.lane(), kLong);
  ASSERT_TRUE(failed);
  EXPECT_FALSE(failed->status);
  one.lane().release(failed->batch);
  const SlotId good = one.load_well(probe("id_fp32"));
  one.dispatch(good, {&in});
  const auto done = wait_for<BatchDone>(one.lane(), kLong);
  EXPECT_TRUE(done && done->status);
}

TEST(LanePool, AnswersABatchForAModelThatIsNotLoaded) {
  OneLane one;
  const PlacedTensor in = one.floats({1}, {1});
  one.dispatch(SlotId{77}, {&in});
  const auto done = wait_for<BatchDone>(one.lane(), kLong);
  ASSERT_TRUE(done && !done->status);
  EXPECT_EQ(done->status.error().code, ErrorCode::kUnavailable);
}

TEST(LanePool, ReportsALoadThatFailsAndUnloadsWhatItHas) {
  OneLane one;
  const SlotId broken = one.load(probe("broken"));
  auto loaded = wait_for<ModelLoaded>(one.lane(), kLong);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->slot, broken);
  EXPECT_FALSE(loaded->status);

  one.load({.folder = "/nowhere", .precision = "f32"});
  loaded = wait_for<ModelLoaded>(one.lane(), kLong);
  ASSERT_TRUE(loaded && !loaded->status);
  EXPECT_EQ(loaded->status.error().code, ErrorCode::kNotFound);

  const SlotId good = one.load_well(probe("reload"));
  one.pool->unload(good);
  const auto unloaded = wait_for<ModelUnloaded>(one.lane(), kLong);
  ASSERT_TRUE(unloaded);
  EXPECT_EQ(unloaded->slot, good);
}

TEST(LanePool, NamesTheBatchThatAKilledWorkerTookWithItAndComesBackWithItsModels) {
  OneLane one;
  const SlotId quick = one.load_well(probe("id_fp32"));
  const SlotId slow = one.load_well(probe("slow"));
  const PlacedTensor in = one.floats({1}, {1});
  const PlacedTensor long_time = one.floats({1}, {50});

  one.dispatch(quick, {&in});
  const std::uint64_t lost = one.dispatch(slow, {&long_time});
  ASSERT_TRUE(wait_for<BatchDone>(one.lane(), kLong));
  kill(one.pid, SIGKILL);
  const Nanos killed = kClock.now();
  const auto down = wait_for<LaneDown>(one.lane(), kLong);
  ASSERT_TRUE(down);
  EXPECT_EQ(down->reason, "killed by signal 9");
  EXPECT_EQ(down->lost_batches, std::vector{lost});
  const Member member{.inputs = {&in.ref, 1}};
  const auto refused =
      one.lane().dispatch({.slot = quick, .members = {&member, 1}, .padded_to = {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);

  for (const SlotId slot : {quick, slow}) {
    const auto loaded = wait_for<ModelLoaded>(one.lane(), kLong);
    ASSERT_TRUE(loaded && loaded->status);
    EXPECT_EQ(loaded->slot, slot);
  }
  const auto up = wait_for<LaneUp>(one.lane(), kLong);
  ASSERT_TRUE(up);
  EXPECT_NE(up->pid, one.pid);
  EXPECT_LT(kClock.now() - killed, std::chrono::seconds(2));
  one.lane().release(1);  // was answered by the worker that died; its bytes were still there
  one.dispatch(quick, {&in});
  const auto done = wait_for<BatchDone>(one.lane(), kLong);
  EXPECT_TRUE(done && done->status);
}

TEST(LanePool, RestartsAWorkerThatHangsWhenAsked) {
  OneLane one;
  const ProbeModel hanging(R"({ behaviour = "hang" })");
  const SlotId slot = one.load_well(hanging.spec());
  const PlacedTensor in = one.floats({1}, {1});
  const std::uint64_t lost = one.dispatch(slot, {&in});
  one.pool->restart(LaneId{0}, "a batch takes too long");
  const auto down = wait_for<LaneDown>(one.lane(), kLong);
  ASSERT_TRUE(down);
  EXPECT_EQ(down->reason, "a batch takes too long (killed by signal 9)");
  EXPECT_EQ(down->lost_batches, std::vector{lost});
  EXPECT_TRUE(wait_for<LaneUp>(one.lane(), kLong));
}

TEST(LanePool, KillsAWorkerThatIsAtOneBatchForTooLong) {
  PoolOptions impatient = options();
  impatient.longest_batch = std::chrono::milliseconds(300);
  OneLane one(impatient);
  const ProbeModel hanging(R"({ behaviour = "hang" })");
  const SlotId slot = one.load_well(hanging.spec());
  const PlacedTensor in = one.floats({1}, {1});
  const std::uint64_t lost = one.dispatch(slot, {&in});
  const auto down = wait_for<LaneDown>(one.lane(), kLong);
  ASSERT_TRUE(down);
  EXPECT_EQ(down->reason, "a batch takes longer than 300 ms (killed by signal 9)");
  EXPECT_EQ(down->lost_batches, std::vector{lost});
}

TEST(LanePool, SaysHowAWorkerDiesOfItsModel) {
  OneLane one;
  const ProbeModel crashing(R"({ behaviour = "crash" })");
  const SlotId slot = one.load_well(crashing.spec());
  const PlacedTensor in = one.floats({1}, {1});
  one.dispatch(slot, {&in});
  const auto down = wait_for<LaneDown>(one.lane(), kLong);
  ASSERT_TRUE(down);
  EXPECT_EQ(down->reason, "killed by signal 6");
}

/// The channel of a worker, opened behind everybody's back.
Mapping open_channel_of(int pid) {
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    std::error_code ignored;
    const std::string target = std::filesystem::read_symlink(entry.path(), ignored).string();
    if (target.starts_with("/memfd:corelane-channel")) {
      const FileDescriptor memory(open(entry.path().c_str(), O_RDWR | O_CLOEXEC));
      return *Mapping::of(memory.get(), Mapping::Access::kReadWrite);
    }
  }
  return {};
}

TEST(LanePool, EndsAWorkerThatWritesGarbageIntoItsCompletionsAndNamesTheBatch) {
  OneLane one;
  const ProbeModel hanging(R"({ behaviour = "hang" })");
  const SlotId slot = one.load_well(hanging.spec());
  const PlacedTensor in = one.floats({1}, {1});
  const std::uint64_t lost = one.dispatch(slot, {&in});
  EXPECT_EQ(one.lane().next_event(), std::nullopt);

  const Mapping channel = open_channel_of(one.pid);
  ASSERT_FALSE(channel.bytes().empty());
  auto& layout = *reinterpret_cast<ChannelLayout*>(channel.bytes().data());
  CompletionSlot& completion = layout.completions[0];
  completion.error = 0;
  completion.outputs_per_member = 1;
  completion.tensors[0] = {.offset = std::uint64_t{1} << 60,
                           .bytes = 4,
                           .dtype = static_cast<std::uint32_t>(tensor::DType::kFp32),
                           .rank = 1,
                           .dims = {1}};
  std::atomic_ref(completion.number).store(1);
  const auto down = wait_for<LaneDown>(one.lane(), kLong);
  ASSERT_TRUE(down);
  EXPECT_TRUE(down->reason.starts_with("broke the channel's protocol: output 0")) << down->reason;
  EXPECT_EQ(down->lost_batches, std::vector{lost});
  EXPECT_TRUE(wait_for<LaneUp>(one.lane(), kLong));
}

TEST(LanePool, RunsLanesBesideEachOther) {
  auto pool = std::move(*LanePool::start(options(2), kClock));
  ASSERT_EQ(pool->lanes().size(), 2U);
  std::vector<LaneId> on;
  for (Lane* lane : pool->lanes()) {
    EXPECT_TRUE(wait_for<LaneUp>(*lane, kLong));
    on.push_back(lane->info().id);
  }
  const SlotId slot = pool->load(probe("id_fp32"), on);
  const std::vector<float> elements{4};
  const PlacedTensor in = place<float>(pool->arena(), tensor::DType::kFp32, {1}, elements);
  const Member member{.inputs = {&in.ref, 1}};
  for (Lane* lane : pool->lanes()) {
    ASSERT_TRUE(wait_for<ModelLoaded>(*lane, kLong));
    ASSERT_TRUE(lane->dispatch({.slot = slot, .members = {&member, 1}, .padded_to = {}}));
  }
  for (Lane* lane : pool->lanes()) {
    const auto done = wait_for<BatchDone>(*lane, kLong);
    EXPECT_TRUE(done && done->status);
  }
}

TEST(LanePool, EndsItsWorkersWhenItGoesEvenOneThatHangs) {
  int pid = 0;
  {
    OneLane one;
    pid = one.pid;
    const ProbeModel hanging(R"({ behaviour = "hang" })");
    const SlotId slot = one.load_well(hanging.spec());
    const PlacedTensor in = one.floats({1}, {1});
    one.dispatch(slot, {&in});
    EXPECT_TRUE(is_alive(pid));
  }
  EXPECT_FALSE(is_alive(pid));
}

TEST(LanePool, RefusesToStartWithoutTheWorkersProgram) {
  PoolOptions wrong = options();
  wrong.executable = "/nowhere/corelane";
  const auto pool = LanePool::start(wrong, kClock);
  ASSERT_FALSE(pool);
  EXPECT_EQ(pool.error().code, ErrorCode::kNotFound);
}

TEST(LanePool, LeavesNoWorkerBehindWhenTheServerIsKilled) {
  auto [here, there] = *ControlSocket::make_pair();
  const pid_t server = fork();
  if (server == 0) {
    OneLane one;
    (void)there.send(std::to_string(one.pid), ControlSocket::Wait::kYes);
    for (;;) {
      pause();
    }
  }
  const auto message = here.receive(ControlSocket::Wait::kYes);
  ASSERT_TRUE(message && *message);
  const int worker = std::stoi(**message);
  ASSERT_GT(worker, 0);
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, worker, 0));
  ASSERT_GE(pidfd, 0);
  EXPECT_FALSE(wait_readable(pidfd, Nanos::zero()));
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  EXPECT_TRUE(wait_readable(pidfd, kLong)) << "the worker ended";
  close(pidfd);
}

}  // namespace
}  // namespace corelane::lane
