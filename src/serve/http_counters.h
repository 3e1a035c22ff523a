#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/guarded.h"

namespace corelane::serve {

/// Answers to infer requests, by model and HTTP status. Names that are not served count under "",
/// so that clients cannot make the table grow: a model that came later has its own line from its
/// first answer with outputs on, and keeps it. Thread-safe.
class HttpCounters {
 public:
  /// Statuses that are told apart; others count as the last one.
  static constexpr std::array<int, 9> kStatuses{200, 400, 404, 405, 413, 415, 501, 503, 500};

  /// Models that have a line from the start.
  explicit HttpCounters(const std::vector<std::string>& models);

  void add(std::string_view model, int status);

  struct Count {
    std::string model;
    int status = 0;
    std::uint64_t answers = 0;
  };
  /// All that are above zero.
  std::vector<Count> counts() const;

 private:
  using Rows = std::map<std::string, std::array<std::uint64_t, kStatuses.size()>, std::less<>>;
  Guarded<Rows> rows_;
};

}  // namespace corelane::serve
