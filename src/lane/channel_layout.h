#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lane/lane.h"
#include "tensor/shape.h"

namespace corelane::lane {

// The memory of a channel as both sides map it. docs/formats/channel.md describes it and holds the
// proof that nothing is lost or read too early. Words that both sides touch are reached by
// std::atomic_ref only.

inline constexpr std::uint64_t kChannelMagic = 0x31'4e41'4843'4c43;  // "CLCHAN1"
inline constexpr std::size_t kMostTensors = 4096;   // inputs or outputs of one batch, all members
inline constexpr std::size_t kMostDimensions = 32;  // named dimensions of a model
inline constexpr std::size_t kMessageBytes = 1024;  // of why a batch failed

struct WireTensor {
  std::uint64_t offset;  // in the arena (submission) or in the slot's output memory (completion)
  std::uint64_t bytes;
  std::uint32_t dtype;
  std::uint32_t rank;
  std::int64_t dims[tensor::kMaxRank];
};

/// Written by the server, read by the worker.
struct alignas(64) SubmissionSlot {
  std::uint64_t number;  // atomic; written last
  std::uint32_t slot;    // SlotId
  std::uint32_t members;
  std::uint32_t inputs_per_member;
  std::uint32_t padded_to_count;
  std::int64_t padded_to[kMostDimensions];
  WireTensor tensors[kMostTensors];  // input k of member m at [m * inputs_per_member + k]
};

/// Written by the worker, read by the server, who believes nothing of it.
struct alignas(64) CompletionSlot {
  std::uint64_t number;  // atomic; written last
  std::uint32_t error;   // 0: none; else 1 + ErrorCode
  std::uint32_t message_bytes;
  std::uint32_t outputs_per_member;
  std::int64_t timing[4];  // BatchTiming in its order
  char message[kMessageBytes];
  WireTensor tensors[kMostTensors];
};

struct ChannelLayout {
  std::uint64_t magic;
  std::uint64_t size;  // sizeof(ChannelLayout) of the server
  alignas(64) std::uint32_t
      worker_sleeps;  // atomic and futex; set by the worker, taken by the server
  alignas(64) std::uint32_t driver_sleeps;  // atomic; set by the driver, taken by the worker
  SubmissionSlot submissions[Lane::kDepth];
  CompletionSlot completions[Lane::kDepth];
};

static_assert(std::is_trivial_v<ChannelLayout> && std::is_standard_layout_v<ChannelLayout>);

}  // namespace corelane::lane
