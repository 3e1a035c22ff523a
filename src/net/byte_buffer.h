#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace corelane::net {

/// Bytes that come in at the end and go out at the front. Not zeroed, grows by doubling, keeps its
/// memory. kBodyPadding bytes behind the unread part may always be read. Thread-compatible.
class ByteBuffer {
 public:
  std::span<std::byte> unread() const { return {store_.get() + begin_, end_ - begin_}; }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(store_.get()) + begin_, end_ - begin_};
  }
  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return end_ - begin_; }

  /// Room for at least `size` more bytes; all there is. May move what is unread: views die.
  std::span<std::byte> spare(std::size_t size);
  /// The room there is without moving anything.
  std::size_t room() const { return capacity_ - end_; }
  /// `size` bytes of the spare room have been written.
  void commit(std::size_t size) { end_ += size; }
  void consume(std::size_t size);
  /// Keeps only the first `size` unread bytes.
  void truncate(std::size_t size) { end_ = begin_ + size; }
  void append(std::span<const std::byte> bytes);
  void append(std::string_view text) { append(std::as_bytes(std::span(text.data(), text.size()))); }
  /// Forgets the content, and the memory too when that is larger than `keep`.
  void reset(std::size_t keep);

 private:
  std::unique_ptr<std::byte[]> store_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace corelane::net
