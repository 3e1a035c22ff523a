#include "service/testing/fake_pool.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/units.h"
#include "lane/arena.h"
#include "lane/lane.h"
#include "lane/load_spec.h"
#include "lane/testing/fake_lane.h"

namespace corelane::service {

FakePool::FakePool(std::size_t lanes) {
  auto arena = lane::Arena::create(Bytes{.count = std::uint64_t{1} << 24});
  check(arena.has_value(), "a test can have an arena");
  arena_ = *std::move(arena);
  for (std::size_t i = 0; i < lanes; ++i) {
    fakes_.push_back(std::make_unique<lane::FakeLane>(
        lane::LaneInfo{.id = lane::LaneId{static_cast<std::uint32_t>(i)},
                       .name = "cpu:" + std::to_string(i),
                       .cores = {static_cast<int>(i)}}));
    lanes_.push_back(fakes_.back().get());
  }
}

void FakePool::come_up(std::size_t lane, int pid) {
  for (std::uint32_t slot = 0; slot < loads_.size(); ++slot) {
    if (unloaded_.count(lane::SlotId{slot}) == 0) fakes_[lane]->loaded(lane::SlotId{slot});
  }
  fakes_[lane]->up(pid);
}

lane::SlotId FakePool::load(const lane::LoadSpec& spec, std::span<const lane::LaneId>) {
  loads_.push_back(spec);
  return lane::SlotId{static_cast<std::uint32_t>(loads_.size() - 1)};
}

void FakePool::unload(lane::SlotId slot) { unloaded_.insert(slot); }

void FakePool::restart(lane::LaneId lane, std::string reason) {
  fakes_[static_cast<std::size_t>(lane)]->down(std::move(reason));
}

}  // namespace corelane::service
