#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/v2_response.h"

namespace corelane::wire {

/// Which message an answer is.
enum class GrpcAnswer {
  kUnary,       // ModelInferResponse
  kStream,      // ModelStreamInferResponse
  kStreamLast,  // the same, with the parameter triton_final_response
};

/// A message in pieces to be sent one after the other; tensors' own bytes are not copied.
struct EncodedMessageView {
  std::span<const std::span<const std::byte>> pieces;
  std::size_t size = 0;  // of all of them
};

/// Infer response -> the bytes of its message, every output in raw_output_contents.
/// Thread-compatible; keep one per thread, it reuses its memory.
class GrpcResponseWriter {
 public:
  /// The views live until the next call and as long as the tensors do.
  EncodedMessageView write(const InferResponseView& response, GrpcAnswer answer);

  /// A ModelStreamInferResponse whose error_message is `message` and whose answer has `id` alone.
  /// What is not UTF-8 is replaced.
  EncodedMessageView write_stream_error(std::string_view message, std::string_view id);

 private:
  std::string front_;  // what a stream's answer has before the inner message
  std::string own_;    // all that is not a tensor's bytes
  std::vector<std::size_t> ends_;
  std::vector<std::span<const std::byte>> pieces_;
};

}  // namespace corelane::wire
