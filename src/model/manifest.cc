#include "model/manifest.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>
#include <string_view>

#include "base/result.h"

namespace corelane::model {

std::int64_t max_batch(const Manifest& manifest) {
  const auto begins_with_batch = [](const TensorSpec& input) {
    return !input.shape.empty() && input.shape.front() == Dim(std::string(kBatch));
  };
  const auto batch = manifest.dimensions.find(std::string(kBatch));
  if (manifest.inputs.empty() || batch == manifest.dimensions.end() ||
      !std::all_of(manifest.inputs.begin(), manifest.inputs.end(), begins_with_batch)) {
    return 0;
  }
  return batch->second.max;
}

bool is_model_name(std::string_view name) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !name.empty() && name.size() <= 128 && name.front() != '.' &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

Result<Manifest> read_manifest(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return errno_error("opening " + file.string(), errno);
  }
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) {
    return errno_error("reading " + file.string(), errno);
  }
  return parse_manifest(text, file.string());
}

}  // namespace corelane::model
