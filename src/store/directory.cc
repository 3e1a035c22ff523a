#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace corelane::store {
namespace {

namespace fs = std::filesystem;

/// Begins the names of files that are being written; list() leaves them out.
constexpr std::string_view kUnfinished = ".unfinished-";

/// An open file, closed at the end of its scope.
class File {
 public:
  File(const fs::path& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }

 private:
  int fd_;
};

Status write_all(int fd, std::string_view text, const fs::path& path) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno_error("writing " + path.string(), errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(fd) != 0) return errno_error("writing " + path.string(), errno);
  return {};
}

Status write_new(const fs::path& path, std::string_view text) {
  File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.is_open()) return errno_error("creating " + path.string(), errno);
  return write_all(file.fd(), text, path);
}

/// A rename lasts once its directory has reached the disk.
void sync_directory(const fs::path& path) {
  const File directory(path, O_RDONLY | O_DIRECTORY);
  if (directory.is_open()) fsync(directory.fd());
}

class Directory final : public Store {
 public:
  explicit Directory(fs::path root) : root_(std::move(root)) {}

  Status put(const std::string& name, std::string_view text) override {
    const fs::path path = root_ / name;
    const fs::path folder = path.parent_path();
    std::error_code fault;
    fs::create_directories(folder, fault);
    if (fault) return errno_error("creating " + folder.string(), fault.value());
    const fs::path unfinished =
        folder / fmt::format("{}{}-{}", kUnfinished, getpid(), path.filename().string());
    auto written = write_new(unfinished, text);
    if (written) {
      fs::rename(unfinished, path, fault);
      if (!fault) {
        sync_directory(folder);
        return {};
      }
      written = errno_error("renaming to " + path.string(), fault.value());
    }
    fs::remove(unfinished, fault);
    return written;
  }

  Result<std::string> get(const std::string& name) const override {
    const fs::path path = root_ / name;
    const File file(path, O_RDONLY);
    if (!file.is_open()) return errno_error("reading " + path.string(), errno);
    std::string text;
    char piece[1 << 16];
    while (true) {
      const ssize_t got = read(file.fd(), piece, sizeof piece);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno_error("reading " + path.string(), errno);
      if (got == 0) return text;
      text.append(piece, static_cast<std::size_t>(got));
    }
  }

  Result<std::vector<std::string>> list(const std::string& folder) const override {
    std::vector<std::string> names;
    std::error_code fault;
    fs::directory_iterator entries(root_ / folder, fault);
    if (fault == std::errc::no_such_file_or_directory) return names;
    for (; !fault && entries != fs::directory_iterator(); entries.increment(fault)) {
      std::string name = entries->path().filename().string();
      if (!name.starts_with(kUnfinished)) names.push_back(std::move(name));
    }
    if (fault) return errno_error("listing " + (root_ / folder).string(), fault.value());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  fs::path root_;
};

}  // namespace

std::unique_ptr<Store> open_directory(fs::path root) {
  return std::make_unique<Directory>(std::move(root));
}

}  // namespace corelane::store
