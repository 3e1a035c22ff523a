#include "lane/model_runner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "engine/engine_abi.h"
#include "engine/loader.h"
#include "lane/arena.h"
#include "lane/batch_rules.h"
#include "lane/channel.h"
#include "lane/channel_layout.h"
#include "tensor/dtype.h"
#include "tensor/padding.h"
#include "tensor/shape.h"

namespace corelane::lane {
namespace {

/// An input's bytes; checked, so that a slip of the server is an error and not a crash.
Result<std::span<const std::byte>> bytes_of(const WireTensor& tensor,
                                            std::span<const std::byte> arena) {
  const auto shape = tensor::Shape::from({tensor.dims, tensor.rank});
  const auto elements = shape ? shape->elements() : std::nullopt;
  const std::size_t size = tensor::size_of(static_cast<tensor::DType>(tensor.dtype));
  if (!elements || tensor.offset > arena.size() || tensor.bytes > arena.size() - tensor.offset ||
      (size != 0 && tensor.bytes / size != static_cast<std::uint64_t>(*elements)) ||
      (size != 0 && tensor.bytes % size != 0)) {
    return internal_error("an input's place or size is not that of its shape");
  }
  return arena.subspan(tensor.offset, tensor.bytes);
}

tensor::Shape shape_of(const WireTensor& tensor) {
  return *tensor::Shape::from({tensor.dims, tensor.rank});
}

tensor::Shape shape_of(const cl_tensor& tensor) {
  return *tensor::Shape::from({tensor.dims, tensor.rank});
}

std::span<const std::byte> bytes_of(const cl_tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.data), tensor.bytes};
}

cl_tensor engine_tensor(tensor::DType type, const tensor::Shape& shape,
                        std::span<const std::byte> bytes) {
  cl_tensor tensor{.dtype = static_cast<std::uint32_t>(type),
                   .rank = static_cast<std::uint32_t>(shape.rank()),
                   .dims = {},
                   // Read-only by the boundary's contract.
                   .data = const_cast<std::byte*>(bytes.data()),
                   .bytes = bytes.size()};
  std::ranges::copy(shape.dims(), tensor.dims);
  return tensor;
}

WireTensor wire_tensor(std::uint32_t dtype, const tensor::Shape& shape, std::uint64_t offset,
                       std::uint64_t bytes) {
  WireTensor wire{.offset = offset,
                  .bytes = bytes,
                  .dtype = dtype,
                  .rank = static_cast<std::uint32_t>(shape.rank()),
                  .dims = {}};
  std::ranges::copy(shape.dims(), wire.dims);
  return wire;
}

bool is_aligned(std::span<const std::byte> bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % Arena::kAlignment == 0;
}

/// The next `bytes` of the output memory; nullopt when there is no room.
std::optional<std::uint64_t> reserve(std::size_t& used, std::size_t bytes, std::size_t capacity) {
  const std::size_t start = (used + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
  if (start > capacity || bytes > capacity - start) {
    return std::nullopt;
  }
  used = start + bytes;
  return start;
}

Error no_room(std::size_t capacity) {
  return {ErrorCode::kResourceExhausted, "the outputs need more than the " +
                                             std::to_string(capacity >> 20) +
                                             " MiB that a batch on a lane may have"};
}

}  // namespace

void ScratchBuffer::Free::operator()(std::byte* memory) const { std::free(memory); }

Result<std::span<std::byte>> ScratchBuffer::of(std::size_t bytes) {
  if (bytes > capacity_ || memory_ == nullptr) {
    capacity_ = (std::max<std::size_t>(bytes, 1) + Arena::kAlignment - 1) / Arena::kAlignment *
                Arena::kAlignment;
    memory_.reset();
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(Arena::kAlignment, capacity_)));
    if (memory_ == nullptr) {
      capacity_ = 0;
      return Error{ErrorCode::kResourceExhausted,
                   "no memory for a batch's input of " + std::to_string(bytes) + " bytes"};
    }
  }
  return std::span(memory_.get(), bytes);
}

