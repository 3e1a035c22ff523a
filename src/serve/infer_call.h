#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "lane/arena.h"
#include "net/http.h"
#include "serve/http_counters.h"
#include "service/service.h"
#include "wire/compression.h"
#include "wire/v2_infer.h"
#include "wire/v2_response.h"

namespace corelane::serve {

class InferCalls;

/// One infer request between its first byte and its answer: where its body and tensors lie, how its
/// outputs are wanted, and the duty to answer. Reused from request to request, so that its memory
/// is.
class InferCall final : public net::RequestContext,
                        public service::ReplySink,
                        public wire::DecodeMemory {
 public:
  explicit InferCall(InferCalls& home) : home_(home) {}

  /// Takes memory for a body of `length` bytes whose first `json_length` are JSON, so that what
  /// follows the JSON is aligned as a block is. kResourceExhausted.
  Result<std::span<std::byte>> place_body(std::uint64_t json_length, std::uint64_t length);

  /// Memory for a tensor that came as JSON.
  Result<std::span<std::byte>> allocate(std::size_t size) override;

  /// The parsed request in the service's terms; the memory goes with it. `now` is the time that a
  /// timeout runs from.
  service::Request make_request(const wire::InferRequestView& parsed, std::string_view model,
                                std::string_view version, Nanos now);

  /// `encoding`: what an answer that is worth it is packed with.
  void expect_answer(net::Exchange exchange, wire::Encoding encoding) {
    exchange_ = std::move(exchange);
    encoding_ = encoding;
  }

  /// Unpacks a body that came packed into memory of this call. Errors as those of wire::unpack.
  Result<std::span<const std::byte>> unpack_body(std::span<const std::byte> packed,
                                                 wire::Encoding encoding);

  /// Answers a request that never reached the service, and gives this object back to its pool.
  void refuse(std::string_view model, const Error& error);
  void refuse(std::string_view model, const net::ResponseView& response);

  /// Answers, and gives this object back to its pool.
  void reply(const service::Reply& reply) override;

 private:
  friend class InferCalls;
  lane::TensorRef place_of(const wire::InferInputView& input) const;
  int answer_outputs(const service::Reply& reply);
  Status collect_outputs(const service::Reply& reply);
  void send(const wire::EncodedResponseView& encoded);
  void clear();

  InferCalls& home_;
  net::Exchange exchange_;
  wire::Encoding encoding_ = wire::Encoding::kIdentity;
  std::vector<lane::ArenaBlock> blocks_;
  std::vector<std::byte> unpacked_;  // a body that came packed, and its padding
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
  wire::InferResponseWriter writer_;
  std::vector<wire::ResponseOutputView> outputs_;
};

/// The pool of them. Thread-safe.
class InferCalls {
 public:
  InferCalls(lane::Arena& arena, HttpCounters& counters) : arena_(arena), counters_(counters) {}

  /// Valid until its reply() or give_back().
  InferCall& take();
  void give_back(InferCall& call);

  lane::Arena& arena() { return arena_; }
  HttpCounters& counters() { return counters_; }

 private:
  struct Pool {
    std::vector<std::unique_ptr<InferCall>> all;
    std::vector<InferCall*> idle;
  };
  lane::Arena& arena_;
  HttpCounters& counters_;
  Guarded<Pool> pool_;
};

}  // namespace corelane::serve
