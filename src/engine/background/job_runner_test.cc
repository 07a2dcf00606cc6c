// SPDX-License-Identifier: Apache-2.0
#include "engine/background/job_runner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <vector>

#include "support/comes_true.h"
#include "support/matchers.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using test::comes_true;
using ::testing::ElementsAre;
using ::testing::Pair;

// A job that calls a function for each step. It records whether it ended or was abandoned.
class Scripted : public Job {
 public:
  using Step = std::function<Result<JobState>(int step)>;
  struct Ends {
    std::binary_semaphore ended{0};
    std::atomic<bool> abandoned = false;
    std::atomic<int> steps = 0;
    std::atomic<int> rests = 0;
  };

  Scripted(Step step, Ends& ends) : step_(std::move(step)), ends_(ends) {}
  ~Scripted() override { ends_.ended.release(); }
  Scripted(const Scripted&) = delete;
  Scripted& operator=(const Scripted&) = delete;

  Result<JobState> step() override { return step_(ends_.steps++); }
  void rest() override { ++ends_.rests; }
  Result<void> abandon(const Error&) override {
    ends_.abandoned = true;
    return {};
  }

 private:
  Step step_;
  Ends& ends_;
};

Result<JobState> throttled() {
  return fail(Code::kThrottling, "the queue is full");
}

class JobsTest : public ::testing::Test {
 protected:
  void add(std::string name, Scripted::Step step, Scripted::Ends& ends) {
    jobs_.add(std::move(name), std::make_unique<Scripted>(std::move(step), ends));
  }
  // Runs a job of many steps, so that any other job that is ready has its turns.
  void let_others_run() {
    Scripted::Ends ends;
    add("other", [](int step) { return step < 100 ? JobState::kMore : JobState::kDone; }, ends);
    ends.ended.acquire();
  }

  void wait_for_failures(int count) {
    EXPECT_TRUE(comes_true([&] { return failure_count_ == count; }));
  }

  std::mutex mutex_;
  std::vector<std::pair<LogLevel, std::string>> lines_;
  std::vector<int> failures_;
  std::atomic<int> failure_count_ = 0;
  std::atomic<std::chrono::milliseconds> pause_ = 0ms;
  JobRunner jobs_{[this](LogLevel level, const std::string& line) {
                    const std::lock_guard lock(mutex_);
                    lines_.emplace_back(level, line);
                  },
                  [this](int failures) {
                    failures_.push_back(failures);
                    ++failure_count_;
                    return pause_.load();
                  }};
};

