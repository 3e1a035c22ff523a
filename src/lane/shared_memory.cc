#include "lane/shared_memory.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/units.h"

namespace corelane::lane {

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

Result<FileDescriptor> make_shared_memory(const std::string& name, Bytes size) {
  FileDescriptor memory(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.valid()) {
    return errno_error("making shared memory " + name, errno);
  }
  if (ftruncate(memory.get(), static_cast<off_t>(size.count)) != 0) {
    return errno_error("sizing shared memory " + name, errno);
  }
  if (fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return errno_error("sealing shared memory " + name, errno);
  }
  return memory;
}

Result<FileDescriptor> reopen_read_only(const FileDescriptor& memory) {
  const std::string path = "/proc/self/fd/" + std::to_string(memory.get());
  FileDescriptor reopened(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!reopened.valid()) {
    return errno_error("opening shared memory again for reading (" + path + ")", errno);
  }
  return reopened;
}

Result<FileDescriptor> make_eventfd() {
  FileDescriptor event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid()) {
    return errno_error("making an eventfd", errno);
  }
  return event;
}

Mapping::~Mapping() {
  if (!bytes_.empty()) {
    munmap(bytes_.data(), bytes_.size());
  }
}

Result<Mapping> Mapping::of(int memory, Access access) {
  struct stat status{};
  if (fstat(memory, &status) != 0) {
    return errno_error("measuring shared memory", errno);
  }
  const int protection = access == Access::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* start = mmap(nullptr, size, protection, MAP_SHARED | MAP_NORESERVE, memory, 0);
  if (start == MAP_FAILED) {
    return errno_error("mapping shared memory", errno);
  }
  Mapping mapping;
  mapping.bytes_ = {static_cast<std::byte*>(start), size};
  return mapping;
}

}  // namespace corelane::lane
