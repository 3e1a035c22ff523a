#include "service/queue.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "schedule/choose_batch.h"
#include "service/job.h"

namespace corelane::service {
namespace {

JobPtr job_of(std::int64_t since) {
  auto job = std::make_unique<Job>();
  job->waiting.since = Nanos(since);
  return job;
}

std::vector<std::int64_t> times(const Queue& queue) {
  std::vector<std::int64_t> all;
  for (const auto& waiting : queue.waiting()) all.push_back(waiting.since.count());
  return all;
}

TEST(Queue, PutsAJobBackWhereItsTimeBelongs) {
  Queue queue;
  EXPECT_EQ(queue.oldest(), schedule::kNothingWaits);
  for (const std::int64_t since : {20, 30, 40}) queue.push(job_of(since));
  queue.insert(job_of(10));
  queue.insert(job_of(50));
  queue.insert(job_of(30));
  EXPECT_EQ(times(queue), (std::vector<std::int64_t>{10, 20, 30, 30, 40, 50}));
  EXPECT_EQ(queue.oldest(), Nanos(10));
}

TEST(Queue, TakesItsMembersOutAndKeepsTheOrderOfTheRest) {
  Queue queue;
  for (std::int64_t since = 0; since < 6; ++since) queue.push(job_of(since));
  std::vector<JobPtr> taken;
  const std::uint32_t members[] = {0, 2, 5};
  queue.take(members, taken);
  EXPECT_EQ(times(queue), (std::vector<std::int64_t>{1, 3, 4}));
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_EQ(taken[1]->waiting.since, Nanos(2));
}

TEST(Queue, KeepsJobsAndTheirDescriptionsTogether) {
  std::mt19937 random(1);
  Queue queue;
  std::vector<JobPtr> taken;
  for (int round = 0; round < 500; ++round) {
    queue.insert(job_of(random() % 1000));
    if (random() % 3 == 0) {
      const std::uint32_t member[] = {static_cast<std::uint32_t>(random() % queue.size())};
      const Nanos expected = queue.waiting()[member[0]].since;
      queue.take(member, taken);
      EXPECT_EQ(taken.back()->waiting.since, expected);
    }
  }
}

}  // namespace
}  // namespace corelane::service
