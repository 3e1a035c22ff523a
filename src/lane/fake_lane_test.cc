#include "lane/testing/fake_lane.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "lane/lane.h"
#include "lane/tensor_ref.h"
#include "tensor/dtype.h"

namespace corelane::lane {
namespace {

bool readable(int fd) {
  pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&wait, 1, 0) == 1;
}

std::uint64_t dispatch_one(FakeLane& lane) {
  const std::array<TensorRef, 1> inputs{
      TensorRef{.dtype = tensor::DType::kFp32, .shape = {1}, .offset = 64, .bytes = 4}};
  const std::array<Member, 1> members{Member{inputs}};
  return *lane.dispatch({.slot = SlotId{3}, .members = members, .padded_to = {}});
}

TEST(FakeLane, RecordsWhatIsDispatchedAndHandsOutWhatTheTestAnswers) {
  FakeLane lane({.id = {}, .name = "cpu:0", .cores = {0}});
  lane.up();
  EXPECT_TRUE(readable(lane.event_fd()));
  ASSERT_TRUE(std::holds_alternative<LaneUp>(*lane.next_event()));
  EXPECT_EQ(lane.next_event(), std::nullopt);
  EXPECT_FALSE(readable(lane.event_fd()));

  const std::uint64_t batch = dispatch_one(lane);
  ASSERT_EQ(lane.dispatched().size(), 1U);
  EXPECT_EQ(lane.dispatched()[0].members[0][0].offset, 64U);

  const std::array<std::byte, 4> bytes{std::byte{7}};
  lane.finish(batch, {{{.dtype = tensor::DType::kFp32, .shape = {1}, .bytes = bytes}}});
  const auto event = lane.next_event();
  const auto& done = std::get<BatchDone>(*event);
  EXPECT_EQ(done.batch, batch);
  ASSERT_EQ(done.outputs.size(), 1U);
  EXPECT_EQ(done.outputs[0].bytes[0], std::byte{7});
  lane.release(batch);
  EXPECT_EQ(lane.released(), std::vector{batch});
}

TEST(FakeLane, NamesWhatWasLostWhenItGoesDown) {
  FakeLane lane({.id = {}, .name = "cpu:0", .cores = {0}});
  lane.up();
  (void)lane.next_event();
  const std::uint64_t batch = dispatch_one(lane);
  lane.down();
  EXPECT_EQ(std::get<LaneDown>(*lane.next_event()).lost_batches, std::vector{batch});
  const std::array<Member, 1> members{};
  EXPECT_FALSE(lane.dispatch({.slot = SlotId{3}, .members = members, .padded_to = {}}));
}

}  // namespace
}  // namespace corelane::lane
