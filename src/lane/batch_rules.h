#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "lane/channel_layout.h"
#include "model/manifest.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::lane {

/// One axis of a tensor as the manifest declares it.
struct AxisRule {
  static constexpr std::size_t kFixed = SIZE_MAX;
  std::size_t dimension = kFixed;  // index of a named dimension
  std::int64_t fixed = 0;          // the size where it has no name
};

struct TensorRule {
  std::string name;
  tensor::DType type = tensor::DType::kFp32;
  std::vector<AxisRule> axes;
  double pad = 0;
  bool rows_first = false;  // the first axis is the batch
};

/// A manifest's tensors with the names of dimensions resolved: what batches are built by.
struct BatchRules {
  std::vector<std::string> dimensions;  // the manifest's in their order, then any others used
  std::size_t batch = AxisRule::kFixed;
  std::vector<TensorRule> inputs;
  std::vector<TensorRule> outputs;
  bool stackable = false;  // all inputs have rows_first
};

BatchRules make_batch_rules(const model::Manifest& manifest);

/// A batch as it lies in the channel.
struct BatchView {
  std::size_t members = 0;
  std::size_t inputs_per_member = 0;
  std::span<const WireTensor> tensors;  // input k of member m at [m * inputs_per_member + k]
  std::span<const std::int64_t> padded_to;
};

/// What sizes the named dimensions have in a batch. Kept from batch to batch, so that its memory
/// is.
struct BatchSizes {
  static constexpr std::int64_t kUnused = -1;  // no input has the dimension

  std::vector<std::int64_t> whole;   // of the run, by dimension
  std::vector<std::int64_t> member;  // of member m: [m * dimensions + dimension]
  bool padded = false;               // some member is smaller than the run, or rows are added
  bool stacked = false;              // more than one member

  std::int64_t of(std::size_t m, std::size_t dimension) const {
    return member[m * whole.size() + dimension];
  }
};

/// Checks every input against its rule and the members against each other, and fills `sizes`.
/// kInvalidArgument names the input and the rule.
Status resolve_sizes(const BatchRules& rules, const BatchView& batch, BatchSizes& sizes);

/// The shape of an input of the run.
tensor::Shape whole_shape(const TensorRule& rule, const BatchSizes& sizes);

/// The shape of member m's part of an output that the engine gave the shape `whole`. Axes whose
/// dimension no input has stay as they are. kInternal when the engine's shape does not have the
/// sizes of the run, kUnsupported when a stacked output has no rows to cut.
Result<tensor::Shape> part_shape(const TensorRule& rule, const BatchSizes& sizes,
                                 const tensor::Shape& whole, std::size_t m);

}  // namespace corelane::lane
