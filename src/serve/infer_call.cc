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

#include "base/check.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/arena.h"
#include "lane/tensor_ref.h"
#include "model/manifest.h"
#include "net/http.h"
#include "serve/answers.h"
#include "service/service.h"
#include "wire/classification.h"
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

Result<std::span<std::byte>> InferCall::place_body(std::uint64_t json_length,
                                                   std::uint64_t length) {
  constexpr std::uint64_t kAlignment = lane::Arena::kAlignment;
  const std::uint64_t before = (kAlignment - json_length % kAlignment) % kAlignment;
  auto block = home_.arena().allocate(before + length + wire::InferParser::kPadding);
  if (!block) return std::move(block).error();
  blocks_.push_back(*std::move(block));
  return blocks_.back().bytes().subspan(before, length);
}

Result<std::span<std::byte>> InferCall::allocate(std::size_t size) {
  auto block = home_.arena().allocate(size);
  if (!block) return std::move(block).error();
  blocks_.push_back(*std::move(block));
  return blocks_.back().bytes();
}

Result<std::span<const std::byte>> InferCall::unpack_body(std::span<const std::byte> packed,
                                                          wire::Encoding encoding) {
  if (Status done = wire::unpack(packed, encoding, kMaxUnpacked, unpacked_); !done) {
    return std::move(done).error();
  }
  const std::size_t size = unpacked_.size();
  unpacked_.resize(size + wire::InferParser::kPadding);
  return std::span<const std::byte>(unpacked_).first(size);
}

lane::TensorRef InferCall::place_of(const wire::InferInputView& input) const {
  lane::TensorRef tensor{.dtype = input.dtype, .shape = input.shape, .bytes = input.data.size()};
  if (input.data.empty()) return tensor;
  for (const lane::ArenaBlock& block : blocks_) {
    const std::span<std::byte> bytes = block.bytes();
    if (input.data.data() < bytes.data() || input.data.data() >= bytes.data() + bytes.size()) {
      continue;
    }
    tensor.offset = block.offset() + static_cast<std::uint64_t>(input.data.data() - bytes.data());
    return tensor;
  }
  check(false, "a parsed tensor lies in the body or in memory of its call");
  return tensor;
}

service::Request InferCall::make_request(const wire::InferRequestView& parsed,
                                         std::string_view model, std::string_view version,
                                         Nanos now) {
  model_ = model;
  if (parsed.id) id_ = std::string(*parsed.id);
  binary_by_default_ = parsed.binary_by_default;
  service::Request request{.model = model_, .version = std::string(version)};
  if (parsed.timeout > Nanos{}) request.deadline = now + parsed.timeout;
  request.inputs.reserve(parsed.inputs.size());
  for (const wire::InferInputView& input : parsed.inputs) {
    request.inputs.push_back({.name = std::string(input.name), .tensor = place_of(input)});
  }
  for (const wire::RequestedOutputView& output : parsed.outputs) {
    request.outputs.emplace_back(output.name);
    wishes_.push_back({.binary = output.binary, .classes = output.classes});
  }
  request.storage = std::move(blocks_);
  return request;
}

void InferCall::reply(const service::Reply& reply) {
  const int status = reply.status
                         ? answer_outputs(reply)
                         : answer_error(exchange_, reply.status.error(), reply.retry_after);
  home_.counters().add(model_, status);
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

Status InferCall::collect_outputs(const service::Reply& reply) {
  outputs_.clear();
  for (std::size_t i = 0; i < reply.outputs.size(); ++i) {
    const service::OutputTensor& output = reply.outputs[i];
    const bool binary = i < wishes_.size() ? wishes_[i].binary : binary_by_default_;
    outputs_.push_back({.name = output.name, .tensor = output.tensor, .binary = binary});
    if (i >= wishes_.size() || wishes_[i].classes == 0) continue;
    auto classes = wire::classify(output.tensor,
                                  {.count = wishes_[i].classes,
                                   .batched = model::max_batch(*reply.version) > 0,
                                   .labels = output.labels},
                                  wishes_[i].memory);
    if (!classes) return in_context(std::move(classes), fmt::format("output '{}'", output.name));
    outputs_.back().tensor = *classes;
  }
  return {};
}

int InferCall::answer_outputs(const service::Reply& reply) {
  if (Status collected = collect_outputs(reply); !collected) {
    return answer_error(exchange_, collected.error());
  }
  auto encoded = writer_.write({.model_name = reply.version->name,
                                .model_version = reply.version->version,
                                .id = id_ ? std::optional<std::string_view>(*id_) : std::nullopt,
                                .outputs = outputs_});
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
  blocks_.clear();
  id_.reset();
  wishes_.clear();
  unpacked_ = {};
  binary_by_default_ = false;
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
