#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace corelane::wire {

/// One line of the protocol's repository index.
struct RepositoryEntry {
  std::string name;
  std::int64_t version = 0;
  std::string_view state;  // READY, LOADING, UNLOADING, UNAVAILABLE
  std::string reason{};    // empty: left out
};

std::string write_repository_index(std::span<const RepositoryEntry> entries);

/// Body of an index request: `ready` asks for those only that are ready. Empty: {}.
Result<bool> parse_index_request(std::span<const std::byte> body);

/// Body of a load request. What it asks beyond loading what the repository holds (parameters) is
/// refused with a message that names it.
Status parse_load_request(std::span<const std::byte> body);
/// Body of an unload request: unload_dependents may be given, as nothing here depends on a model.
Status parse_unload_request(std::span<const std::byte> body);

/// What one lane gave back when a version went.
struct FreedMemory {
  std::string version;  // "qa@3"
  std::string lane;
  Bytes before;
  Bytes after;
};
/// {"freed":[{"version":..,"lane":..,"before_bytes":..,"after_bytes":..}]}
std::string write_freed(std::span<const FreedMemory> freed);

}  // namespace corelane::wire
