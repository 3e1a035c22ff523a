#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "lane/arena.h"
#include "lane/tensor_ref.h"
#include "service/service.h"
#include "wire/v2_infer.h"
#include "wire/v2_response.h"

namespace corelane::serve {

/// An infer request from its first byte to its answer, whichever wire it came by: where its bytes
/// and tensors lie in the arena, and how its outputs are wanted. Thread-compatible; it reuses its
/// memory after clear().
class InferRequest : public wire::DecodeMemory {
 public:
  explicit InferRequest(lane::Arena& arena) : arena_(arena) {}

  /// Takes memory for `length` bytes and the parser's padding behind them, of which the one at
  /// `aligned` is aligned as a block is. kResourceExhausted.
  Result<std::span<std::byte>> place(std::uint64_t aligned, std::uint64_t length);

  /// Memory for a tensor that has to be decoded.
  Result<std::span<std::byte>> allocate(std::size_t size) override;

  /// The parsed request in the service's terms; the memory goes with it. `now` is the time that a
  /// timeout runs from. kUnsupported for what the protocol has and this server does not.
  Result<service::Request> make_request(const wire::InferRequestView& parsed,
                                        std::string_view model, std::string_view version,
                                        Nanos now);

  /// The answer in the wire's terms, classes where they were asked for. Valid during the reply.
  Result<wire::InferResponseView> answer(const service::Reply& reply);

  /// The name that the request gave; valid until clear().
  const std::string& model() const { return model_; }
  const std::optional<std::string>& id() const { return id_; }

  void clear();

 private:
  lane::TensorRef place_of(const wire::InferInputView& input) const;
  Status add_output(const service::Reply& reply, std::size_t index);

  lane::Arena& arena_;
  std::vector<lane::ArenaBlock> blocks_;
  std::string model_;
  std::optional<std::string> id_;
  /// How an output is wanted.
  struct Wish {
    bool binary = false;
    std::uint64_t classes = 0;        // 0: the tensor itself
    std::vector<std::byte> memory{};  // of the classes
  };
  std::vector<Wish> wishes_;  // of each output asked for; empty: all, as they are
  bool binary_by_default_ = false;
  std::vector<wire::ResponseOutputView> outputs_;
};

}  // namespace corelane::serve
