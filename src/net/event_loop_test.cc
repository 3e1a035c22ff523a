#include "net/event_loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/testing/manual_clock.h"

namespace corelane::net {
namespace {

/// An eventfd that counts how often its watcher was told.
class Bell final : public Watcher {
 public:
  Bell() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~Bell() override { ::close(fd_); }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  void ready(const Readiness& readiness) override {
    EXPECT_TRUE(readiness.readable);
    ++told;
    if (answer) answer();
  }
  void ring() const {
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(fd_, &one, sizeof one), 8);
  }
  void silence() const {
    std::uint64_t count = 0;
    ASSERT_EQ(::read(fd_, &count, sizeof count), 8);
  }
  int fd() const { return fd_; }

  std::function<void()> answer;
  int told = 0;

 private:
  int fd_;
};

class Loop : public ::testing::Test {
 protected:
  ManualClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::create(clock_);
};

TEST_F(Loop, RunsPostedWorkInOrderAndDeferredWorkAfterEachPiece) {
  std::vector<int> order;
  loop_->post([&] {
    loop_->defer([&] {
      order.push_back(2);
      loop_->defer([&] { order.push_back(3); });
    });
    order.push_back(1);
  });
  loop_->post([&] { order.push_back(4); });
  loop_->post([&] { loop_->stop(); });
  loop_->run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(Loop, TellsAWatcherUntilTheCauseIsGone) {
  Bell bell;
  ASSERT_TRUE(loop_->watch(bell.fd(), bell));
  bell.answer = [&] {
    if (bell.told < 3) return;
    bell.silence();
    loop_->post([&] { loop_->stop(); });
  };
  bell.ring();
  loop_->run();
  EXPECT_EQ(bell.told, 3);
  loop_->unwatch(bell.fd(), bell);
}

TEST_F(Loop, DoesNotCallAWatcherThatWasUnwatchedInTheSameRound) {
  Bell first;
  Bell second;
  ASSERT_TRUE(loop_->watch(first.fd(), first));
  ASSERT_TRUE(loop_->watch(second.fd(), second));
  const auto only_one = [&](Bell& self, Bell& other) {
    self.silence();
    loop_->unwatch(other.fd(), other);
    loop_->post([&] { loop_->stop(); });
  };
  first.answer = [&] { only_one(first, second); };
  second.answer = [&] { only_one(second, first); };
  first.ring();
  second.ring();
  loop_->run();
  EXPECT_EQ(first.told + second.told, 1);
}

TEST_F(Loop, TellsOfWhatIsWantedOnly) {
  Bell bell;
  ASSERT_TRUE(loop_->watch(bell.fd(), bell));
  loop_->want(bell.fd(), bell, {});
  bell.ring();
  bell.answer = [&] {
    bell.silence();
    loop_->stop();
  };
  loop_->post([&] {
    EXPECT_EQ(bell.told, 0);
    loop_->want(bell.fd(), bell, {.readable = true});
  });
  loop_->run();
  EXPECT_EQ(bell.told, 1);
}

TEST_F(Loop, RefusesADescriptorThatCannotBeWatched) {
  Bell bell;
  EXPECT_FALSE(loop_->watch(-1, bell));
}

TEST_F(Loop, CallsTicksWhenTheirTimeHasComeAndNotAfterCancel) {
  int ticks = 0;
  const auto tick = loop_->every(std::chrono::seconds(10), [&] { ++ticks; });
  // Ticks are looked at once a round; each piece of work posts the next, so each is a round.
  std::vector<std::function<void()>> rounds;
  rounds.emplace_back([&] { clock_.advance(std::chrono::seconds(9)); });
  rounds.emplace_back([&] { EXPECT_EQ(ticks, 0); });
  rounds.emplace_back([&] { clock_.advance(std::chrono::seconds(1)); });
  rounds.emplace_back([] {});
  rounds.emplace_back([&] {
    EXPECT_EQ(ticks, 1);
    clock_.advance(std::chrono::seconds(50));
  });
  rounds.emplace_back([] {});
  rounds.emplace_back([&] {
    EXPECT_EQ(ticks, 2) << "missed ticks are not made up for";
    loop_->cancel(tick);
    clock_.advance(std::chrono::seconds(50));
  });
  rounds.emplace_back([] {});
  rounds.emplace_back([&] {
    EXPECT_EQ(ticks, 2);
    loop_->stop();
  });
  std::size_t next = 0;
  std::function<void()> go = [&] {
    rounds[next++]();
    if (next < rounds.size()) loop_->post(go);
  };
  loop_->post(go);
  loop_->run();
}

TEST_F(Loop, RunsWhatWasPostedBeforeItEndsAndDestroysWhatComesLater) {
  bool ran = false;
  loop_->post([&] {
    loop_->stop();
    loop_->post([&] { ran = true; });
  });
  loop_->run();
  EXPECT_TRUE(ran);
  const auto token = std::make_shared<int>(1);
  loop_->post([token] { FAIL() << "the loop has ended"; });
  EXPECT_EQ(token.use_count(), 1);
}

TEST(NetThreadsTest, TakePostsFromManyThreads) {
  const ManualClock clock;
  const auto threads = *NetThreads::start(2, clock);
  std::array<std::atomic<int>, 2> done{};
  {
    std::vector<std::jthread> posters;
    for (int t = 0; t < 4; ++t) {
      posters.emplace_back([&] {
        for (std::size_t i = 0; i < 1000; ++i) {
          EventLoop* loop = threads->loops()[i % 2];
          loop->post([&done, loop, i] {
            if (loop->in_thread()) ++done[i % 2];
          });
        }
      });
    }
  }
  threads->stop();
  EXPECT_EQ(done[0], 2000);
  EXPECT_EQ(done[1], 2000);
}

}  // namespace
}  // namespace corelane::net
