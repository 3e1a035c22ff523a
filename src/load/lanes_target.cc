#include "load/lanes_target.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "lane/arena.h"
#include "lane/lane.h"
#include "load/inputs.h"
#include "load/sample.h"
#include "load/target.h"
#include "service/service.h"
#include "tensor/dtype.h"

namespace corelane::load {
namespace {

std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t kStep = lane::Arena::kAlignment;
  return (bytes + kStep - 1) / kStep * kStep;
}

}  // namespace

std::size_t input_of_turn(const ClientPlace& place, std::uint64_t turn, std::size_t inputs) {
  return static_cast<std::size_t>((turn * place.count + place.index) % inputs);
}

Result<std::unique_ptr<ArenaInputs>> ArenaInputs::place(lane::Arena& arena,
                                                        std::span<const PreparedInput> inputs) {
  std::unique_ptr<ArenaInputs> placed(new ArenaInputs(arena));
  for (const PreparedInput& input : inputs) {
    std::size_t size = 0;
    for (const PreparedTensor& tensor : input.tensors) size += aligned(tensor.bytes.size());
    auto block = arena.allocate(std::max<std::size_t>(size, 1));
    if (!block) return in_context(std::move(block), "placing the inputs");
    Input& kept = placed->inputs_.emplace_back();
    kept.items = input.items;
    std::size_t at = 0;
    for (const PreparedTensor& tensor : input.tensors) {
      if (!tensor.bytes.empty()) {
        std::memcpy(block->bytes().data() + at, tensor.bytes.data(), tensor.bytes.size());
      }
      kept.tensors.push_back({.name = tensor.name,
                              .tensor = {.dtype = tensor.dtype,
                                         .shape = tensor.shape,
                                         .offset = block->offset() + at,
                                         .bytes = tensor.bytes.size()}});
      kept.has_texts = kept.has_texts || tensor.dtype == tensor::DType::kBytes;
      at += aligned(tensor.bytes.size());
    }
    placed->blocks_.push_back(*std::move(block));
  }
  return placed;
}

Result<lane::ArenaBlock> ArenaInputs::copy(const Input& input,
                                           std::vector<service::NamedTensor>& tensors) const {
  const lane::ArenaBlock& from = blocks_[static_cast<std::size_t>(&input - inputs_.data())];
  auto block = arena_.allocate(from.bytes().size());
  if (!block) return block;
  std::memcpy(block->bytes().data(), from.bytes().data(), from.bytes().size());
  for (service::NamedTensor& tensor : tensors) {
    tensor.tensor.offset = tensor.tensor.offset - from.offset() + block->offset();
  }
  return block;
}

LanesTarget::LanesTarget(service::Service& service, const ArenaInputs& inputs, Model model,
                         ClientPlace place)
    : service_(service), inputs_(inputs), model_(std::move(model)), place_(place) {}

Result<Answer> LanesTarget::send(std::uint64_t turn) {
  const ArenaInputs::Input& input =
      inputs_.inputs()[input_of_turn(place_, turn, inputs_.inputs().size())];
  service::Request request;
  request.model = model_.name;
  request.version = model_.version;
  request.inputs = input.tensors;
  if (input.has_texts) {
    auto block = inputs_.copy(input, request.inputs);
    if (!block) return std::move(block).error();
    request.storage.push_back(*std::move(block));
  }
  service_.submit(std::move(request), *this);
  answered_.acquire();
  if (!status_) return status_.error();
  return Answer{.items = input.items, .split = split_of(timing_, input.items)};
}

void LanesTarget::reply(const service::Reply& reply) {
  status_ = reply.status;
  timing_ = reply.timing;
  answered_.release();
}

Split split_of(const service::Timing& timing, std::int64_t items) {
  const lane::BatchTiming& worker = timing.worker;
  const Nanos whole = worker.written - worker.received;
  const double rows = std::max<double>(timing.batch_rows, 1);
  return {
      .queue = worker.received - timing.accepted,
      .gather = worker.gathered - worker.received,
      .compute = worker.ran - worker.gathered,
      .write = worker.written - worker.ran,
      .lane = from_seconds(to_seconds(whole) * std::min(1.0, static_cast<double>(items) / rows)),
      .known = true};
}

}  // namespace corelane::load
