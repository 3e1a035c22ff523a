#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace corelane::wire {

/// Gives memory to tensors that come as JSON. Called by InferParser::parse, in its thread.
class DecodeMemory {
 public:
  virtual ~DecodeMemory() = default;
  /// At least `size` bytes, aligned to 8; `size` > 0 and no more than eight times the JSON's
  /// length. Its life is the owner's business; parse() keeps nothing.
  virtual Result<std::span<std::byte>> allocate(std::size_t size) = 0;
};

/// How a tensor came: as text or typed fields, decoded into other memory, or as its own bytes.
enum class DataSource : std::uint8_t { kJson, kBinary };

struct InferInputView {
  std::string_view name;
  tensor::DType dtype = tensor::DType::kFp32;
  tensor::Shape shape;
  /// Exactly what shape and dtype say; elements of kBytes are whole and counted. In the request's
  /// body (kBinary: any alignment) or in memory from DecodeMemory (kJson). Empty for an empty
  /// tensor.
  std::span<const std::byte> data = {};
  DataSource source = DataSource::kBinary;
};

struct RequestedOutputView {
  std::string_view name;
  bool binary = false;        // its own wish, or else the request's default
  std::uint64_t classes = 0;  // so many classes instead of the tensor; 0: the tensor
};

/// An infer request of the v2 protocol, docs/formats/v2.md. Names are unique and not empty.
struct InferRequestView {
  std::optional<std::string_view> id;
  std::span<const InferInputView> inputs;
  std::span<const RequestedOutputView> outputs;  // empty: all
  bool binary_by_default = false;                // for outputs when none are named
  std::uint64_t priority = 0;                    // 0: the default, 1: the highest
  Nanos timeout{};                               // in the queue; 0: none
};

/// The only input of a model that takes raw requests.
struct RawInputView {
  std::string_view name;
  tensor::DType dtype = tensor::DType::kFp32;
  std::span<const std::int64_t> dims;  // the batch is 1 already; -1: varies
};

/// Bytes -> infer request. Thread-compatible; keep one per thread, it reuses its memory.
class InferParser {
 public:
  /// Bytes behind the body that must be readable (what they hold does not matter).
  static constexpr std::size_t kPadding = 64;

  InferParser();
  ~InferParser();

  /// `json_length`: the header Inference-Header-Content-Length; nullopt: all of the body is JSON.
  /// The views live until the next call and as long as `body` and the decode memory do.
  /// kInvalidArgument names input, rule and value; kUnsupported for parts of the protocol that are
  /// not served.
  Result<InferRequestView> parse(std::span<const std::byte> body,
                                 std::optional<std::uint64_t> json_length, DecodeMemory& memory);

  /// The same for a raw request (Inference-Header-Content-Length: 0): the body is the bytes of the
  /// model's only input, and the outputs are wanted in binary. At most one dimension may vary,
  /// which the body's size decides; of kBytes there is one element, without its length.
  Result<InferRequestView> parse_raw(std::span<const std::byte> body, const RawInputView& input,
                                     DecodeMemory& memory);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The value of Inference-Header-Content-Length: digits only, at most body_length.
Result<std::uint64_t> parse_json_length(std::string_view header, std::uint64_t body_length);

/// A kBytes tensor's elements: each a little-endian uint32 length and that many bytes, `elements`
/// of them, nothing behind. The error says what is missing or too much.
Status check_bytes_elements(std::span<const std::byte> data, std::int64_t elements);

}  // namespace corelane::wire
