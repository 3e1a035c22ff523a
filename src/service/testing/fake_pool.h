#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lane/pool.h"
#include "lane/testing/fake_lane.h"

namespace corelane::service {

/// A pool of fake lanes over a real arena. Loads and unloads are recorded; the test answers them
/// through the lanes.
class FakePool final : public lane::LanePool {
 public:
  explicit FakePool(std::size_t lanes);

  lane::FakeLane& fake(std::size_t lane) { return *fakes_[lane]; }
  const std::vector<lane::LoadSpec>& loads() const { return loads_; }
  /// The slots that lanes were asked to give back.
  const std::set<lane::SlotId>& unloads() const { return unloaded_; }
  /// Posts what a worker that starts and loads everything well posts.
  void come_up(std::size_t lane, int pid = 1);

  lane::Arena& arena() override { return *arena_; }
  std::span<lane::Lane* const> lanes() override { return lanes_; }
  lane::SlotId load(const lane::LoadSpec& spec, std::span<const lane::LaneId> on) override;
  void unload(lane::SlotId slot) override;
  void restart(lane::LaneId lane, std::string reason) override;

 private:
  std::unique_ptr<lane::Arena> arena_;
  std::vector<std::unique_ptr<lane::FakeLane>> fakes_;
  std::vector<lane::Lane*> lanes_;
  std::vector<lane::LoadSpec> loads_;
  std::set<lane::SlotId> unloaded_;
};

}  // namespace corelane::service
