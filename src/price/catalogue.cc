#include "price/catalogue.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace corelane::price {
namespace {

constexpr std::string_view kByHand = "given by hand";
constexpr std::size_t kMostSuggestions = 6;

Error at(const std::string& where, const toml::source_region& region, std::string message) {
  return invalid_argument(fmt::format("{}:{}: {}", where, region.begin.line, message));
}

/// Reads the fields of one [[price]] table; keeps the first error.
class RowReader {
 public:
  RowReader(const toml::table& row, const std::string& where) : row_(row), where_(where) {}

  std::string text(std::string_view key) {
    const toml::node* node = required(key);
    if (node == nullptr) {
      return {};
    }
    if (key == "date" && node->is_date()) {
      std::ostringstream written;
      written << node->as_date()->get();
      return written.str();
    }
    const auto value = node->value_exact<std::string>();
    if (!value || value->empty()) {
      refuse(*node, fmt::format("{} must be a text that says something", key));
      return {};
    }
    return *value;
  }

  std::string optional_text(std::string_view key) {
    return row_.contains(key) ? text(key) : std::string();
  }

  double positive(std::string_view key) {
    const toml::node* node = required(key);
    if (node == nullptr) {
      return 0;
    }
    const auto value = node->value<double>();
    if (!node->is_number() || !value || !std::isfinite(*value) || *value <= 0) {
      refuse(*node, fmt::format("{} must be a number above 0", key));
      return 0;
    }
    return *value;
  }

  double optional_positive(std::string_view key) { return row_.contains(key) ? positive(key) : 0; }

  void refuse_unknown(const std::set<std::string_view>& known) {
    for (const auto& [key, node] : row_) {
      if (!known.contains(key.str())) {
        refuse(node, fmt::format("unknown field {} of a [[price]]; known are {}", key.str(),
                                 fmt::join(known, ", ")));
      }
    }
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  const toml::node* required(std::string_view key) {
    const toml::node* node = row_.get(key);
    if (node == nullptr) {
      refuse(row_, fmt::format("a [[price]] needs {}", key));
    }
    return node;
  }

  void refuse(const toml::node& node, std::string message) {
    if (!error_) {
      error_ = at(where_, node.source(), std::move(message));
    }
  }

  const toml::table& row_;
  const std::string& where_;
  std::optional<Error> error_;
};

Result<Price> read_price(const toml::table& row, const std::string& where) {
  RowReader reader(row, where);
  reader.refuse_unknown({"instance", "usd_per_hour", "basis", "region", "source", "date", "vcpus",
                         "memory_gib", "accelerators", "note"});
  Price price;
  price.instance = reader.text("instance");
  price.per_hour = {reader.positive("usd_per_hour")};
  price.basis = reader.text("basis");
  price.region = reader.text("region");
  price.source = reader.text("source");
  price.date = reader.text("date");
  price.vcpus = static_cast<std::int64_t>(reader.optional_positive("vcpus"));
  price.memory_gib = reader.optional_positive("memory_gib");
  price.accelerators = reader.optional_text("accelerators");
  price.note = reader.optional_text("note");
  if (reader.error()) {
    return *reader.error();
  }
  return price;
}

bool same_key(const Price& a, const Price& b) {
  return a.instance == b.instance && a.basis == b.basis && a.region == b.region;
}

std::string family(std::string_view instance) {
  return std::string(instance.substr(0, instance.find('.')));
}

/// Instances of the same family, else all there are, so that a typing error is seen at once.
std::string suggestions(const Catalogue& catalogue, std::string_view instance) {
  std::set<std::string> near;
  std::set<std::string> all;
  for (const Price& price : catalogue) {
    all.insert(price.instance);
    if (family(price.instance) == family(instance)) {
      near.insert(price.instance);
    }
  }
  const std::set<std::string>& names = near.empty() ? all : near;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), kMostSuggestions));
  const auto last = std::next(names.begin(), shown);
  return fmt::format("{}{}", fmt::join(names.begin(), last, ", "),
                     names.size() > kMostSuggestions ? ", ..." : "");
}

}  // namespace

Result<Catalogue> parse_catalogue(std::string_view toml, const std::string& where) {
  toml::table document;
  try {
    document = toml::parse(toml, where);
  } catch (const toml::parse_error& error) {
    return at(where, error.source(), std::string(error.description()));
  }
  const toml::array* rows = document["price"].as_array();
  if (rows == nullptr || !rows->is_array_of_tables()) {
    return invalid_argument(where + ": holds no [[price]]; docs/formats/prices.md shows one");
  }
  Catalogue catalogue;
  for (const toml::node& node : *rows) {
    auto price = read_price(*node.as_table(), where);
    if (!price) {
      return price.error();
    }
    const auto twin = std::ranges::find_if(
        catalogue, [&](const Price& other) { return same_key(other, *price); });
    if (twin != catalogue.end()) {
      return at(where, node.source(),
                fmt::format("{} ({}, {}) stands here twice", price->instance, price->basis,
                            price->region));
    }
    catalogue.push_back(*std::move(price));
  }
  return catalogue;
}

Result<Catalogue> read_catalogue(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return not_found("opening " + file.string() +
                     ": no such file, or not readable; --prices names the price file");
  }
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return parse_catalogue(text, file.string());
}

Result<Price> find_price(const Catalogue& catalogue, const PriceQuery& query) {
  std::vector<const Price*> found;
  for (const Price& price : catalogue) {
    const bool fits = (query.instance.empty() || price.instance == query.instance) &&
                      (query.basis.empty() || price.basis == query.basis) &&
                      (query.region.empty() || price.region == query.region);
    if (fits) {
      found.push_back(&price);
    }
  }
  if (found.empty()) {
    return not_found(fmt::format("no price for {}{}{}{}{}; the file has {}", query.instance,
                                 query.basis.empty() ? "" : ", ", query.basis,
                                 query.region.empty() ? "" : ", ", query.region,
                                 suggestions(catalogue, query.instance)));
  }
  if (found.size() > 1) {
    std::vector<std::string> which;
    for (const Price* price : found) {
      which.push_back(fmt::format("{} in {}", price->basis, price->region));
    }
    return invalid_argument(fmt::format("{} has {} prices ({}): say which with --basis or --region",
                                        query.instance, found.size(), fmt::join(which, "; ")));
  }
  return *found.front();
}

Price price_by_hand(UsdPerHour per_hour) {
  Price price;
  price.per_hour = per_hour;
  price.basis = kByHand;
  price.source = "--usd-per-hour";
  return price;
}

std::string describe(const Price& price) {
  if (price.instance.empty()) {
    return fmt::format("${} an hour, {} (basis and region not stated)", price.per_hour.value,
                       price.basis);
  }
  return fmt::format("{} at ${} an hour ({}, {}, {})", price.instance, price.per_hour.value,
                     price.basis, price.region, price.date);
}

bool comparable(const Price& left, const Price& right) {
  return left.basis == right.basis || left.basis == kByHand || right.basis == kByHand;
}

}  // namespace corelane::price
