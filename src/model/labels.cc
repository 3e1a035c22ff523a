#include "model/labels.h"

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/manifest.h"

namespace corelane::model {
namespace {

Result<std::string> read_text(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) return errno_error("opening " + file.string(), errno);
  std::string text(kMaxLabelBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return errno_error("reading " + file.string(), errno);
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMaxLabelBytes) {
    return invalid_argument(file.string() + ": more than " + std::to_string(kMaxLabelBytes) +
                            " bytes of labels");
  }
  return text;
}

}  // namespace

std::vector<std::string> parse_labels(std::string_view text) {
  std::vector<std::string> labels;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    labels.emplace_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return labels;
}

Result<std::vector<std::vector<std::string>>> read_labels(const Manifest& manifest,
                                                          const std::filesystem::path& folder) {
  std::vector<std::vector<std::string>> all;
  for (const TensorSpec& output : manifest.outputs) {
    auto& labels = all.emplace_back();
    if (output.labels.empty()) continue;
    auto text = read_text(folder / output.labels);
    if (!text) return in_context(std::move(text), "labels of output '" + output.name + "'");
    labels = parse_labels(*text);
  }
  return all;
}

}  // namespace corelane::model
