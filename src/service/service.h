#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/arena.h"
#include "lane/lane.h"
#include "lane/tensor_ref.h"
#include "model/manifest.h"
#include "tensor/view.h"

namespace corelane::service {

struct NamedTensor {
  std::string name;
  lane::TensorRef tensor;
};

/// A request in the service's terms: its tensors are in the arena already.
struct Request {
  std::string model;
  std::string version;               // empty: the newest one
  std::vector<NamedTensor> inputs;   // any order
  std::vector<std::string> outputs;  // empty: all
  Nanos deadline = Nanos::max();     // by Clock::now()
  /// Keeps the tensors' memory until the request ends.
  std::vector<lane::ArenaBlock> storage;
};

/// Where a request's time went.
struct Timing {
  Nanos accepted{};
  Nanos dispatched{};
  lane::BatchTiming worker;
  std::uint32_t batch_rows = 0;  // rows of the batch it ran in, padding not counted
  lane::LaneId lane{};
};

struct OutputTensor {
  std::string_view name;
  tensor::TensorView tensor;
};

/// Valid during the call of ReplySink::reply.
struct Reply {
  Status status;
  const model::Manifest* version = nullptr;  // the one that answered
  std::span<const OutputTensor> outputs;     // those asked for, in that order
  Timing timing;
};

/// Gets a request's answer: exactly one call for each accepted request, from the thread that drives
/// the lane, or from inside submit() when the request is refused. Must not block; copies what it
/// needs.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void reply(const Reply& reply) = 0;
};

struct ServedModel {
  std::string name;
  std::int64_t version = 0;
  std::string precision;
  bool ready = false;  // at least one live lane serves it
  std::string reason;  // why not
};

}  // namespace corelane::service
