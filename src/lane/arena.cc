#include "lane/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "base/result.h"
#include "base/units.h"
#include "lane/block_book.h"
#include "lane/shared_memory.h"

namespace corelane::lane {
namespace {

static_assert(Arena::kAlignment == BlockBook::kGranule);

// Free memory that is kept for reuse: giving it back costs a page fault a page when it is needed
// again.
constexpr std::uint64_t kKeep = std::uint64_t{64} << 20;
// How much is given back at a time, so that it takes about a millisecond.
constexpr std::uint64_t kChunk = std::uint64_t{16} << 20;
// Free ranges below this are left alone, and so often (in bytes freed) the arena looks at what it
// occupies.
constexpr std::uint64_t kLarge = std::uint64_t{1} << 20;

std::uint64_t page_size() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

/// The part of a free range around `freed` that is worth giving back at once.
BlockBook::Range chunk_around(BlockBook::Range free, BlockBook::Range freed) {
  const std::uint64_t start = std::max(free.offset, freed.offset / kChunk * kChunk);
  return {.offset = start, .size = std::min(kChunk, free.offset + free.size - start)};
}

class MappedArena final : public Arena {
 public:
  MappedArena(FileDescriptor memory, FileDescriptor read_only, Mapping mapping)
      : memory_(std::move(memory)),
        read_only_(std::move(read_only)),
        mapping_(std::move(mapping)),
        books_(mapping_.bytes().size()) {}

  ~MappedArena() override { check(in_use().count == 0, "no block outlives its arena"); }

  Result<ArenaBlock> allocate(std::size_t size) override {
    const auto piece = books_.with([&](Books& books) { return books.blocks.take(size); });
    if (!piece) {
      return Error{ErrorCode::kResourceExhausted,
                   "the arena (" + std::to_string(capacity().count >> 20) +
                       " MiB) has no room for " + std::to_string(size) + " bytes"};
    }
    return make_block(*this, mapping_.bytes().subspan(piece->range.offset, size),
                      piece->range.offset, piece->node);
  }

  int fd() const override { return read_only_.get(); }
  Bytes capacity() const override { return {mapping_.bytes().size()}; }
  Bytes in_use() const override {
    return {books_.with([](const Books& books) { return books.blocks.in_use(); })};
  }
  Bytes resident() const override {
    struct stat status{};
    check(fstat(memory_.get(), &status) == 0, "the arena's own memory can be measured");
    return {static_cast<std::uint64_t>(status.st_blocks) * 512};
  }

 private:
  struct Books {
    explicit Books(std::uint64_t capacity) : blocks(capacity) {}
    BlockBook blocks;
    std::uint64_t freed_since_look = 0;
  };

  void free(std::uint32_t piece) override {
    const auto surplus = books_.with([&](Books& books) -> std::optional<BlockBook::Piece> {
      const BlockBook::Range freed = books.blocks.range(piece);
      const BlockBook::Piece now_free = books.blocks.give_back(piece);
      books.freed_since_look += freed.size;
      if (books.freed_since_look < kLarge || now_free.range.size < kLarge) {
        return std::nullopt;
      }
      books.freed_since_look = 0;
      if (resident().count <= books.blocks.in_use() + kKeep) {
        return std::nullopt;
      }
      // Taken out of the books while it is given back, without the lock.
      return books.blocks.carve(now_free.node, chunk_around(now_free.range, freed));
    });
    if (surplus) {
      punch(surplus->range);
      books_.with([&](Books& books) { books.blocks.give_back(surplus->node); });
    }
  }

  void punch(BlockBook::Range range) {
    const std::uint64_t page = page_size();
    const std::uint64_t first = (range.offset + page - 1) / page * page;
    const std::uint64_t last = (range.offset + range.size) / page * page;
    if (first < last) {
      // Best effort: a system that cannot give holes back keeps the memory.
      (void)fallocate(memory_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      static_cast<off_t>(first), static_cast<off_t>(last - first));
    }
  }

  FileDescriptor memory_;
  FileDescriptor read_only_;
  Mapping mapping_;
  Guarded<Books> books_;
};

}  // namespace

ArenaBlock::ArenaBlock(ArenaBlock&& other) noexcept { *this = std::move(other); }

ArenaBlock& ArenaBlock::operator=(ArenaBlock&& other) noexcept {
  std::swap(arena_, other.arena_);
  std::swap(bytes_, other.bytes_);
  std::swap(offset_, other.offset_);
  std::swap(piece_, other.piece_);
  return *this;
}

ArenaBlock::~ArenaBlock() {
  if (arena_ != nullptr) {
    arena_->free(piece_);
  }
}

ArenaBlock Arena::make_block(Arena& arena, std::span<std::byte> bytes, std::uint64_t offset,
                             std::uint32_t piece) {
  ArenaBlock block;
  block.arena_ = &arena;
  block.bytes_ = bytes;
  block.offset_ = offset;
  block.piece_ = piece;
  return block;
}

Result<std::unique_ptr<Arena>> Arena::create(Bytes capacity) {
  const std::uint64_t page = page_size();
  auto memory = make_shared_memory("corelane-arena", {(capacity.count + page - 1) / page * page});
  if (!memory) {
    return std::move(memory).error();
  }
  auto read_only = reopen_read_only(*memory);
  if (!read_only) {
    return std::move(read_only).error();
  }
  auto mapping = Mapping::of(memory->get(), Mapping::Access::kReadWrite);
  if (!mapping) {
    return std::move(mapping).error();
  }
  return std::unique_ptr<Arena>(std::make_unique<MappedArena>(
      *std::move(memory), *std::move(read_only), *std::move(mapping)));
}

}  // namespace corelane::lane
