#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "wire/v2_infer.h"

namespace corelane::wire {

/// The message ModelInferRequest, docs/formats/v2-grpc.md.
struct GrpcInferRequestView {
  std::string_view model;
  std::string_view version;  // empty: the newest
  InferRequestView request;  // without an id where that is empty; outputs are wanted in binary
  /// A stream's answer shall say that it is the last one of its request.
  bool final_mark = false;
};

/// The bytes of a ModelInferRequest -> the same infer request that REST is read into. Written by
/// hand, because a generated message would copy every tensor once more. Thread-compatible; keep one
/// per thread, it reuses its memory.
class GrpcInferParser {
 public:
  GrpcInferParser();
  ~GrpcInferParser();

  /// The views live until the next call and as long as `message` and the decode memory do. Raw
  /// contents stay where they are in the message (any alignment), typed contents are decoded into
  /// memory of at most eight times the message's length. kInvalidArgument names input, rule and
  /// value; kUnsupported for parts of the protocol that are not served. What is not known is
  /// refused, and so is what comes twice.
  Result<GrpcInferRequestView> parse(std::span<const std::byte> message, DecodeMemory& memory);

  /// What the last call had read when it failed: model and id, where it came so far.
  const GrpcInferRequestView& seen() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace corelane::wire
