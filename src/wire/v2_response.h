#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/view.h"

namespace corelane::wire {

struct ResponseOutputView {
  std::string_view name;
  tensor::TensorView tensor;
  bool binary = false;
};

struct InferResponseView {
  std::string_view model_name;
  std::int64_t model_version = 1;
  std::optional<std::string_view> id;  // echoed when the request had one
  std::span<const ResponseOutputView> outputs;
};

/// A response's body in pieces to be sent one after the other: the JSON, then the binary outputs'
/// own bytes, not copied.
struct EncodedResponseView {
  std::span<const std::span<const std::byte>> pieces;
  std::uint64_t json_length = 0;
  /// At least one binary output has bytes: the answer is application/octet-stream and carries
  /// Inference-Header-Content-Length: json_length. Else it is application/json without that header.
  bool binary = false;
};

/// Infer response -> bytes. Thread-compatible; keep one per thread, it reuses its memory.
class InferResponseWriter {
 public:
  /// The views live until the next call and as long as the tensors do. In JSON, numbers are
  /// the shortest that read back the same; NaN and infinities are the strings "NaN", "Infinity" and
  /// "-Infinity". kInvalidArgument when an output in JSON is not UTF-8, kInternal when a tensor
  /// breaks its own shape.
  Result<EncodedResponseView> write(const InferResponseView& response);

 private:
  std::string json_;
  std::vector<std::span<const std::byte>> pieces_;
};

/// {"error":"..."}; bytes that are not UTF-8 are replaced.
std::string error_body(std::string_view message);

struct ServerMetadata {
  std::string name;
  std::string version;
  std::vector<std::string> extensions;
};
std::string write_server_metadata(const ServerMetadata& metadata);

struct TensorMetadata {
  std::string name;
  tensor::DType dtype = tensor::DType::kFp32;
  std::vector<std::int64_t> shape;  // -1: varies
};

struct ModelMetadata {
  std::string name;
  std::vector<std::string> versions;
  std::string platform;  // "openvino_ir"
  std::vector<TensorMetadata> inputs;
  std::vector<TensorMetadata> outputs;
};
std::string write_model_metadata(const ModelMetadata& metadata);

}  // namespace corelane::wire
