// Packed bodies and the headers that speak of them: whatever the bytes, unpacking stays within its
// limit and ends, and what is packed unpacks to the same.
#include "wire/compression.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/result.h"

namespace {

constexpr std::size_t kLimit = 100000;

}  // namespace

/// The first byte chooses the coding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using corelane::wire::Encoding;
  if (size == 0) return 0;
  const Encoding encoding = data[0] % 2 == 0 ? Encoding::kGzip : Encoding::kDeflate;
  const auto body = std::as_bytes(std::span(data + 1, size - 1));
  std::vector<std::byte> out;
  const auto unpacked = corelane::wire::unpack(body, encoding, kLimit, out);
  corelane::check(out.size() <= kLimit + 1, "what is unpacked is bounded by the limit");
  corelane::check(unpacked || !unpacked.error().message.empty(), "an error says something");
  if (unpacked) corelane::check(out.size() <= kLimit, "the limit holds");

  std::vector<std::byte> packed;
  std::vector<std::byte> back;
  if (corelane::wire::pack({&body, 1}, encoding, packed)) {
    corelane::check(packed.size() < body.size(), "packing that saves nothing is given up");
    corelane::check(corelane::wire::unpack(packed, encoding, body.size(), back).has_value(),
                    "what was packed unpacks");
    corelane::check(std::equal(back.begin(), back.end(), body.begin(), body.end()),
                    "to what it was");
  }
  const std::string_view header(reinterpret_cast<const char*>(data), size);
  static_cast<void>(corelane::wire::encoding_from_name(header));
  const Encoding chosen = corelane::wire::choose_encoding(header);
  corelane::check(
      chosen == Encoding::kIdentity || header.find_first_of("*zZfF") != std::string_view::npos,
      "nothing is packed for a client that names no coding");
  return 0;
}
