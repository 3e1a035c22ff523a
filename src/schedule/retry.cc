#include "schedule/retry.h"

#include <cstdint>

namespace corelane::schedule {

AfterLoss decide_after_loss(std::uint32_t losses) {
  if (losses <= 1) return AfterLoss::kRunAgain;
  if (losses == 2) return AfterLoss::kRunAgainAlone;
  return AfterLoss::kGiveUp;
}

}  // namespace corelane::schedule
