#pragma once

#include <span>
#include <string>
#include <string_view>

namespace corelane {

/// For messages about a word that is not known: " (did you mean 'batch'?)" with the most similar
/// of the known words, or "" where none is close.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace corelane