ModelRunner::ModelRunner(BatchRules rules, std::unique_ptr<engine::LoadedModel> model)
    : rules_(std::move(rules)),
      model_(std::move(model)),
      scratch_(rules_.inputs.size()),
      inputs_(rules_.inputs.size()),
      outputs_(rules_.outputs.size()) {}

void ModelRunner::run(const SubmissionSlot& submission, std::span<const std::byte> arena,
                      std::span<std::byte> memory, const Clock& clock, CompletionSlot& completion) {
  const BatchView batch{
      .members = submission.members,
      .inputs_per_member = submission.inputs_per_member,
      .tensors = std::span(submission.tensors)
                     .first(std::size_t{submission.members} * submission.inputs_per_member),
      .padded_to = std::span(submission.padded_to).first(submission.padded_to_count)};
  completion.error = 0;
  completion.message_bytes = 0;
  try {
    const Status done = try_to_run(batch, arena, memory, clock, completion);
    if (!done) {
      write_error(completion, done.error().code, done.error().message);
    }
  } catch (const std::bad_alloc&) {
    write_error(completion, ErrorCode::kResourceExhausted, "the worker has no memory for this");
  } catch (const std::exception& thrown) {
    write_error(completion, ErrorCode::kInternal, thrown.what());
  } catch (...) {
    write_error(completion, ErrorCode::kInternal, "the engine threw something unknown");
  }
  completion.timing[3] = clock.now().count();
}

Status ModelRunner::try_to_run(const BatchView& batch, std::span<const std::byte> arena,
                               std::span<std::byte> memory, const Clock& clock,
                               CompletionSlot& completion) {
  used_ = 0;
  auto resolved = resolve_sizes(rules_, batch, sizes_);
  if (!resolved) {
    return resolved;
  }
  if (batch.members * outputs_.size() > kMostTensors) {
    return Error{ErrorCode::kResourceExhausted, "a batch has more outputs than a channel carries"};
  }
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    auto gathered = gather(k, batch, arena);
    if (!gathered) {
      return std::move(gathered).error();
    }
    inputs_[k] = *gathered;
  }
  completion.timing[1] = clock.now().count();
  auto ran = model_->infer(inputs_, outputs_);
  completion.timing[2] = clock.now().count();
  if (!ran) {
    return ran;
  }
  completion.outputs_per_member = static_cast<std::uint32_t>(outputs_.size());
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    const bool bytes = outputs_[k].dtype == static_cast<std::uint32_t>(tensor::DType::kBytes);
    auto scattered = bytes ? scatter_bytes(k, batch.members, memory, completion)
                           : scatter(k, batch.members, memory, completion);
    if (!scattered) {
      return scattered;
    }
  }
  return {};
}

Result<cl_tensor> ModelRunner::gather(std::size_t input, const BatchView& batch,
                                      std::span<const std::byte> arena) {
  const TensorRule& rule = rules_.inputs[input];
  if (rule.type == tensor::DType::kBytes) {
    return gather_bytes(input, batch, arena);
  }
  const tensor::Shape whole = whole_shape(rule, sizes_);
  const auto elements = whole.elements();
  const std::size_t size = tensor::size_of(rule.type);
  if (!elements || static_cast<std::uint64_t>(*elements) > SIZE_MAX / 2 / size) {
    return invalid_argument("input '" + rule.name + "': the batch is too large");
  }
  if (!sizes_.stacked && !sizes_.padded) {
    const auto bytes = bytes_of(batch.tensors[input], arena);
    if (!bytes || is_aligned(*bytes)) {
      return bytes ? Result(engine_tensor(rule.type, whole, *bytes)) : bytes.error();
    }
  }
  const auto scratch = scratch_[input].of(static_cast<std::size_t>(*elements) * size);
  if (!scratch) {
    return scratch.error();
  }
  const std::span<std::byte> to = *scratch;
  if (sizes_.padded) {
    tensor::fill(to, rule.type, rule.pad);
  }
  std::int64_t row = 0;
  for (std::size_t m = 0; m < batch.members; ++m) {
    const WireTensor& tensor = batch.tensors[m * batch.inputs_per_member + input];
    const auto bytes = bytes_of(tensor, arena);
    if (!bytes) {
      return bytes.error();
    }
    const tensor::Shape part = shape_of(tensor);
    tensor::paste(to, whole, *bytes, part, row, rule.type);
    row += rule.rows_first ? part[0] : 0;
  }
  return engine_tensor(rule.type, whole, to);
}

