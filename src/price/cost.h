#pragma once

#include "base/units.h"

namespace corelane::price {

/// What a million items cost on a machine that is used all the time at this rate:
/// usd_per_hour / (items_per_second * 3600) * 1e6. Infinite where nothing was served.
Usd per_million(UsdPerHour price, double items_per_second);

/// The rate at which a million items cost `target`: the inverse of per_million. Infinite at $0.
double items_per_second_for(UsdPerHour price, Usd target);

}  // namespace corelane::price
