#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::serve {

/// Answers to infer requests, by model and HTTP status. Names that are not served count under "",
/// so that clients cannot make the table grow. Thread-safe, lock-free.
class HttpCounters {
 public:
  /// Statuses that are told apart; others count as the last one.
  static constexpr std::array<int, 9> kStatuses{200, 400, 404, 405, 413, 415, 501, 503, 500};

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
  using Row = std::array<std::atomic<std::uint64_t>, kStatuses.size()>;
  std::map<std::string, std::size_t, std::less<>> row_of_;
  std::vector<Row> rows_;
};

}  // namespace corelane::serve
