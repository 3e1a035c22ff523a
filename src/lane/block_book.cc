#include "lane/block_book.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/check.h"

namespace corelane::lane {
namespace {

// Sizes below 2^kSubBits granules have a bin each; above, each doubling is cut into 2^kSubBits
// bins.
constexpr int kSubBits = 4;
// Pieces of the size's own bin that are tried when no larger bin has any: some of them may fit.
constexpr int kTries = 32;

int highest_bit(std::uint64_t value) { return std::bit_width(value) - 1; }

}  // namespace

BlockBook::BlockBook(std::uint64_t capacity) {
  check(capacity > 0 && capacity % kGranule == 0 && capacity < (std::uint64_t{1} << 46),
        "an arena is a number of whole granules that the bins can count");
  bins_.fill(kNone);
  link_free(new_node({.range = {.offset = 0, .size = capacity}}));
}

std::size_t BlockBook::bin_of(std::uint64_t size) {
  const std::uint64_t granules = size / kGranule;
  const int top = highest_bit(granules);
  if (top < kSubBits) {
    return granules;
  }
  const auto step = static_cast<std::size_t>(top - kSubBits);
  return (step << kSubBits) + (granules >> step);
}

std::optional<BlockBook::Piece> BlockBook::take(std::uint64_t size) {
  if (size > (std::uint64_t{1} << 46)) {
    return std::nullopt;
  }
  const std::uint64_t rounded = std::max(kGranule, (size + kGranule - 1) / kGranule * kGranule);
  const std::uint32_t found = find(rounded);
  if (found == kNone) {
    return std::nullopt;
  }
  return carve(found, {.offset = nodes_[found].range.offset, .size = rounded});
}

std::uint32_t BlockBook::find(std::uint64_t size) const {
  // Every piece of a bin above the size's own is long enough.
  const std::size_t own = bin_of(size);
  const std::size_t bin = first_filled_bin(own + 1);
  const std::uint32_t exact = find_in_bin(own, size);
  if (exact != kNone || bin == kBins) {
    return exact;
  }
  return bins_[bin];
}

std::uint32_t BlockBook::find_in_bin(std::size_t bin, std::uint64_t size) const {
  std::uint32_t index = bins_[bin];
  for (int tries = 0; index != kNone && tries < kTries; ++tries) {
    if (nodes_[index].range.size >= size) {
      return index;
    }
    index = nodes_[index].next_free;
  }
  return kNone;
}

std::size_t BlockBook::first_filled_bin(std::size_t from) const {
  for (std::size_t word = from / 64; word < filled_.size(); ++word) {
    std::uint64_t bits = filled_[word];
    if (word == from / 64) {
      bits &= ~std::uint64_t{0} << (from % 64);
    }
    if (bits != 0) {
      return word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    }
  }
  return kBins;
}

BlockBook::Piece BlockBook::carve(std::uint32_t node, Range range) {
  check(node < nodes_.size() && nodes_[node].free, "only a free piece is carved");
  check(range.offset >= nodes_[node].range.offset && range.size <= nodes_[node].range.size &&
            range.offset - nodes_[node].range.offset <= nodes_[node].range.size - range.size,
        "a free piece contains what is carved from it");
  unlink_free(node);
  if (const std::uint64_t before = range.offset - nodes_[node].range.offset; before > 0) {
    const std::uint32_t rest = split(node, before);
    link_free(node);
    node = rest;
  }
  if (range.size < nodes_[node].range.size) {
    link_free(split(node, range.size));
  }
  in_use_ += range.size;
  return {.node = node, .range = range};
}

BlockBook::Piece BlockBook::give_back(std::uint32_t node) {
  check(node < nodes_.size() && !nodes_[node].free && nodes_[node].range.size > 0,
        "only a taken piece is given back");
  in_use_ -= nodes_[node].range.size;
  if (const std::uint32_t after = nodes_[node].after; after != kNone && nodes_[after].free) {
    unlink_free(after);
    absorb_next(node);
  }
  if (const std::uint32_t before = nodes_[node].before; before != kNone && nodes_[before].free) {
    unlink_free(before);
    absorb_next(before);
    node = before;
  }
  link_free(node);
  return {.node = node, .range = nodes_[node].range};
}

std::uint32_t BlockBook::new_node(const Node& node) {
  if (spare_nodes_.empty()) {
    nodes_.push_back(node);
    spare_nodes_.reserve(nodes_.capacity());  // so that giving back never allocates
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  const std::uint32_t index = spare_nodes_.back();
  spare_nodes_.pop_back();
  nodes_[index] = node;
  return index;
}

void BlockBook::link_free(std::uint32_t index) {
  const std::size_t bin = bin_of(nodes_[index].range.size);
  nodes_[index].free = true;
  nodes_[index].previous_free = kNone;
  nodes_[index].next_free = bins_[bin];
  if (bins_[bin] != kNone) {
    nodes_[bins_[bin]].previous_free = index;
  }
  bins_[bin] = index;
  filled_[bin / 64] |= std::uint64_t{1} << (bin % 64);
}

void BlockBook::unlink_free(std::uint32_t index) {
  Node& node = nodes_[index];
  const std::size_t bin = bin_of(node.range.size);
  if (node.previous_free != kNone) {
    nodes_[node.previous_free].next_free = node.next_free;
  } else {
    bins_[bin] = node.next_free;
  }
  if (node.next_free != kNone) {
    nodes_[node.next_free].previous_free = node.previous_free;
  }
  if (bins_[bin] == kNone) {
    filled_[bin / 64] &= ~(std::uint64_t{1} << (bin % 64));
  }
  node.free = false;
}

std::uint32_t BlockBook::split(std::uint32_t index, std::uint64_t size) {
  const Node whole = nodes_[index];
  const std::uint32_t rest =
      new_node({.range = {.offset = whole.range.offset + size, .size = whole.range.size - size},
                .before = index,
                .after = whole.after});
  nodes_[index].range.size = size;
  nodes_[index].after = rest;
  if (whole.after != kNone) {
    nodes_[whole.after].before = rest;
  }
  return rest;
}

void BlockBook::absorb_next(std::uint32_t index) {
  const std::uint32_t gone = nodes_[index].after;
  nodes_[index].range.size += nodes_[gone].range.size;
  nodes_[index].after = nodes_[gone].after;
  if (nodes_[gone].after != kNone) {
    nodes_[nodes_[gone].after].before = index;
  }
  nodes_[gone] = {};
  spare_nodes_.push_back(gone);
}

}  // namespace corelane::lane
