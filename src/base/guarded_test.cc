#include "base/guarded.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

namespace corelane {
namespace {

TEST(Guarded, LosesNoUpdateOfManyThreads) {
  Guarded<int> count(0);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&count] {
        for (int j = 0; j < 10'000; ++j) {
          count.with([](int& value) { ++value; });
        }
      });
    }
  }
  EXPECT_EQ(count.with([](int value) { return value; }), 40'000);
}

TEST(Guarded, BuildsItsValueInPlaceAndCanBeReadWhenConst) {
  const Guarded<std::vector<int>> values(3, 7);
  EXPECT_EQ(values.with([](const std::vector<int>& all) { return all.size(); }), 3U);
}

TEST(Guarded, WaitsUntilTheValueIsReady) {
  Guarded<std::vector<int>> queue;
  std::jthread producer([&queue] {
    for (int i = 1; i <= 3; ++i) {
      queue.with([i](std::vector<int>& all) { all.push_back(i); });
      queue.notify_all();
    }
  });
  const std::vector<int> taken =
      queue.when([](const std::vector<int>& all) { return all.size() == 3; },
                 [](std::vector<int>& all) { return std::exchange(all, {}); });
  EXPECT_EQ(taken, (std::vector<int>{1, 2, 3}));
}

}  // namespace
}  // namespace corelane
