#include "report/read.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/result.h"

namespace corelane::report {
namespace {

namespace fs = std::filesystem;

/// In a fixed order, so that the same folder gives the same report.
Result<std::vector<fs::path>> json_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (fs::recursive_directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().extension() == ".json" && entry->is_regular_file(failed)) {
      files.push_back(entry->path());
    }
  }
  if (failed) {
    return errno_error("reading " + folder.string(), failed.value());
  }
  std::ranges::sort(files);
  return files;
}

Status read_folder(const fs::path& folder, ReadResults& into) {
  auto files = json_files(folder);
  if (!files) {
    return files.error();
  }
  for (const fs::path& file : *files) {
    auto result = bench::read_result(file);
    if (result) {
      into.results.push_back(*std::move(result));
    } else {
      into.unreadable.push_back(result.error().message);
    }
  }
  return {};
}

}  // namespace

Result<ReadResults> read_results(std::span<const fs::path> paths) {
  ReadResults all;
  for (const fs::path& path : paths) {
    std::error_code failed;
    if (fs::is_directory(path, failed)) {
      const Status read = read_folder(path, all);
      if (!read) {
        return read.error();
      }
      continue;
    }
    auto result = bench::read_result(path);
    if (!result) {
      return result.error();
    }
    all.results.push_back(*std::move(result));
  }
  return all;
}

}  // namespace corelane::report
