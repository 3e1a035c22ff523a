#include "serve/http_counters.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::serve {

HttpCounters::HttpCounters(const std::vector<std::string>& models) : rows_(models.size() + 1) {
  row_of_.emplace("", 0);
  for (std::size_t i = 0; i < models.size(); ++i) row_of_.emplace(models[i], i + 1);
}

void HttpCounters::add(std::string_view model, int status) {
  const auto row = row_of_.find(model);
  const auto known = std::find(kStatuses.begin(), kStatuses.end(), status);
  const std::size_t column = known == kStatuses.end()
                                 ? kStatuses.size() - 1
                                 : static_cast<std::size_t>(known - kStatuses.begin());
  rows_[row == row_of_.end() ? 0 : row->second][column].fetch_add(1, std::memory_order_relaxed);
}

std::vector<HttpCounters::Count> HttpCounters::counts() const {
  std::vector<Count> all;
  for (const auto& [model, row] : row_of_) {
    for (std::size_t column = 0; column < kStatuses.size(); ++column) {
      const std::uint64_t answers = rows_[row][column].load(std::memory_order_relaxed);
      if (answers > 0) {
        all.push_back({.model = model, .status = kStatuses[column], .answers = answers});
      }
    }
  }
  return all;
}

}  // namespace corelane::serve
