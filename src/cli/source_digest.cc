#include "cli/source_digest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"

namespace corelane::cli {
namespace {

namespace fs = std::filesystem;

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    check(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1,
          "OpenSSL has SHA-256");
  }
  void add(const void* data, std::size_t size) { EVP_DigestUpdate(context_.get(), data, size); }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    std::string text;
    for (unsigned int k = 0; k < size; ++k) {
      text += fmt::format("{:02x}", digest[k]);
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

Status add_file(Sha256& sum, const fs::path& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return errno_error("opening " + file.string(), errno);
  }
  std::vector<char> buffer(1 << 20);
  ssize_t size = 0;
  while ((size = read(fd, buffer.data(), buffer.size())) > 0) {
    sum.add(buffer.data(), static_cast<std::size_t>(size));
  }
  const int problem = size < 0 ? errno : 0;
  close(fd);
  return problem == 0 ? Status() : errno_error("reading " + file.string(), problem);
}

std::vector<fs::path> files_in(const fs::path& folder, std::error_code& failed) {
  std::vector<fs::path> files;
  const auto options = fs::directory_options::follow_directory_symlink;
  for (fs::recursive_directory_iterator at(folder, options, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (at->path().filename().string().starts_with('.')) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file(failed)) {
      files.push_back(at->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> with_weights(const fs::path& file) {
  std::vector<fs::path> files = {file};
  std::vector<fs::path> beside = {file.string() + ".data", file.string() + "_data"};
  if (file.extension() == ".xml") {
    beside.push_back(fs::path(file).replace_extension(".bin"));
  }
  for (const fs::path& weights : beside) {
    std::error_code ignored;
    if (fs::is_regular_file(weights, ignored)) {
      files.push_back(weights);
    }
  }
  return files;
}

}  // namespace

Result<std::string> source_digest(const fs::path& source) {
  std::error_code failed;
  const fs::file_status status = fs::status(source, failed);
  if (!fs::exists(status)) {
    return not_found(source.string() + ": no such file or folder");
  }
  const bool folder = fs::is_directory(status);
  failed.clear();
  const std::vector<fs::path> files = folder ? files_in(source, failed) : with_weights(source);
  if (failed) {
    return errno_error("reading " + source.string(), failed.value());
  }
  Sha256 sum;
  for (const fs::path& file : files) {
    if (folder) {
      const std::string name = fs::relative(file, source, failed).generic_string();
      sum.add(name.c_str(), name.size() + 1);
      const std::string size = std::to_string(fs::file_size(file, failed));
      sum.add(size.c_str(), size.size() + 1);
    }
    if (Status added = add_file(sum, file); !added) {
      return std::move(added).error();
    }
  }
  return sum.hex();
}

}  // namespace corelane::cli
