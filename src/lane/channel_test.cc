#include "lane/channel.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/channel_layout.h"
#include "lane/lane.h"
#include "lane/shared_memory.h"
#include "lane/tensor_ref.h"
#include "lane/testing/lane_driver.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/view.h"

namespace corelane::lane {
namespace {

const SystemClock kClock;
constexpr Nanos kLong = std::chrono::seconds(30);

/// Both ends over one mapping: what a thread sanitizer can follow.
struct Pair {
  explicit Pair(Nanos spin = {}) : worker(layout, event.get(), kClock, spin) {}

  std::vector<tensor::TensorView> outputs;
  std::array<std::byte, 4096> memory{};
  FileDescriptor shared = *make_shared_memory("test", {sizeof(ChannelLayout)});
  Mapping mapping = *Mapping::of(shared.get(), Mapping::Access::kReadWrite);
  ChannelLayout& layout = format_channel(mapping.bytes());
  FileDescriptor event = *make_eventfd();
  ServerEnd server{layout};
  WorkerEnd worker;

  Status submit(std::size_t slot, std::uint64_t offset, SlotId model = SlotId{1}) {
    const TensorRef tensor{
        .dtype = tensor::DType::kInt64, .shape = {1}, .offset = offset, .bytes = 8};
    const Member member{.inputs = {&tensor, 1}};
    return server.submit(slot, {.slot = model, .members = {&member, 1}, .padded_to = {}});
  }
  std::optional<Result<Completion>> look(std::size_t slot, std::size_t members = 1) {
    return server.completion(slot, members, memory, outputs);
  }
};

/// Says that a batch's one output is one INT64 at the input's offset.
void answer(WorkerEnd& worker, std::size_t slot) {
  CompletionSlot& to = worker.completion(slot);
  to.error = 0;
  to.outputs_per_member = 1;
  to.tensors[0] = worker.submission(slot).tensors[0];
  worker.complete(slot);
}

TEST(Channel, CarriesABatchThereAndItsOutputsBack) {
  Pair pair;
  const std::array<std::int64_t, 2> padded{4, 0};
  const std::array<TensorRef, 2> first{
      TensorRef{.dtype = tensor::DType::kInt64, .shape = {1, 3}, .offset = 64, .bytes = 24},
      TensorRef{.dtype = tensor::DType::kFp16, .shape = {}, .offset = 128, .bytes = 2}};
  const std::array<TensorRef, 2> second{
      TensorRef{.dtype = tensor::DType::kInt64, .shape = {2, 5}, .offset = 192, .bytes = 80},
      TensorRef{.dtype = tensor::DType::kFp16, .shape = {}, .offset = 256, .bytes = 2}};
  const std::array<Member, 2> members{Member{first}, Member{second}};
  ASSERT_TRUE(pair.server.submit(1, {.slot = SlotId{9}, .members = members, .padded_to = padded}));
  EXPECT_FALSE(pair.look(1, 2));

  ASSERT_EQ(pair.worker.next(), 1U);
  const SubmissionSlot& got = pair.worker.submission(1);
  EXPECT_EQ(got.slot, 9U);
  EXPECT_EQ(got.members, 2U);
  EXPECT_EQ(got.inputs_per_member, 2U);
  EXPECT_EQ(got.padded_to_count, 2U);
  EXPECT_EQ(got.padded_to[0], 4);
  EXPECT_EQ(got.tensors[2].offset, 192U);
  EXPECT_EQ(got.tensors[2].dims[1], 5);
  EXPECT_EQ(got.tensors[3].rank, 0U);

  CompletionSlot& to = pair.worker.completion(1);
  to.outputs_per_member = 1;
  to.timing[2] = 77;
  to.tensors[0] = got.tensors[0];
  to.tensors[1] = got.tensors[2];
  pair.worker.complete(1);
  const auto done = pair.look(1, 2);
  ASSERT_TRUE(done && *done);
  EXPECT_TRUE((*done)->status);
  EXPECT_EQ((*done)->timing.ran, Nanos(77));
  ASSERT_EQ(pair.outputs.size(), 2U);
  EXPECT_EQ(pair.outputs[1].shape, tensor::Shape({2, 5}));
  EXPECT_EQ(pair.outputs[1].bytes.data(), pair.memory.data() + 192);
}

TEST(Channel, CarriesAnErrorAndCutsALongMessage) {
  Pair pair;
  ASSERT_TRUE(pair.submit(0, 0));
  ASSERT_EQ(pair.worker.next(), 0U);
  write_error(pair.worker.completion(0), ErrorCode::kResourceExhausted,
              std::string(2 * kMessageBytes, 'x'));
  pair.worker.complete(0);
  const auto done = pair.look(0);
  ASSERT_TRUE(done && *done && !(*done)->status);
  EXPECT_EQ((*done)->status.error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ((*done)->status.error().message, std::string(kMessageBytes, 'x'));
}

TEST(Channel, RefusesABatchThatDoesNotFitOrIsUneven) {
  Pair pair;
  const TensorRef tensor{.dtype = tensor::DType::kInt8, .shape = {1}, .offset = 0, .bytes = 1};
  const std::vector<Member> many(kMostTensors + 1, Member{.inputs = {&tensor, 1}});
  auto refused = pair.server.submit(0, {.slot = SlotId{1}, .members = many, .padded_to = {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  const std::array<Member, 2> uneven{Member{.inputs = {&tensor, 1}}, Member{}};
  refused = pair.server.submit(0, {.slot = SlotId{1}, .members = uneven, .padded_to = {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(pair.server.submit(
      0, {.slot = SlotId{1}, .members = std::span(many).first(kMostTensors), .padded_to = {}}));
}

TEST(Channel, BelievesNothingOfWhatAWorkerWrites) {
  struct Case {
    const char* name;
    std::function<void(CompletionSlot&)> lie;
  };
  const std::vector<Case> cases{
      {"a batch it was not given", [](CompletionSlot& slot) { slot.number = 5; }},
      {"an error that is none", [](CompletionSlot& slot) { slot.error = 4000; }},
      {"a message beyond its room",
       [](CompletionSlot& slot) {
         slot.error = 1;
         slot.message_bytes = kMessageBytes + 1;
       }},
      {"more outputs than fit", [](CompletionSlot& slot) { slot.outputs_per_member = 5000; }},
      {"so many outputs that they wrap",
       [](CompletionSlot& slot) { slot.outputs_per_member = UINT32_MAX; }},
      {"type 0", [](CompletionSlot& slot) { slot.tensors[0].dtype = 0; }},
      {"type 15", [](CompletionSlot& slot) { slot.tensors[0].dtype = 15; }},
      {"type beyond a byte", [](CompletionSlot& slot) { slot.tensors[0].dtype = 256 + 9; }},
      {"rank 9", [](CompletionSlot& slot) { slot.tensors[0].rank = 9; }},
      {"a negative dimension", [](CompletionSlot& slot) { slot.tensors[0].dims[0] = -1; }},
      {"a shape of more than its bytes", [](CompletionSlot& slot) { slot.tensors[0].dims[0] = 2; }},
      {"a shape that wraps to its bytes",
       [](CompletionSlot& slot) {
         slot.tensors[0].dims[0] = (std::int64_t{1} << 61) + 1;  // times 8 is 8
       }},
      {"an offset behind the memory", [](CompletionSlot& slot) { slot.tensors[0].offset = 4096; }},
      {"an offset that wraps", [](CompletionSlot& slot) { slot.tensors[0].offset = ~7ULL; }},
      {"an end behind the memory", [](CompletionSlot& slot) { slot.tensors[0].offset = 4096 - 4; }},
      {"bytes beyond the memory", [](CompletionSlot& slot) { slot.tensors[0].bytes = 1 << 20; }},
      {"BYTES with more elements than lengths fit",
       [](CompletionSlot& slot) {
         slot.tensors[0].dtype = static_cast<std::uint32_t>(tensor::DType::kBytes);
         slot.tensors[0].dims[0] = 3;
       }},
  };
  for (const Case& c : cases) {
    Pair pair;
    ASSERT_TRUE(pair.submit(0, 8));
    ASSERT_EQ(pair.worker.next(), 0U);
    answer(pair.worker, 0);
    ASSERT_TRUE(pair.look(0) && *pair.look(0)) << "the honest answer";
    c.lie(pair.layout.completions[0]);
    const auto done = pair.look(0);
    ASSERT_TRUE(done.has_value()) << c.name;
    ASSERT_FALSE(*done) << c.name;
    EXPECT_EQ(done->error().code, ErrorCode::kInternal) << c.name;
  }
}

TEST(Channel, RefusesMemoryOfAnotherBuild) {
  Pair pair;
  EXPECT_TRUE(open_channel(pair.mapping.bytes()));
  EXPECT_FALSE(open_channel(pair.mapping.bytes().first(100)));
  pair.layout.size -= 1;
  EXPECT_FALSE(open_channel(pair.mapping.bytes()));
}

/// A driver that sleeps whenever it finds nothing, as ProcessLane has it.
void wait_for_completion(Pair& pair, std::size_t slot) {
  for (;;) {
    if (pair.look(slot)) return;
    eventfd_t count = 0;
    (void)!read(pair.event.get(), &count, sizeof(count));
    pair.server.driver_sleeps();
    if (pair.look(slot)) return;
    ASSERT_TRUE(wait_readable(pair.event.get(), kLong)) << "a wake-up was lost";
  }
}

void exchange_many(Nanos spin) {
  Pair pair(spin);
  std::jthread worker([&] {
    while (const auto slot = pair.worker.next()) {
      // The payload is plain memory: a missing order between the threads is a race here.
      const std::uint64_t place = pair.worker.submission(*slot).tensors[0].offset;
      std::int64_t value = 0;
      std::memcpy(&value, pair.memory.data() + place, sizeof(value));
      value = -value;
      std::memcpy(pair.memory.data() + place + 2048, &value, sizeof(value));
      answer(pair.worker, *slot);
    }
  });
  constexpr int kRounds = 20'000;
  for (int round = 0; round < kRounds + 1; ++round) {
    // Two are under way: one is put in while the one before is waited for.
    const std::size_t slot = static_cast<std::size_t>(round) % 2;
    if (round < kRounds) {
      const std::int64_t value = round;
      std::memcpy(pair.memory.data() + 64 * slot, &value, sizeof(value));
      ASSERT_TRUE(pair.submit(slot, 64 * slot));
      pair.server.wake_worker();
    }
    if (round > 0) {
      const std::size_t other = 1 - slot;
      wait_for_completion(pair, other);
      std::int64_t value = 0;
      std::memcpy(&value, pair.memory.data() + 64 * other + 2048, sizeof(value));
      ASSERT_EQ(value, -(round - 1));
    }
  }
  pair.worker.stop();
}

TEST(Channel, LosesNoBatchAndNoWakeUpBetweenTwoThreadsThatSleep) { exchange_many({}); }

TEST(Channel, LosesNoBatchWhenTheWorkerSpinsBeforeItSleeps) {
  exchange_many(std::chrono::microseconds(20));
}

TEST(Channel, EndsAWorkerThatSleeps) {
  Pair pair;
  std::jthread worker([&] { EXPECT_EQ(pair.worker.next(), std::nullopt); });
  while (std::atomic_ref(pair.layout.worker_sleeps).load() == 0) {
    std::this_thread::yield();
  }
  pair.worker.stop();
}

}  // namespace
}  // namespace corelane::lane
