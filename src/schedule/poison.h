#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corelane::schedule {

/// What tells the inputs of one request from those of others.
struct InputDigest {
  std::uint64_t bytes = 0;  // of all inputs together
  std::uint64_t hash = 0;   // of the version, the shapes and the bytes

  bool operator==(const InputDigest&) const = default;
};

/// The inputs that killed workers until their request was given up, so that they need not do it
/// again. Holds the last kLimit of them. Two inputs with the same digest are taken for the same: by
/// chance that is one in 2^64 for each that is held. Thread-compatible.
class PoisonBook {
 public:
  static constexpr std::size_t kLimit = 256;

  /// False for nearly all requests, and cheaper than their digest.
  bool holds_any_of(std::uint64_t bytes) const;
  bool holds(const InputDigest& digest) const;
  /// Forgets the oldest where the book is full.
  void remember(const InputDigest& digest);

 private:
  std::vector<InputDigest> digests_;
  std::size_t oldest_ = 0;  // once the book is full
};

}  // namespace corelane::schedule
