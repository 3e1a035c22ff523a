#include "serve/choose_precision.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/manifest.h"

namespace corelane::serve {
namespace {

bool keeps_accuracy(const model::Precision& precision, double max_drop) {
  if (!precision.accuracy) return false;
  return precision.accuracy->reference - precision.accuracy->value <= max_drop;
}

}  // namespace

Result<std::string> choose_precision(const model::Manifest& manifest, std::string_view wish,
                                     double max_drop) {
  const auto& all = manifest.precisions;
  if (wish != "auto") {
    if (all.contains(std::string(wish))) return std::string(wish);
    std::string names;
    for (const auto& [name, precision] : all) names += (names.empty() ? "" : ", ") + name;
    return not_found(fmt::format("{}@{} has no precision '{}'; it has {}", manifest.name,
                                 manifest.version, wish, names));
  }
  static constexpr std::array<const char*, 2> kCheapestFirst{"int8", "bf16"};
  for (const char* name : kCheapestFirst) {
    const auto found = all.find(name);
    if (found != all.end() && keeps_accuracy(found->second, max_drop)) return found->first;
  }
  if (all.contains("f32")) return std::string("f32");
  if (!all.empty()) return all.begin()->first;
  return not_found(fmt::format("{}@{} has no precision", manifest.name, manifest.version));
}

}  // namespace corelane::serve