Result<cl_tensor> ModelRunner::gather_bytes(std::size_t input, const BatchView& batch,
                                            std::span<const std::byte> arena) {
  const TensorRule& rule = rules_.inputs[input];
  if (sizes_.padded) {
    return unsupported("input '" + rule.name + "': BYTES tensors cannot be padded");
  }
  std::size_t total = 0;
  for (std::size_t m = 0; m < batch.members; ++m) {
    const auto bytes = bytes_of(batch.tensors[m * batch.inputs_per_member + input], arena);
    if (!bytes) {
      return bytes.error();
    }
    if (batch.members == 1 && is_aligned(*bytes)) {
      return engine_tensor(rule.type, whole_shape(rule, sizes_), *bytes);
    }
    total += bytes->size();
  }
  const auto scratch = scratch_[input].of(total);
  if (!scratch) {
    return scratch.error();
  }
  const std::span<std::byte> to = *scratch;
  std::size_t end = 0;
  for (std::size_t m = 0; m < batch.members; ++m) {
    const WireTensor& tensor = batch.tensors[m * batch.inputs_per_member + input];
    std::memcpy(to.data() + end, arena.data() + tensor.offset, tensor.bytes);
    end += tensor.bytes;
  }
  return engine_tensor(rule.type, whole_shape(rule, sizes_), to);
}

Status ModelRunner::scatter(std::size_t output, std::size_t members, std::span<std::byte> memory,
                            CompletionSlot& completion) {
  const cl_tensor& from = outputs_[output];
  const auto type = static_cast<tensor::DType>(from.dtype);
  const tensor::Shape whole = shape_of(from);
  std::int64_t row = 0;
  for (std::size_t m = 0; m < members; ++m) {
    const auto part = part_shape(rules_.outputs[output], sizes_, whole, m);
    if (!part) {
      return part.error();
    }
    if (!tensor::part_fits(whole, *part, row)) {
      return internal_error("output '" + rules_.outputs[output].name +
                            "': the engine gave fewer rows than the batch has");
    }
    const std::size_t bytes = static_cast<std::size_t>(*part->elements()) * tensor::size_of(type);
    const auto place = reserve(used_, bytes, memory.size());
    if (!place) {
      return no_room(memory.size());
    }
    tensor::cut(memory.subspan(*place, bytes), *part, bytes_of(from), whole, row, type);
    completion.tensors[m * outputs_.size() + output] =
        wire_tensor(from.dtype, *part, *place, bytes);
    row += part->rank() > 0 ? (*part)[0] : 0;
  }
  return {};
}

Status ModelRunner::scatter_bytes(std::size_t output, std::size_t members,
                                  std::span<std::byte> memory, CompletionSlot& completion) {
  const cl_tensor& from = outputs_[output];
  const tensor::Shape whole = shape_of(from);
  std::span<const std::byte> rest = bytes_of(from);
  for (std::size_t m = 0; m < members; ++m) {
    const auto part = part_shape(rules_.outputs[output], sizes_, whole, m);
    if (!part) {
      return part.error();
    }
    const auto bytes = tensor::is_contiguous(whole, *part)
                           ? tensor::bytes_elements_end(rest, *part->elements())
                           : std::nullopt;
    if (!bytes) {
      return internal_error("output '" + rules_.outputs[output].name +
                            "': BYTES that are padded or shorter than their lengths say");
    }
    const auto place = reserve(used_, *bytes, memory.size());
    if (!place) {
      return no_room(memory.size());
    }
    std::ranges::copy(rest.first(*bytes), memory.subspan(*place).begin());  // may be none at all
    completion.tensors[m * outputs_.size() + output] =
        wire_tensor(from.dtype, *part, *place, *bytes);
    rest = rest.subspan(*bytes);
  }
  return {};
}

}  // namespace corelane::lane
