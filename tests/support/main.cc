// SPDX-License-Identifier: Apache-2.0
// main() of every test program. A test that runs for longer than STATOR_TEST_SECONDS (default: no
// limit) ends the program, which first writes the name of the test and the stacks of all threads.
// `addr2line -Cfe PROGRAM ADDRESS` translates the addresses.
#include <dirent.h>
#include <execinfo.h>
#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include "support/from_environment.h"

namespace stator::test {
namespace {

constexpr useconds_t kStackMicroseconds = 50'000;  // in which a thread writes its stack

std::string* running_test = nullptr;

void write_text(std::string_view text) {
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
}

void write_stack(int) {
  std::array<void*, 64> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  write_text("thread:\n");
  backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
}

// The name is written first: in a program that hangs, listing the threads can hang as well.
void end_hanging_test(int) {
  write_text(*running_test);
  write_text(" takes too long. Its threads:\n");
  if (DIR* const threads = opendir("/proc/self/task")) {
    while (const dirent* const thread = readdir(threads)) {
      const auto id = std::strtol(thread->d_name, nullptr, 10);
      if (id <= 0) continue;
      syscall(SYS_tgkill, getpid(), id, SIGUSR2);
      usleep(kStackMicroseconds);
    }
  }
  std::abort();
}

class TimeLimit : public ::testing::EmptyTestEventListener {
 public:
  explicit TimeLimit(unsigned seconds) : seconds_(seconds) {}
  void OnTestStart(const ::testing::TestInfo& test) override {
    name_ = std::string(test.test_suite_name()) + "." + test.name();
    running_test = &name_;
    alarm(seconds_);
  }
  void OnTestEnd(const ::testing::TestInfo&) override { alarm(0); }

 private:
  const unsigned seconds_;
  std::string name_;
};

void limit_time(unsigned seconds) {
  std::array<void*, 1> frame;
  backtrace(frame.data(), 1);  // the first call loads a library
  std::signal(SIGALRM, end_hanging_test);
  std::signal(SIGUSR2, write_stack);
  ::testing::UnitTest::GetInstance()->listeners().Append(new TimeLimit(seconds));
}

}  // namespace
}  // namespace stator::test

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  if (const auto seconds = stator::test::number_from_environment("STATOR_TEST_SECONDS", 0)) {
    stator::test::limit_time(static_cast<unsigned>(seconds));
  }
  return RUN_ALL_TESTS();
}
