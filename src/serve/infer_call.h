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
#include "serve/infer_request.h"
#include "service/service.h"
#include "wire/compression.h"
#include "wire/v2_infer.h"
#include "wire/v2_response.h"

namespace corelane::serve {

class InferCalls;

/// One infer request over HTTP and the duty to answer it. Reused from request to request, so that
/// its memory is.
class InferCall final : public net::RequestContext, public service::ReplySink, public InferRequest {
 public:
  explicit InferCall(InferCalls& home);

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
  int answer_outputs(const service::Reply& reply);
  void send(const wire::EncodedResponseView& encoded);
  void clear();

  InferCalls& home_;
  net::Exchange exchange_;
  wire::Encoding encoding_ = wire::Encoding::kIdentity;
  std::vector<std::byte> unpacked_;  // a body that came packed, and its padding
  wire::InferResponseWriter writer_;
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
