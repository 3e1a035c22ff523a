#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace corelane::price {

/// One price with everything without which it may not be shown: figures of two bases, regions or
/// currencies never stand in one comparison.
struct Price {
  std::string instance;  // "g5.4xlarge"; "" where a person gave the price by hand
  UsdPerHour per_hour;
  std::string basis;         // "on demand", "reserved 1 year", "spot"
  std::string region;        // "us-east-1"
  std::string source;        // where it was read
  std::string date;          // when it was true: "2026-09-24" or "2025-04"
  std::int64_t vcpus = 0;    // 0: not stated
  double memory_gib = 0;     // of the host; 0: not stated
  std::string accelerators;  // "1 A10G, 24 GB"; "" without
  std::string note;
};

using Catalogue = std::vector<Price>;

/// What a person asks for. An empty field matches every price.
struct PriceQuery {
  std::string instance = {};
  std::string basis = {};
  std::string region = {};
};

/// docs/formats/prices.md. Errors name `where`, the line and the field.
Result<Catalogue> parse_catalogue(std::string_view toml, const std::string& where);
Result<Catalogue> read_catalogue(const std::filesystem::path& file);

/// The one price that matches. kNotFound names instances that look alike; kInvalidArgument where
/// several match, with what tells them apart.
Result<Price> find_price(const Catalogue& catalogue, const PriceQuery& query);

/// A price from the command line: basis and region are not known, and that is what it says.
Price price_by_hand(UsdPerHour per_hour);

/// "g5.4xlarge at $1.624 an hour (on demand, us-east-1, 2026-09-24)".
std::string describe(const Price& price);

/// Whether costs made from both may stand side by side: same basis. What a person gave by hand
/// compares with everything: its basis is theirs to know.
bool comparable(const Price& left, const Price& right);

}  // namespace corelane::price
