#include "wire/compression.h"

#include <fmt/format.h>
#include <zconf.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/result.h"

namespace corelane::wire {
namespace {

constexpr int kWindowBits = 15;
constexpr int kGzipFormat = 16;  // added to the window bits
constexpr int kMemoryLevel = 8;
constexpr std::size_t kFirstRoom = 16 << 10;
constexpr std::size_t kSample = 4 << 10;
constexpr std::size_t kSampleFrom = 8 * kSample;

int window_bits(Encoding encoding) {
  return encoding == Encoding::kGzip ? kWindowBits + kGzipFormat : kWindowBits;
}

/// zlib counts in 32 bits.
uInt step(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

Bytef* bytes_of(std::span<const std::byte> bytes) {
  // zlib's input pointer is not const in every build of it; it does not write there.
  return reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
}

/// A stream that is being unpacked; ends with this object.
class Inflater {
 public:
  explicit Inflater(Encoding encoding) {
    check(inflateInit2(&stream_, window_bits(encoding)) == Z_OK, "zlib gets its memory");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void feed(std::span<const std::byte> input) {
    stream_.next_in = bytes_of(input);
    stream_.avail_in = step(input.size());
  }
  /// Bytes of the last feed() that are not taken yet.
  std::size_t left() const { return stream_.avail_in; }
  /// Writes to the front of `room`; how much, and zlib's answer.
  struct Step {
    std::size_t written = 0;
    int answer = Z_OK;
  };
  Step run(std::span<std::byte> room) {
    stream_.next_out = bytes_of(room);
    stream_.avail_out = step(room.size());
    const uInt before = stream_.avail_out;
    const int answer = inflate(&stream_, Z_NO_FLUSH);
    return {.written = before - stream_.avail_out, .answer = answer};
  }
  void begin_again() { check(inflateReset(&stream_) == Z_OK, "a stream of zlib begins again"); }
  std::string_view complaint() const {
    return stream_.msg == nullptr ? "it makes no sense" : stream_.msg;
  }

 private:
  z_stream stream_{};
};

Error broken(Encoding encoding, std::string_view why) {
  return invalid_argument(fmt::format("the body is not valid {}: {}", name_of(encoding), why));
}

bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

/// Cuts the text up to the next `at` off the front.
std::string_view cut(std::string_view& text, char at) {
  const std::size_t end = text.find(at);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return trimmed(part);
}

/// A weight in thousandths: "0", "1", "0.25", "1.000"; nullopt for anything else.
std::optional<int> weight_of(std::string_view text) {
  constexpr std::size_t kLongest = 5;
  constexpr int kWhole = 1000;
  if (text.empty() || text.size() > kLongest || (text[0] != '0' && text[0] != '1')) {
    return std::nullopt;
  }
  int weight = (text[0] - '0') * kWhole;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int unit = kWhole;
  for (const char digit : text.substr(std::min<std::size_t>(2, text.size()))) {
    if (digit < '0' || digit > '9') return std::nullopt;
    unit /= 10;
    weight += (digit - '0') * unit;
  }
  return weight <= kWhole ? std::optional(weight) : std::nullopt;
}

struct Wishes {
  std::optional<int> gzip, deflate, identity, others;
};

Wishes wishes_of(std::string_view accepted) {
  Wishes wishes;
  while (!accepted.empty()) {
    std::string_view item = cut(accepted, ',');
    const std::string_view coding = cut(item, ';');
    int weight = 1000;
    if (!item.empty()) {
      const std::string_view name = cut(item, '=');
      const auto said = weight_of(trimmed(item));
      if (!same_word(name, "q") || !said) continue;
      weight = *said;
    }
    if (coding == "*") {
      wishes.others = weight;
    } else if (const auto known = encoding_from_name(coding); known && !coding.empty()) {
      auto& wish = *known == Encoding::kGzip      ? wishes.gzip
                   : *known == Encoding::kDeflate ? wishes.deflate
                                                  : wishes.identity;
      wish = weight;
    }
  }
  return wishes;
}

}  // namespace

std::string_view name_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::kGzip:
      return "gzip";
    case Encoding::kDeflate:
      return "deflate";
    case Encoding::kIdentity:
      break;
  }
  return "identity";
}

std::optional<Encoding> encoding_from_name(std::string_view name) {
  name = trimmed(name);
  if (same_word(name, "gzip") || same_word(name, "x-gzip")) return Encoding::kGzip;
  if (same_word(name, "deflate")) return Encoding::kDeflate;
  if (name.empty() || same_word(name, "identity")) return Encoding::kIdentity;
  return std::nullopt;
}

Encoding choose_encoding(std::string_view accepted) {
  const Wishes wishes = wishes_of(accepted);
  const int gzip = wishes.gzip.value_or(wishes.others.value_or(0));
  const int deflate = wishes.deflate.value_or(wishes.others.value_or(0));
  const int best = std::max(gzip, deflate);
  if (best == 0 || wishes.identity.value_or(0) > best) return Encoding::kIdentity;
  return gzip >= deflate ? Encoding::kGzip : Encoding::kDeflate;
}

Status unpack(std::span<const std::byte> packed, Encoding encoding, std::size_t limit,
              std::vector<std::byte>& out) {
  if (encoding == Encoding::kIdentity) {
    if (packed.size() > limit) return Error{ErrorCode::kResourceExhausted, "too large"};
    out.assign(packed.begin(), packed.end());
    return {};
  }
  if (packed.size() > std::numeric_limits<uInt>::max()) {
    return Error{ErrorCode::kResourceExhausted, "the body is larger than 4 GiB"};
  }
  Inflater inflater(encoding);
  std::size_t filled = 0;
  out.resize(std::min(limit, std::max(kFirstRoom, out.capacity())));
  inflater.feed(packed);
  for (;;) {
    // Room for one byte more than the limit tells a body that ends there from one that goes on.
    if (filled == out.size()) out.resize(std::min(2 * out.size(), limit) + 1);
    const auto done = inflater.run(std::span(out).subspan(filled));
    filled += done.written;
    if (filled > limit) {
      return Error{
          ErrorCode::kResourceExhausted,
          fmt::format("the body is larger than the {} bytes allowed once unpacked", limit)};
    }
    if (done.answer == Z_STREAM_END) {
      if (inflater.left() == 0) break;
      if (encoding != Encoding::kGzip) return broken(encoding, "something follows it");
      inflater.begin_again();  // a gzip file may have several members
    } else if (done.answer == Z_BUF_ERROR ||
               (done.answer == Z_OK && inflater.left() == 0 && filled < out.size())) {
      return broken(encoding, "it is cut short");
    } else if (done.answer != Z_OK) {
      return broken(encoding, inflater.complaint());
    }
  }
  out.resize(filled);
  return {};
}

bool pack(std::span<const std::span<const std::byte>> pieces, Encoding encoding,
          std::vector<std::byte>& out) {
  std::size_t total = 0;
  for (const auto& piece : pieces) {  // noise is found out early
    if (piece.size() <= kSampleFrom) continue;
    const auto sample = piece.subspan(piece.size() / 2, kSample);
    if (!pack({&sample, 1}, encoding, out)) return false;
  }
  for (const auto& piece : pieces) total += piece.size();
  out.resize(total - total / 8);
  z_stream stream{};
  check(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window_bits(encoding), kMemoryLevel,
                     Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib gets its memory");
  stream.next_out = bytes_of(out);
  stream.avail_out = step(out.size());
  bool fits = true;
  for (std::size_t i = 0; fits && i < pieces.size(); ++i) {
    if (pieces[i].empty()) continue;  // zlib would call that no progress
    stream.next_in = bytes_of(pieces[i]);
    stream.avail_in = step(pieces[i].size());
    fits = deflate(&stream, Z_NO_FLUSH) == Z_OK && stream.avail_in == 0;
  }
  fits = fits && deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return fits;
}

}  // namespace corelane::wire
