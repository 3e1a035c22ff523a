#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"
#include "schedule/choose_batch.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::service {

/// One axis of an input: a fixed size, any size, or a named dimension of the version.
struct Axis {
  static constexpr std::uint32_t kNoDim = ~std::uint32_t{0};
  std::int64_t fixed = -1;     // < 0: any size, or the named dimension's
  std::uint32_t dim = kNoDim;  // index into Signature::dims
};

struct InputRule {
  std::string name;
  tensor::DType type = tensor::DType::kFp32;
  std::vector<Axis> axes{};
  std::string written_shape;  // "[batch,tokens]", for messages
};

struct DimRule {
  std::string name;
  std::int64_t min = 0;
  std::int64_t max = 0;  // 0: no limit
};

/// A manifest's rules for requests, in the form in which they are checked and batched by. A value;
/// made once for each version.
struct Signature {
  std::string label;                // "qa@3"
  std::vector<InputRule> inputs{};  // in the manifest's order, which is the engine's
  std::vector<std::string> outputs{};
  std::vector<DimRule> dims{};  // alphabetical
  std::uint32_t batch_dim = Axis::kNoDim;
  schedule::BatchLimits limits{};
};

/// Requests of a version share runs along its batch dimension. Sizes of another dimension may
/// differ within a run only where the manifest declares buckets for it, that is where padding is
/// meant to happen, and never for BYTES. A version with an axis of any size that has no name runs
/// one request at a time. kUnsupported where there are more named dimensions than
/// schedule::kMaxDims.
Result<Signature> make_signature(const model::Manifest& manifest);

}  // namespace corelane::service
