#pragma once

#include <string>
#include <string_view>

#include "base/units.h"

namespace corelane::report {

// How figures are written, the same in every sink.

/// Three significant digits, thousands with commas: 0.0321, 8.97, 46.2, 723, 1,474.
std::string figure(double value);

/// "8.97 ±0.09": a figure with half the width of its interval, to the same decimals.
std::string with_half_width(double value, double half_width);

/// "8.9 ms", "437 ms", "1.78 s".
std::string millis(double milliseconds);

/// "$2.75", "$0.546".
std::string usd(Usd amount);

/// "2.1 times", "12 times", "1.04 times".
std::string times(double ratio);

/// "3 %", "0.4 %", of a share: 0.03.
std::string percent(double share);

/// "14.9 GiB", "734 MB" style sizes: in GiB from 1 GiB, in MiB below.
std::string size(Bytes bytes);

/// A lane plan for a reader: "cpu:0|cpu:1" is "2 lanes of 1 core", "cpu:0-1" is "1 lane of 2
/// cores"; what is not of that form stays as it is; "" is "the server's lanes".
std::string lanes_in_words(std::string_view plan);

/// "full (f32)", "mixed (bf16)", "int8": the published study's words for a precision.
std::string precision_in_words(std::string_view precision);

}  // namespace corelane::report
