// The infer request parser: whatever the bytes, it answers with a request that keeps its promises
// or with an error.
#include "wire/v2_infer.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "base/check.h"
#include "infer_checks.h"

/// The first two bytes say how long the JSON is; 0xFFFF: all of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using corelane::wire::InferParser;
  if (size < 2) return 0;
  std::uint16_t length = 0;
  std::memcpy(&length, data, sizeof length);
  const std::size_t body_size = size - sizeof length;
  const auto padded = std::make_unique<std::byte[]>(body_size + InferParser::kPadding);
  std::memcpy(padded.get(), data + sizeof length, body_size);

  corelane::fuzz::CheckedMemory memory(body_size);
  InferParser parser;
  const auto request = parser.parse(
      {padded.get(), body_size},
      length == 0xFFFF ? std::optional<std::uint64_t>() : std::optional<std::uint64_t>(length),
      memory);
  if (!request) {
    corelane::check(!request.error().message.empty(), "an error says something");
    return 0;
  }
  for (const auto& input : request->inputs) corelane::fuzz::check_input(input);
  return 0;
}
