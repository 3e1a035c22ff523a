#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "base/units.h"

namespace corelane::lane {

class Arena;

/// A piece of the arena, given back when it is destroyed. Move-only. It must not outlive its arena.
class ArenaBlock {
 public:
  ArenaBlock() = default;
  ArenaBlock(ArenaBlock&& other) noexcept;
  ArenaBlock& operator=(ArenaBlock&& other) noexcept;
  ~ArenaBlock();

  /// As many as were asked for.
  std::span<std::byte> bytes() const { return bytes_; }
  std::uint64_t offset() const { return offset_; }
  bool empty() const { return arena_ == nullptr; }

 private:
  friend class Arena;
  Arena* arena_ = nullptr;
  std::span<std::byte> bytes_;
  std::uint64_t offset_ = 0;
  std::uint32_t piece_ = 0;
};

/// The memory of requests that wait or run: one sealed memfd, mapped writable here and read-only by
/// every worker. Only touched pages cost memory, and memory that stays free goes back to the
/// system; the server alone keeps the books, so a worker cannot damage them. Thread-safe.
class Arena {
 public:
  static constexpr std::size_t kAlignment = 64;

  virtual ~Arena() = default;

  /// `size` bytes at a multiple of kAlignment, content unspecified. kResourceExhausted when full.
  virtual Result<ArenaBlock> allocate(std::size_t size) = 0;
  /// Read-only, for handing to a worker. Owned by the arena.
  virtual int fd() const = 0;
  virtual Bytes capacity() const = 0;
  /// Allocated now.
  virtual Bytes in_use() const = 0;
  /// Memory that the arena really occupies: what is in use and touched, and what is kept for reuse.
  virtual Bytes resident() const = 0;

  /// Precondition: capacity is above 0 and below 64 TiB; it is rounded up to whole pages.
  static Result<std::unique_ptr<Arena>> create(Bytes capacity);

 protected:
  friend class ArenaBlock;
  static ArenaBlock make_block(Arena& arena, std::span<std::byte> bytes, std::uint64_t offset,
                               std::uint32_t piece);
  virtual void free(std::uint32_t piece) = 0;
};

}  // namespace corelane::lane
