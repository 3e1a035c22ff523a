#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corelane::wire {

/// HTTP's content codings that are served. kDeflate is the zlib format (RFC 1950), as HTTP has it.
enum class Encoding : std::uint8_t { kIdentity, kGzip, kDeflate };

/// "gzip", "deflate", "identity".
std::string_view name_of(Encoding encoding);

/// What one Content-Encoding header names, in any case ("x-gzip" is gzip too); nullopt for a
/// coding that is not served or a list of several.
std::optional<Encoding> encoding_from_name(std::string_view name);

/// The coding of an answer that an Accept-Encoding header likes best by its q-values; gzip before
/// deflate where they are equal. kIdentity where it names neither, likes the bare answer better, or
/// makes no sense.
Encoding choose_encoding(std::string_view accepted);

/// Unpacks a whole body into `out`, whose old content is lost. Stops at the limit, so what it takes
/// is bounded by that and not by what the body says. kResourceExhausted: more than `limit` bytes;
/// kInvalidArgument: broken, cut short, or followed by something.
Status unpack(std::span<const std::byte> packed, Encoding encoding, std::size_t limit,
              std::vector<std::byte>& out);

/// Packs the pieces, quickly rather than small, into `out`. False where that saves less than an
/// eighth, of all or of a sample of a long piece; `out` is then of no use. Precondition: not
/// kIdentity, and less than 4 GiB.
bool pack(std::span<const std::span<const std::byte>> pieces, Encoding encoding,
          std::vector<std::byte>& out);

}  // namespace corelane::wire
