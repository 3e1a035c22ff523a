#include "serve/http_counters.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::serve {

HttpCounters::HttpCounters(const std::vector<std::string>& models) {
  rows_.with([&](Rows& rows) {
    rows[""] = {};
    for (const std::string& model : models) rows[model] = {};
  });
}

void HttpCounters::add(std::string_view model, int status) {
  const auto known = std::find(kStatuses.begin(), kStatuses.end(), status);
  const std::size_t column = known == kStatuses.end()
                                 ? kStatuses.size() - 1
                                 : static_cast<std::size_t>(known - kStatuses.begin());
  rows_.with([&](Rows& rows) {
    auto row = rows.find(model);
    // Answered with outputs: it is a model that is served.
    if (row == rows.end() && status == 200) row = rows.try_emplace(std::string(model)).first;
    if (row == rows.end()) row = rows.find("");
    ++row->second[column];
  });
}

std::vector<HttpCounters::Count> HttpCounters::counts() const {
  std::vector<Count> all;
  rows_.with([&](const Rows& rows) {
    for (const auto& [model, row] : rows) {
      for (std::size_t column = 0; column < kStatuses.size(); ++column) {
        const std::uint64_t answers = row[column];
        if (answers > 0) {
          all.push_back({.model = model, .status = kStatuses[column], .answers = answers});
        }
      }
    }
  });
  return all;
}

}  // namespace corelane::serve
