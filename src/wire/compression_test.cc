#include "wire/compression.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corelane::wire {
namespace {

using Body = std::vector<std::byte>;

Body body_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Body packed(std::string_view text, Encoding encoding) {
  const auto bytes = std::as_bytes(std::span(text));
  Body out;
  EXPECT_TRUE(pack({&bytes, 1}, encoding, out));
  return out;
}

constexpr Encoding kBoth[] = {Encoding::kGzip, Encoding::kDeflate};

TEST(Unpack, GivesBackWhatWasPacked) {
  const std::string text(100000, 'x');
  for (const Encoding encoding : kBoth) {
    Body out;
    const Status status = unpack(packed(text, encoding), encoding, text.size(), out);
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(out, body_of(text)) << name_of(encoding);
  }
}

TEST(Unpack, StopsAtTheLimitWhateverTheBodySays) {
  const std::string zeros(16 << 20, '\0');
  for (const Encoding encoding : kBoth) {
    const Body bomb = packed(zeros, encoding);
    EXPECT_LT(bomb.size(), zeros.size() / 100);
    for (const std::size_t limit : {std::size_t{0}, std::size_t{100000}, zeros.size() - 1}) {
      Body out;
      const Status status = unpack(bomb, encoding, limit, out);
      ASSERT_FALSE(status) << limit;
      EXPECT_EQ(status.error().code, ErrorCode::kResourceExhausted);
      EXPECT_LE(out.capacity(), 2 * limit + (64 << 10));
    }
    Body out;
    EXPECT_TRUE(unpack(bomb, encoding, zeros.size(), out));
  }
}

TEST(Unpack, RefusesWhatIsBrokenCutShortOrFollowedBySomething) {
  for (const Encoding encoding : kBoth) {
    const Body whole = packed(std::string(5000, 'y'), encoding);
    Body out;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Status status = unpack(std::span(whole).first(size), encoding, 1 << 20, out);
      ASSERT_FALSE(status) << size << " of " << whole.size();
      EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    }
    Body longer = whole;
    longer.push_back(std::byte{'!'});
    EXPECT_FALSE(unpack(longer, encoding, 1 << 20, out));
    Body changed = whole;
    changed[whole.size() - 6] ^= std::byte{1};  // in what is checked at the end
    EXPECT_FALSE(unpack(changed, encoding, 1 << 20, out));
  }
  Body out;
  EXPECT_FALSE(unpack(body_of("{\"inputs\":[]}"), Encoding::kGzip, 1 << 20, out));
}

TEST(Unpack, ReadsAGzipBodyOfSeveralMembers) {
  Body both = packed(std::string(1000, 'a'), Encoding::kGzip);
  const Body second = packed(std::string(1000, 'b'), Encoding::kGzip);
  both.insert(both.end(), second.begin(), second.end());
  Body out;
  ASSERT_TRUE(unpack(both, Encoding::kGzip, 1 << 20, out));
  EXPECT_EQ(out, body_of(std::string(1000, 'a') + std::string(1000, 'b')));
}

TEST(Pack, JoinsThePieces) {
  const std::string first(3000, 'a');
  const std::string second(2000, 'b');
  const std::array<std::span<const std::byte>, 3> pieces{
      std::as_bytes(std::span(first)), {}, std::as_bytes(std::span(second))};
  Body out;
  Body back;
  ASSERT_TRUE(pack(pieces, Encoding::kDeflate, out));
  ASSERT_TRUE(unpack(out, Encoding::kDeflate, 5000, back));
  EXPECT_EQ(back, body_of(first + second));
}

TEST(Pack, GivesUpWhereItSavesLittle) {
  std::string noise;
  unsigned state = 1;
  for (int i = 0; i < 4096; ++i) {
    state = state * 1664525U + 1013904223U;
    noise += static_cast<char>(state >> 24U);
  }
  const auto bytes = std::as_bytes(std::span(noise));
  Body out;
  EXPECT_FALSE(pack({&bytes, 1}, Encoding::kGzip, out));
}

TEST(Pack, TakesALongPieceWhoseMiddleSaves) {
  const std::string text(1 << 20, 'x');
  const auto bytes = std::as_bytes(std::span(text));
  Body out;
  Body back;
  ASSERT_TRUE(pack({&bytes, 1}, Encoding::kGzip, out));
  ASSERT_TRUE(unpack(out, Encoding::kGzip, text.size(), back));
  EXPECT_EQ(back, body_of(text));
}

TEST(ChooseEncoding, FollowsTheWeights) {
  struct Case {
    std::string_view accepted;
    Encoding chosen;
  };
  const Case cases[] = {
      {"", Encoding::kIdentity},
      {"gzip", Encoding::kGzip},
      {"deflate", Encoding::kDeflate},
      {"deflate, gzip", Encoding::kGzip},
      {"gzip;q=0.5, deflate;q=0.8", Encoding::kDeflate},
      {"gzip;q=0.5,deflate;q=0.501", Encoding::kDeflate},
      {"GZIP ; Q=1.000", Encoding::kGzip},
      {"gzip;q=0", Encoding::kIdentity},
      {"gzip;q=0, *", Encoding::kDeflate},
      {"*", Encoding::kGzip},
      {"*;q=0", Encoding::kIdentity},
      {"br, zstd", Encoding::kIdentity},
      {"identity, gzip;q=0.5", Encoding::kIdentity},
      {"identity;q=0.5, gzip", Encoding::kGzip},
      {"gzip;q=2", Encoding::kIdentity},
      {"gzip;q=1.5", Encoding::kIdentity},
      {"gzip;q=-1", Encoding::kIdentity},
      {"gzip;q", Encoding::kIdentity},
      {",;,=,", Encoding::kIdentity},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(choose_encoding(c.accepted), c.chosen) << "'" << c.accepted << "'";
  }
}

TEST(EncodingFromName, KnowsThoseThatAreServed) {
  EXPECT_EQ(encoding_from_name("gzip"), Encoding::kGzip);
  EXPECT_EQ(encoding_from_name(" X-GZIP "), Encoding::kGzip);
  EXPECT_EQ(encoding_from_name("Deflate"), Encoding::kDeflate);
  EXPECT_EQ(encoding_from_name("identity"), Encoding::kIdentity);
  EXPECT_EQ(encoding_from_name("br"), std::nullopt);
  EXPECT_EQ(encoding_from_name("gzip, deflate"), std::nullopt);
}

}  // namespace
}  // namespace corelane::wire
