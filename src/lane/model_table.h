#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "lane/lane.h"
#include "lane/model_runner.h"

namespace corelane::lane {

/// The models that a worker holds. The control thread puts and removes, the infer thread finds; no
/// lock is taken to find one unless something has changed since the last time.
class ModelTable {
 public:
  /// Control thread.
  void put(SlotId slot, std::unique_ptr<ModelRunner> model) {
    models_.with([&](Models& models) { models[slot] = std::move(model); });
    changed_.store(true, std::memory_order_release);
  }

  /// Control thread. Precondition: the slot's batches have ended and none follows. Destroys the
  /// model here.
  void remove(SlotId slot) {
    auto gone = models_.with([&](Models& models) { return models.extract(slot); });
    changed_.store(true, std::memory_order_release);
  }

  /// Infer thread. Null when there is no such model; valid until remove().
  ModelRunner* find(SlotId slot) {
    if (changed_.load(std::memory_order_acquire)) {
      changed_.store(false, std::memory_order_relaxed);
      seen_.clear();
      models_.with([&](Models& models) {
        for (const auto& [id, model] : models) {
          seen_.emplace_back(id, model.get());
        }
      });
    }
    for (const auto& [id, model] : seen_) {
      if (id == slot) {
        return model;
      }
    }
    return nullptr;
  }

 private:
  using Models = std::map<SlotId, std::unique_ptr<ModelRunner>>;
  Guarded<Models> models_;
  std::atomic<bool> changed_{false};
  std::vector<std::pair<SlotId, ModelRunner*>> seen_;  // the infer thread's copy
};

}  // namespace corelane::lane
