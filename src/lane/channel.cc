#include "lane/channel.h"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/channel_layout.h"
#include "lane/lane.h"
#include "lane/tensor_ref.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/view.h"

namespace corelane::lane {
namespace {

template <typename T>
T load(const T& word, std::memory_order order) {
  // atomic_ref wants a mutable object even for reading.
  return std::atomic_ref(const_cast<T&>(word)).load(order);
}

// Not the private kind: the word is in memory that two processes share.
void sleep_while(const std::uint32_t& word, std::uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT, value, nullptr, nullptr, 0);
}

void wake_sleeper(const std::uint32_t& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

WireTensor to_wire(const TensorRef& tensor) {
  WireTensor wire{.offset = tensor.offset,
                  .bytes = tensor.bytes,
                  .dtype = static_cast<std::uint32_t>(tensor.dtype),
                  .rank = static_cast<std::uint32_t>(tensor.shape.rank()),
                  .dims = {}};
  std::ranges::copy(tensor.shape.dims(), wire.dims);
  return wire;
}

/// A worker's word about one output, checked. nullopt: it lies.
std::optional<tensor::TensorView> to_view(const WireTensor& wire,
                                          std::span<const std::byte> memory) {
  if (wire.dtype < static_cast<std::uint32_t>(tensor::DType::kBool) ||
      wire.dtype > static_cast<std::uint32_t>(tensor::DType::kBf16) ||
      wire.rank > tensor::kMaxRank || wire.offset > memory.size() ||
      wire.bytes > memory.size() - wire.offset) {
    return std::nullopt;
  }
  const auto type = static_cast<tensor::DType>(wire.dtype);
  const auto shape = tensor::Shape::from({wire.dims, wire.rank});
  const auto elements = shape ? shape->elements() : std::nullopt;
  if (!elements) {
    return std::nullopt;
  }
  const auto count = static_cast<std::uint64_t>(*elements);
  const std::size_t size = tensor::size_of(type);
  const bool fits = size == 0 ? count <= wire.bytes / sizeof(std::uint32_t)
                              : count <= wire.bytes / size && count * size == wire.bytes;
  if (!fits) {
    return std::nullopt;
  }
  return tensor::TensorView{
      .dtype = type, .shape = *shape, .bytes = memory.subspan(wire.offset, wire.bytes)};
}

Error broken(std::string_view how) {
  return internal_error("broke the channel's protocol: " + std::string(how));
}

}  // namespace

ChannelLayout& format_channel(std::span<std::byte> memory) {
  check(memory.size() >= sizeof(ChannelLayout), "a channel's memory holds its layout");
  auto& layout = *reinterpret_cast<ChannelLayout*>(memory.data());
  layout.magic = kChannelMagic;
  layout.size = sizeof(ChannelLayout);
  return layout;
}

Result<ChannelLayout*> open_channel(std::span<std::byte> memory) {
  if (memory.size() < sizeof(ChannelLayout)) {
    return internal_error("the channel's memory is too small");
  }
  auto* layout = reinterpret_cast<ChannelLayout*>(memory.data());
  if (layout->magic != kChannelMagic || layout->size != sizeof(ChannelLayout)) {
    return internal_error("server and worker are of different builds");
  }
  return layout;
}

Status ServerEnd::submit(std::size_t slot, const Batch& batch) {
  check(slot < Lane::kDepth && !batch.members.empty(), "a batch has a slot and a member");
  SubmissionSlot& to = layout_.submissions[slot];
  const std::size_t inputs = batch.members.front().inputs.size();
  if (batch.members.size() * std::max<std::size_t>(inputs, 1) > kMostTensors ||
      batch.padded_to.size() > kMostDimensions) {
    return Error{ErrorCode::kResourceExhausted,
                 "a batch of " + std::to_string(batch.members.size()) + " requests with " +
                     std::to_string(inputs) + " inputs each is more than a channel carries (" +
                     std::to_string(kMostTensors) + " tensors)"};
  }
  WireTensor* next = to.tensors;
  for (const Member& member : batch.members) {
    if (member.inputs.size() != inputs) {
      return invalid_argument("the requests of a batch differ in their number of inputs");
    }
    next = std::ranges::transform(member.inputs, next, to_wire).out;
  }
  to.slot = static_cast<std::uint32_t>(batch.slot);
  to.members = static_cast<std::uint32_t>(batch.members.size());
  to.inputs_per_member = static_cast<std::uint32_t>(inputs);
  to.padded_to_count = static_cast<std::uint32_t>(batch.padded_to.size());
  std::ranges::copy(batch.padded_to, to.padded_to);
  numbers_[slot] = ++submitted_;
  std::atomic_ref(to.number).store(submitted_, std::memory_order_seq_cst);
  return {};
}

void ServerEnd::wake_worker() {
  std::atomic_ref sleeps(layout_.worker_sleeps);
  if (sleeps.load(std::memory_order_seq_cst) != 0 &&
      sleeps.exchange(0, std::memory_order_seq_cst) != 0) {
    wake_sleeper(layout_.worker_sleeps);
  }
}

std::optional<Result<Completion>> ServerEnd::completion(
    std::size_t slot, std::size_t members, std::span<const std::byte> memory,
    std::vector<tensor::TensorView>& outputs) const {
  const CompletionSlot& from = layout_.completions[slot];
  // Acquire pairs with the store in complete(): what an honest worker wrote before is seen.
  const std::uint64_t number = load(from.number, std::memory_order_seq_cst);
  if (number != numbers_[slot]) {
    if (number > numbers_[slot]) {
      return broken("it completed a batch that it was not given");
    }
    return std::nullopt;
  }
  const std::uint32_t error = load(from.error, std::memory_order_relaxed);
  Completion completion;
  completion.timing = {.received = Nanos(load(from.timing[0], std::memory_order_relaxed)),
                       .gathered = Nanos(load(from.timing[1], std::memory_order_relaxed)),
                       .ran = Nanos(load(from.timing[2], std::memory_order_relaxed)),
                       .written = Nanos(load(from.timing[3], std::memory_order_relaxed))};
  outputs.clear();
  if (error != 0) {
    const std::uint32_t length = load(from.message_bytes, std::memory_order_relaxed);
    if (error > 1 + static_cast<std::uint32_t>(ErrorCode::kInternal) || length > kMessageBytes) {
      return broken("an error that is none");
    }
    completion.status = Error{static_cast<ErrorCode>(error - 1), std::string(from.message, length)};
    return completion;
  }
  const std::uint32_t each = load(from.outputs_per_member, std::memory_order_relaxed);
  if (each > kMostTensors || members * each > kMostTensors) {
    return broken("more outputs than fit");
  }
  for (std::size_t k = 0; k < members * each; ++k) {
    const WireTensor copy = from.tensors[k];
    // What is checked is the copy: no reading of the worker's memory again behind this line.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const auto view = to_view(copy, memory);
    if (!view) {
      return broken("output " + std::to_string(k) + " has an impossible type, shape or place");
    }
    outputs.push_back(*view);
  }
  completion.outputs_per_member = each;
  return completion;
}

void ServerEnd::driver_sleeps() {
  std::atomic_ref(layout_.driver_sleeps).store(1, std::memory_order_seq_cst);
}

void ServerEnd::driver_is_awake() {
  std::atomic_ref(layout_.driver_sleeps).store(0, std::memory_order_relaxed);
}

bool ServerEnd::was_woken() const {
  return load(layout_.driver_sleeps, std::memory_order_relaxed) == 0;
}

std::optional<std::size_t> WorkerEnd::find_next() {
  for (std::size_t slot = 0; slot < Lane::kDepth; ++slot) {
    if (load(layout_.submissions[slot].number, std::memory_order_seq_cst) == taken_ + 1) {
      ++taken_;
      return slot;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> WorkerEnd::look_for_a_while() {
  auto found = find_next();
  if (spin_ > Nanos::zero()) {
    for (const Nanos until = clock_.now() + spin_; !found && clock_.now() < until;) {
      found = find_next();
    }
  }
  return found;
}

std::optional<std::size_t> WorkerEnd::next() {
  std::atomic_ref sleeps(layout_.worker_sleeps);
  for (;;) {
    if (const auto slot = look_for_a_while()) {
      return slot;
    }
    sleeps.store(1, std::memory_order_seq_cst);
    const auto slot = find_next();
    const bool stopping = std::atomic_ref(stopping_).load(std::memory_order_seq_cst) != 0;
    if (!slot && !stopping) {
      sleep_while(layout_.worker_sleeps, 1);
    }
    sleeps.store(0, std::memory_order_relaxed);
    if (slot || stopping) {
      return slot;
    }
  }
}

void WorkerEnd::complete(std::size_t slot) {
  std::atomic_ref(layout_.completions[slot].number).store(taken_, std::memory_order_seq_cst);
  std::atomic_ref sleeps(layout_.driver_sleeps);
  if (sleeps.load(std::memory_order_seq_cst) != 0 &&
      sleeps.exchange(0, std::memory_order_seq_cst) != 0) {
    eventfd_write(event_fd_, 1);
  }
}

void WorkerEnd::stop() {
  std::atomic_ref(stopping_).store(1, std::memory_order_seq_cst);
  std::atomic_ref(layout_.worker_sleeps).store(0, std::memory_order_seq_cst);
  wake_sleeper(layout_.worker_sleeps);
}

void write_error(CompletionSlot& completion, ErrorCode code, std::string_view message) {
  const std::size_t length = std::min(message.size(), kMessageBytes);
  std::memcpy(completion.message, message.data(), length);
  completion.message_bytes = static_cast<std::uint32_t>(length);
  completion.error = 1 + static_cast<std::uint32_t>(code);
  completion.outputs_per_member = 0;
}

}  // namespace corelane::lane
