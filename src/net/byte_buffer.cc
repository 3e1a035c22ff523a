#include "net/byte_buffer.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "net/http.h"

namespace corelane::net {

std::span<std::byte> ByteBuffer::spare(std::size_t size) {
  if (room() < size && begin_ > 0) {
    std::memmove(store_.get(), store_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (room() < size) {
    const std::size_t capacity = std::max(end_ + size, 2 * capacity_);
    auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity + kBodyPadding);
    if (end_ > 0) std::memcpy(larger.get(), store_.get(), end_);
    store_ = std::move(larger);
    capacity_ = capacity;
  }
  return {store_.get() + end_, room()};
}

void ByteBuffer::consume(std::size_t size) {
  begin_ += size;
  if (begin_ == end_) begin_ = end_ = 0;
}

void ByteBuffer::append(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::memcpy(spare(bytes.size()).data(), bytes.data(), bytes.size());
  commit(bytes.size());
}

void ByteBuffer::reset(std::size_t keep) {
  begin_ = end_ = 0;
  if (capacity_ <= keep) return;
  store_.reset();
  capacity_ = 0;
}

}  // namespace corelane::net