TEST(RetryDelay, DoublesUpToAMinuteLessJitter) {
  EXPECT_EQ(retry_delay(1, 0), 100ms);
  EXPECT_EQ(retry_delay(2, 0), 200ms);
  EXPECT_EQ(retry_delay(9, 0), 25'600ms);
  EXPECT_EQ(retry_delay(11, 0), 60'000ms);
  EXPECT_EQ(retry_delay(1'000'000, 0), 60'000ms);
  EXPECT_EQ(retry_delay(1, 0.5), 75ms);
  EXPECT_GE(retry_delay(100, 0.999), 30'000ms);
}

TEST_F(JobsTest, FinishAShortJobWhileLongOnesOccupyEveryThread) {
  std::atomic<bool> stop = false;
  std::vector<Scripted::Ends> long_ends(JobRunner::kThreads + 1);
  for (Scripted::Ends& ends : long_ends) {
    add("long", [&](int) { return stop ? JobState::kDone : JobState::kMore; }, ends);
  }
  Scripted::Ends short_ends;
  add("short", [](int step) { return step < 3 ? JobState::kMore : JobState::kDone; }, short_ends);
  short_ends.ended.acquire();
  EXPECT_EQ(short_ends.steps, 4);
  stop = true;
  for (Scripted::Ends& ends : long_ends) ends.ended.acquire();
}

TEST_F(JobsTest, AddedTogetherRunOnTwoThreads) {
  for (int round = 0; round < 100; ++round) {
    std::binary_semaphore ended{0};
    std::binary_semaphore second{0};
    JobRunner jobs{{}};
    const auto end = [&]() -> Result<void> {
      ended.release();
      return {};
    };
    jobs.add("earlier", end);
    ended.acquire();
    EXPECT_TRUE(comes_true([&] { return jobs.stats().jobs == 0; }));
    jobs.add("first", [&]() -> Result<void> {
      EXPECT_TRUE(second.try_acquire_for(2min)) << "no other thread runs the second job";
      return end();
    });
    jobs.add("second", [&]() -> Result<void> {
      second.release();
      return {};
    });
    ended.acquire();
    if (HasFailure()) return;
  }
}

TEST_F(JobsTest, RepeatAFailedStepUntilItSucceeds) {
  Scripted::Ends ends;
  add(
      "copy", [](int step) { return step < 3 ? throttled() : Result<JobState>(JobState::kDone); },
      ends);
  ends.ended.acquire();
  jobs_.stop();
  EXPECT_FALSE(ends.abandoned);
  EXPECT_THAT(failures_, ElementsAre(1, 2, 3));
  EXPECT_THAT(lines_, ElementsAre(Pair(LogLevel::kWarning, "copy is retried: the queue is full"),
                                  Pair(LogLevel::kInfo, "copy: resumed")));
}

TEST_F(JobsTest, PauseLongerWhenTheyFailAgainBeforeTheyHaveMadeProgress) {
  Scripted::Ends ends;
  add(
      "copy",
      [](int step) -> Result<JobState> {
        if (step == 6) return JobState::kMore;
        if (step == 8) return JobState::kDone;
        return step % 2 == 0 ? Result<JobState>(JobState::kRetrying) : throttled();
      },
      ends);
  ends.ended.acquire();
  jobs_.stop();
  EXPECT_THAT(failures_, ElementsAre(1, 2, 3, 1));
  const auto retried = Pair(LogLevel::kWarning, "copy is retried: the queue is full");
  const auto resumed = Pair(LogLevel::kInfo, "copy: resumed");
  EXPECT_THAT(lines_, ElementsAre(retried, resumed, retried, resumed));
}

TEST_F(JobsTest, PauseAfterAFailureWithoutHinderingOthers) {
  pause_ = 1h;
  Scripted::Ends ends;
  add(
      "copy", [](int step) { return step == 0 ? throttled() : Result<JobState>(JobState::kDone); },
      ends);
  wait_for_failures(1);
  // It rests, so it holds no snapshot during a long pause.
  EXPECT_TRUE(comes_true([&] { return ends.rests == 1; }));
  let_others_run();
  EXPECT_EQ(ends.steps, 1);
  ASSERT_TRUE(jobs_.failure("copy"));
  EXPECT_EQ(jobs_.failure("copy")->message, "the queue is full");
  EXPECT_FALSE(jobs_.failure("other"));
  jobs_.retry_now();
  ends.ended.acquire();
  EXPECT_EQ(ends.steps, 2);
}

TEST_F(JobsTest, AbandonAJobOnAnErrorThatCannotPass) {
  Scripted::Ends ends;
  add("copy", [](int) { return fail(Code::kCorruption, "a row is damaged"); }, ends);
  ends.ended.acquire();
  jobs_.stop();
  EXPECT_TRUE(ends.abandoned);
  EXPECT_EQ(ends.steps, 1);
  EXPECT_THAT(lines_, ElementsAre(Pair(LogLevel::kError, "copy failed: a row is damaged")));
}

TEST_F(JobsTest, AbandonAJobThatMadeNoProgressForADay) {
  pause_ = 13h;
  Scripted::Ends ends;
  add("copy", [](int) { return throttled(); }, ends);
  for (int count = 1; count <= 2; ++count) {
    wait_for_failures(count);
    EXPECT_FALSE(ends.abandoned);
    jobs_.retry_now();
  }
  ends.ended.acquire();
  EXPECT_TRUE(ends.abandoned);
  EXPECT_EQ(ends.steps, 3);
}

TEST_F(JobsTest, RetryAnActionForLongerThanADay) {
  pause_ = 13h;
  std::binary_semaphore done{0};
  std::atomic<bool> fails = true;
  jobs_.add("erasure", [&]() -> Result<void> {
    if (fails) return fail(Code::kThrottling, "the queue is full");
    done.release();
    return {};
  });
  for (int count = 1; count <= 4; ++count) {
    wait_for_failures(count);
    if (count == 4) fails = false;  // before: a retry during a step that fails has no effect
    jobs_.retry_now();
  }
  EXPECT_TRUE(done.try_acquire_for(1min));
}

TEST_F(JobsTest, AreCounted) {
  EXPECT_EQ(jobs_.stats().jobs, 0U);
  Scripted::Ends ends;
  std::atomic<bool> fails = true;
  add(
      "flaky",
      [&](int) -> Result<JobState> {
        if (fails) return throttled();
        return JobState::kDone;
      },
      ends);
  EXPECT_TRUE(comes_true([&] { return jobs_.stats().failing == 1; }));
  EXPECT_EQ(jobs_.stats().jobs, 1U);
  fails = false;
  jobs_.retry_now();
  ends.ended.acquire();
  EXPECT_TRUE(comes_true([&] { return jobs_.stats().jobs == 0; }));
  EXPECT_EQ(jobs_.stats().failing, 0U);
  EXPECT_EQ(jobs_.stats().oldest.count(), 0);
}

TEST_F(JobsTest, DropPendingWorkWhenStopped) {
  Scripted::Ends ends;
  add("endless", [](int) { return JobState::kMore; }, ends);
  jobs_.stop();
  ends.ended.acquire();
  EXPECT_FALSE(ends.abandoned);
}

}  // namespace
}  // namespace stator
