#include "schedule/poison.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace corelane::schedule {
namespace {

TEST(PoisonBook, KnowsWhatItWasTold) {
  PoisonBook book;
  EXPECT_FALSE(book.holds_any_of(4));
  book.remember({.bytes = 4, .hash = 7});
  EXPECT_TRUE(book.holds_any_of(4));
  EXPECT_FALSE(book.holds_any_of(7));
  EXPECT_TRUE(book.holds({.bytes = 4, .hash = 7}));
  EXPECT_FALSE(book.holds({.bytes = 4, .hash = 8}));
  EXPECT_FALSE(book.holds({.bytes = 8, .hash = 7}));
}

TEST(PoisonBook, ForgetsTheOldestOnceItIsFull) {
  PoisonBook book;
  constexpr std::uint64_t kTold = PoisonBook::kLimit + 2;
  for (std::uint64_t hash = 0; hash < kTold; ++hash) book.remember({.bytes = 4, .hash = hash});
  EXPECT_FALSE(book.holds({.bytes = 4, .hash = 0}));
  EXPECT_FALSE(book.holds({.bytes = 4, .hash = 1}));
  for (std::uint64_t hash = 2; hash < kTold; ++hash) {
    EXPECT_TRUE(book.holds({.bytes = 4, .hash = hash})) << hash;
  }
}

TEST(PoisonBook, TakesNoSecondPlaceForWhatItHolds) {
  PoisonBook book;
  book.remember({.bytes = 4, .hash = 0});
  for (std::size_t i = 0; i < 2 * PoisonBook::kLimit; ++i) book.remember({.bytes = 4, .hash = 1});
  EXPECT_TRUE(book.holds({.bytes = 4, .hash = 0}));
}

}  // namespace
}  // namespace corelane::schedule
