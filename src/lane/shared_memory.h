#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/units.h"

namespace corelane::lane {

/// An open file descriptor, closed when it is destroyed. Move-only.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor();

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// A memfd of a fixed size: sealed, so that nobody who holds it can shrink it under a mapping.
/// Pages cost memory once they are touched.
Result<FileDescriptor> make_shared_memory(const std::string& name, Bytes size);

/// The same memory behind a descriptor that can only be read and mapped for reading.
Result<FileDescriptor> reopen_read_only(const FileDescriptor& memory);

/// Non-blocking: a peer that fills its counter cannot stop a writer.
Result<FileDescriptor> make_eventfd();

/// A mapping of a memfd, whole. Move-only.
class Mapping {
 public:
  enum class Access { kRead, kReadWrite };

  Mapping() = default;
  Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();

  /// The bytes of a kRead mapping must not be written.
  std::span<std::byte> bytes() const { return bytes_; }

  static Result<Mapping> of(int memory, Access access);

 private:
  std::span<std::byte> bytes_;
};

}  // namespace corelane::lane
