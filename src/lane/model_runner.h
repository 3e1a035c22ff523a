#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/loader.h"
#include "lane/batch_rules.h"
#include "lane/channel_layout.h"
#include "tensor/shape.h"

namespace corelane::lane {

/// Memory that grows and is kept: from the second run of a size on, nothing is allocated. Aligned
/// to 64 bytes.
class ScratchBuffer {
 public:
  ScratchBuffer() = default;
  ScratchBuffer(ScratchBuffer&&) noexcept = default;
  ~ScratchBuffer() = default;

  /// Content unspecified; valid until the next call. kResourceExhausted when there is no memory.
  Result<std::span<std::byte>> of(std::size_t bytes);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t capacity_ = 0;
};

/// A model in a worker: turns a batch of requests into one run of the engine and its outputs into
/// each request's own. A single request that needs no padding is run where it lies. Confined to one
/// thread at a time.
class ModelRunner {
 public:
  ModelRunner(BatchRules rules, std::unique_ptr<engine::LoadedModel> model);

  /// Runs the batch and fills the completion: outputs with their places in `memory`, or the error;
  /// and the timing. Nothing is allocated once the largest batch has been seen. What the engine
  /// throws becomes the batch's error.
  void run(const SubmissionSlot& submission, std::span<const std::byte> arena,
           std::span<std::byte> memory, const Clock& clock, CompletionSlot& completion);

  std::string report() { return model_->report(); }

 private:
  Status try_to_run(const BatchView& batch, std::span<const std::byte> arena,
                    std::span<std::byte> memory, const Clock& clock, CompletionSlot& completion);
  Result<cl_tensor> gather(std::size_t input, const BatchView& batch,
                           std::span<const std::byte> arena);
  Result<cl_tensor> gather_bytes(std::size_t input, const BatchView& batch,
                                 std::span<const std::byte> arena);
  Status scatter(std::size_t output, std::size_t members, std::span<std::byte> memory,
                 CompletionSlot& completion);
  Status scatter_bytes(std::size_t output, std::size_t members, std::span<std::byte> memory,
                       CompletionSlot& completion);

  BatchRules rules_;
  std::unique_ptr<engine::LoadedModel> model_;
  BatchSizes sizes_;
  std::vector<ScratchBuffer> scratch_;  // of each input
  std::vector<cl_tensor> inputs_;
  std::vector<cl_tensor> outputs_;
  std::size_t used_ = 0;  // of the output memory
};

}  // namespace corelane::lane
