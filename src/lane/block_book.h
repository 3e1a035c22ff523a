#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace corelane::lane {

/// Which parts of a range [0, capacity) are taken: the books of an allocator, apart from the memory
/// itself. A two-level segregated fit: taking and giving back cost a constant time, neighbours that
/// are free are always joined, and what was given back last is taken first while it is warm in the
/// caches. Thread-compatible. Allocates only while the number of pieces grows.
class BlockBook {
 public:
  /// Offsets and sizes are multiples of this.
  static constexpr std::uint64_t kGranule = 64;

  struct Range {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  /// A piece is named by `node` until it is given back.
  struct Piece {
    std::uint32_t node = 0;
    Range range;
  };

  /// Precondition: capacity is a multiple of kGranule, above 0 and below 2^46.
  explicit BlockBook(std::uint64_t capacity);

  /// A piece of at least `size` bytes (rounded up to kGranule, at least one granule). nullopt when
  /// no free range that is long enough is found.
  std::optional<Piece> take(std::uint64_t size);

  /// Gives a taken piece back and returns the free piece that it is now part of.
  Piece give_back(std::uint32_t node);

  /// Takes exactly `range` (multiples of kGranule) out of the free piece `node` that contains it.
  Piece carve(std::uint32_t node, Range range);

  /// Of a taken piece.
  Range range(std::uint32_t node) const { return nodes_[node].range; }

  std::uint64_t in_use() const { return in_use_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kBins = 640;

  struct Node {
    Range range;
    std::uint32_t before = kNone;  // neighbours by address
    std::uint32_t after = kNone;
    std::uint32_t previous_free = kNone;  // neighbours in the bin
    std::uint32_t next_free = kNone;
    bool free = false;
  };

  static std::size_t bin_of(std::uint64_t size);
  std::uint32_t find(std::uint64_t size) const;
  std::uint32_t find_in_bin(std::size_t bin, std::uint64_t size) const;
  std::size_t first_filled_bin(std::size_t from) const;
  std::uint32_t new_node(const Node& node);
  void link_free(std::uint32_t index);
  void unlink_free(std::uint32_t index);
  /// Appends the part of `index` from `size` on as a piece of its own.
  std::uint32_t split(std::uint32_t index, std::uint64_t size);
  /// Joins the neighbour behind `index` to it.
  void absorb_next(std::uint32_t index);

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> spare_nodes_;
  std::array<std::uint32_t, kBins> bins_;
  std::array<std::uint64_t, kBins / 64> filled_{};  // bit: the bin has a piece
  std::uint64_t in_use_ = 0;
};

}  // namespace corelane::lane
