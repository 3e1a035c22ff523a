#include "base/suggest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace corelane {
namespace {

TEST(DidYouMean, OffersTheMostSimilarWord) {
  const std::vector<std::string> known = {"batch", "precision", "lanes", "concurrency"};
  EXPECT_EQ(did_you_mean("batches", known), " (did you mean 'batch'?)");
  EXPECT_EQ(did_you_mean("concurency", known), " (did you mean 'concurrency'?)");
  EXPECT_EQ(did_you_mean("laens", known), " (did you mean 'lanes'?)");
  EXPECT_EQ(did_you_mean("lane", known), " (did you mean 'lanes'?)");
}

TEST(DidYouMean, SaysNothingWhenNoWordIsClose) {
  const std::vector<std::string> known = {"batch", "lanes"};
  EXPECT_EQ(did_you_mean("precision", known), "");
  EXPECT_EQ(did_you_mean("", known), "");
  EXPECT_EQ(did_you_mean("batch", {}), "");
}

}  // namespace
}  // namespace corelane
