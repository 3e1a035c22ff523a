#pragma once

#include <span>
#include <string_view>

namespace corelane::cli {

/// A page of `corelane help TOPIC` that is not about one command.
struct HelpTopic {
  std::string_view name;
  std::string_view summary;
  std::string_view text;
};

std::span<const HelpTopic> help_topics();

}  // namespace corelane::cli
