#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::load {

/// One input tensor of a request, ready to be copied or sent.
struct PreparedTensor {
  std::string name;
  tensor::DType dtype = tensor::DType::kFp32;
  tensor::Shape shape;
  std::vector<std::byte> bytes;
};

/// One request: its inputs in the manifest's order.
struct PreparedInput {
  std::int64_t items = 1;
  std::vector<PreparedTensor> tensors;
};

/// Values are drawn evenly from [low, high]; integers include both ends. low == high is a constant.
struct ValueRange {
  double low = 0;
  double high = 0;
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

/// What the requests of an experiment look like.
struct InputPlan {
  std::int64_t batch = 1;
  /// For each named dimension but the batch the sizes of successive items: one size for all, or a
  /// list that is used in order and from the start again.
  std::map<std::string, std::vector<std::int64_t>> sizes;
  std::map<std::string, ValueRange> values;  // by input; others: sensible_range()
  std::uint64_t seed = 1;
};

/// Makes the requests that a load goes through: `plan.batch` successive items each, padded to the
/// longest of them as a client must (with the manifest's pad value, so that masks end where the
/// item does). A list of lengths is gone through once in full, unless that takes more than
/// kMaxInputs requests or kMaxInputBytes; the same plan always gives the same bytes. Without a list
/// there are as many requests as fit kFixedInputBytes, up to kFixedInputs.
///
/// Values: see sensible_range(). kInvalidArgument names the input or dimension that is not known,
/// lies outside the manifest's limits or has no size.
Result<std::vector<PreparedInput>> make_inputs(const model::Manifest& manifest,
                                               const InputPlan& plan);

inline constexpr std::size_t kMaxInputs = 4096;
inline constexpr std::size_t kMaxInputBytes = std::size_t{256} << 20;
inline constexpr std::size_t kFixedInputs = 8;
inline constexpr std::size_t kFixedInputBytes = std::size_t{64} << 20;

/// What random values of an input should be when nobody says: floating point: normal (mean 0,
/// deviation 1, as images after their usual preparation); integers whose name holds "mask": 1;
/// "type" or "segment": 0; "id": 1 to 999, which any vocabulary has; other integers: 0 to 9, of
/// 8 bits: their whole range. Booleans are true or false; texts are five letters.
struct ValueRule {
  bool normal = false;
  ValueRange range;
};
ValueRule sensible_range(const model::TensorSpec& input);

}  // namespace corelane::load
