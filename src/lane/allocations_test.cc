#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "base/testing/allocations/count.h"
#include "base/units.h"
#include "lane/arena.h"
#include "lane/channel.h"
#include "lane/lane.h"
#include "lane/load_spec.h"
#include "lane/model_loader.h"
#include "lane/process_lane.h"
#include "lane/shared_memory.h"
#include "lane/tensor_ref.h"
#include "lane/testing/probe_model.h"
#include "tensor/dtype.h"

namespace corelane::lane {
namespace {

const SystemClock kClock;

/// A lane whose worker is this thread: it runs each batch with a real model of the probe engine.
struct Loop {
  explicit Loop(const LoadSpec& spec) : model(*ModelLoader(CORELANE_ENGINES, 1).load(spec)) {
    auto channel = *LaneChannel::create();
    auto& layout = **open_channel(channel->mapping.bytes());
    worker.emplace(layout, lane.event_fd(), kClock, Nanos::zero());
    lane.post_up(1, std::move(channel));
    (void)lane.next_event();
  }

  void work() {
    const std::size_t slot = *worker->next();
    const std::size_t part = outputs.bytes().size() / Lane::kDepth;
    model->run(worker->submission(slot), requests.bytes(),
               outputs.bytes().subspan(slot * part, part), kClock, worker->completion(slot));
    worker->complete(slot);
  }

  /// What the server's threads and a worker do for a batch. False when it fails.
  bool go_round(std::span<const std::array<std::size_t, 2>> shapes) {
    std::array<ArenaBlock, 4> blocks;
    std::array<TensorRef, 4> tensors;
    std::array<Member, 4> members;
    for (std::size_t m = 0; m < shapes.size(); ++m) {
      const std::size_t bytes = shapes[m][0] * shapes[m][1] * sizeof(float);
      blocks[m] = *arena->allocate(bytes);
      tensors[m] = {.dtype = tensor::DType::kFp32,
                    .shape = {static_cast<std::int64_t>(shapes[m][0]),
                              static_cast<std::int64_t>(shapes[m][1])},
                    .offset = blocks[m].offset(),
                    .bytes = bytes};
      members[m] = {.inputs = {&tensors[m], 1}};
    }
    const auto batch = lane.dispatch(
        {.slot = SlotId{1}, .members = std::span(members).first(shapes.size()), .padded_to = {}});
    if (!batch) return false;
    work();
    const auto event = lane.next_event();
    const auto* done = event ? std::get_if<BatchDone>(&*event) : nullptr;
    if (done == nullptr || !done->status || done->outputs.size() != shapes.size()) return false;
    lane.release(*batch);
    return !lane.next_event();
  }

  std::unique_ptr<Arena> arena = *Arena::create({.count = 1 << 20});
  Mapping requests = *Mapping::of(arena->fd(), Mapping::Access::kRead);
  ProcessLane lane{{.id = {}, .name = "cpu:0", .cores = {0}},
                   *ProcessLane::make_outputs({.count = 1 << 20}),
                   *make_eventfd(),
                   [](const std::string&) {},
                   kClock};
  Mapping outputs = *Mapping::of(lane.outputs_fd(), Mapping::Access::kReadWrite);
  std::unique_ptr<ModelRunner> model;
  std::optional<WorkerEnd> worker;
};

TEST(ABatch, AllocatesNothingOnEitherSideOnceItsSizesHaveBeenSeen) {
  const ProbeModel model(R"({ behaviour = "identity" })",
                         {.input = R"(["batch", "tokens"])", .output = R"(["batch", "tokens"])"});
  Loop loop(model.spec());
  constexpr std::array<std::array<std::size_t, 2>, 1> kOne{{{1, 16}}};
  constexpr std::array<std::array<std::size_t, 2>, 3> kPadded{{{1, 16}, {2, 5}, {1, 9}}};
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(loop.go_round(kOne));
    ASSERT_TRUE(loop.go_round(kPadded));
  }
  const std::int64_t before = allocations_of_thread();
  ASSERT_GT(before, 0) << "allocations are counted";
  for (int round = 0; round < 100; ++round) {
    ASSERT_TRUE(loop.go_round(kOne));
    ASSERT_TRUE(loop.go_round(kPadded));
  }
  EXPECT_EQ(allocations_of_thread() - before, 0);
}

}  // namespace
}  // namespace corelane::lane
