#include "serve/infer_request.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/arena.h"
#include "lane/tensor_ref.h"
#include "model/manifest.h"
#include "service/service.h"
#include "wire/classification.h"
#include "wire/v2_infer.h"
#include "wire/v2_response.h"

namespace corelane::serve {

Result<std::span<std::byte>> InferRequest::place(std::uint64_t aligned, std::uint64_t length) {
  constexpr std::uint64_t kAlignment = lane::Arena::kAlignment;
  const std::uint64_t before = (kAlignment - aligned % kAlignment) % kAlignment;
  auto block = arena_.allocate(before + length + wire::InferParser::kPadding);
  if (!block) return std::move(block).error();
  blocks_.push_back(*std::move(block));
  return blocks_.back().bytes().subspan(before, length);
}

Result<std::span<std::byte>> InferRequest::allocate(std::size_t size) {
  auto block = arena_.allocate(size);
  if (!block) return std::move(block).error();
  blocks_.push_back(*std::move(block));
  return blocks_.back().bytes();
}

lane::TensorRef InferRequest::place_of(const wire::InferInputView& input) const {
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

Result<service::Request> InferRequest::make_request(const wire::InferRequestView& parsed,
                                                    std::string_view model,
                                                    std::string_view version, Nanos now) {
  if (parsed.priority != 0) {
    return unsupported("request: parameter 'priority' is not supported by this server");
  }
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

Status InferRequest::add_output(const service::Reply& reply, std::size_t index) {
  const service::OutputTensor& output = reply.outputs[index];
  const bool binary = index < wishes_.size() ? wishes_[index].binary : binary_by_default_;
  outputs_.push_back({.name = output.name, .tensor = output.tensor, .binary = binary});
  if (index >= wishes_.size() || wishes_[index].classes == 0) return {};
  auto classes = wire::classify(output.tensor,
                                {.count = wishes_[index].classes,
                                 .batched = model::max_batch(*reply.version) > 0,
                                 .labels = output.labels},
                                wishes_[index].memory);
  if (!classes) return in_context(std::move(classes), fmt::format("output '{}'", output.name));
  outputs_.back().tensor = *classes;
  return {};
}

Result<wire::InferResponseView> InferRequest::answer(const service::Reply& reply) {
  outputs_.clear();
  for (std::size_t i = 0; i < reply.outputs.size(); ++i) {
    if (Status added = add_output(reply, i); !added) return std::move(added).error();
  }
  return wire::InferResponseView{.model_name = reply.version->name,
                                 .model_version = reply.version->version,
                                 .id = id_ ? std::optional<std::string_view>(*id_) : std::nullopt,
                                 .outputs = outputs_};
}

void InferRequest::clear() {
  blocks_.clear();
  id_.reset();
  wishes_.clear();
  binary_by_default_ = false;
}

}  // namespace corelane::serve
