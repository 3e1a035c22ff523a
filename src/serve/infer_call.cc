#include "serve/infer_call.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/http.h"
#include "serve/answers.h"
#include "serve/infer_request.h"
#include "service/service.h"
#include "wire/compression.h"
#include "wire/v2_infer.h"
#include "wire/v2_response.h"

namespace corelane::serve {
namespace {

// Packing keeps a net thread from everything else, so answers of which it would take long go as
// they are, and so do those of which there is nothing to save.
constexpr std::size_t kPackFrom = 1 << 10;
constexpr std::size_t kPackUpTo = 256 << 10;
constexpr std::size_t kMaxUnpacked = 64 << 20;

bool worth_packing(std::span<const std::span<const std::byte>> pieces) {
  std::size_t total = 0;
  for (const auto& piece : pieces) total += piece.size();
  return total >= kPackFrom && total <= kPackUpTo;
}

}  // namespace

InferCall::InferCall(InferCalls& home) : InferRequest(home.arena()), home_(home) {}

Result<std::span<const std::byte>> InferCall::unpack_body(std::span<const std::byte> packed,
                                                          wire::Encoding encoding) {
  if (Status done = wire::unpack(packed, encoding, kMaxUnpacked, unpacked_); !done) {
    return std::move(done).error();
  }
  const std::size_t size = unpacked_.size();
  unpacked_.resize(size + wire::InferParser::kPadding);
  return std::span<const std::byte>(unpacked_).first(size);
}

void InferCall::reply(const service::Reply& reply) {
  const int status = reply.status
                         ? answer_outputs(reply)
                         : answer_error(exchange_, reply.status.error(), reply.retry_after);
  home_.counters().add(InferRequest::model(), status);
  home_.give_back(*this);
}

void InferCall::refuse(std::string_view model, const Error& error) {
  home_.counters().add(model, answer_error(exchange_, error));
  home_.give_back(*this);
}

void InferCall::refuse(std::string_view model, const net::ResponseView& response) {
  exchange_.answer(response);
  home_.counters().add(model, response.status);
  home_.give_back(*this);
}

int InferCall::answer_outputs(const service::Reply& reply) {
  const auto answer = InferRequest::answer(reply);
  if (!answer) return answer_error(exchange_, answer.error());
  const auto encoded = writer_.write(*answer);
  if (!encoded) return answer_error(exchange_, encoded.error());
  send(*encoded);
  return 200;
}

void InferCall::send(const wire::EncodedResponseView& encoded) {
  std::array<char, 20> digits{};
  std::array<net::HeaderView, 2> headers;
  std::size_t count = 0;
  net::ResponseView response{.status = 200, .headers = {}, .body = encoded.pieces};
  if (encoded.binary) {
    const auto end = fmt::format_to(digits.data(), "{}", encoded.json_length);
    headers[count++] = {.name = "Inference-Header-Content-Length",
                        .value = {digits.data(), static_cast<std::size_t>(end - digits.data())}};
    response.content_type = "application/octet-stream";
  }
  std::vector<std::byte> packed;
  std::span<const std::byte> packed_piece;
  if (encoding_ != wire::Encoding::kIdentity && worth_packing(encoded.pieces) &&
      wire::pack(encoded.pieces, encoding_, packed)) {
    headers[count++] = {.name = "Content-Encoding", .value = wire::name_of(encoding_)};
    packed_piece = packed;
    response.body = {&packed_piece, 1};
  }
  response.headers = std::span(headers).first(count);
  exchange_.answer(response);
}

void InferCall::clear() {
  InferRequest::clear();
  unpacked_ = {};
}

InferCall& InferCalls::take() {
  return pool_.with([this](Pool& pool) -> InferCall& {
    if (pool.idle.empty()) {
      pool.all.push_back(std::make_unique<InferCall>(*this));
      return *pool.all.back();
    }
    InferCall& call = *pool.idle.back();
    pool.idle.pop_back();
    return call;
  });
}

void InferCalls::give_back(InferCall& call) {
  call.clear();
  pool_.with([&](Pool& pool) { pool.idle.push_back(&call); });
}

}  // namespace corelane::serve
