#pragma once

#include <cstdint>

namespace corelane::schedule {

/// What becomes of a request whose batch was lost with its worker.
enum class AfterLoss {
  kRunAgain,       // on another lane where there is one, in company
  kRunAgainAlone,  // so that, if it is the one that kills, it takes nobody with it
  kGiveUp,         // it has killed a worker by itself: answered with an error
};

/// `losses` counts the batches of this request that were lost, the present one too (>= 1). A worker
/// may die for reasons of its own, so the first loss proves nothing; the second makes the batch
/// suspect; the third, alone, convicts.
AfterLoss decide_after_loss(std::uint32_t losses);

}  // namespace corelane::schedule
