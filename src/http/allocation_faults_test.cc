// SPDX-License-Identifier: Apache-2.0
// The server without memory: from one of its allocations on, all fail, until the client has given
// up. Sanitizers have their own allocation functions.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <malloc.h>
#include <poll.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "http/server_test.h"
#include "support/comes_true.h"

namespace {

// Of threads that are not exempt: how many allocations succeed before all others fail.
std::atomic<int> allocations_left = -1;  // negative: all succeed
std::atomic<bool> failed = false;
thread_local bool exempt = false;

bool fails() {
  if (exempt || allocations_left < 0) return false;
  if (allocations_left > 0) return --allocations_left < 0;
  failed = true;
  return true;
}

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = fails() ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
// Asio uses this one.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return fails() ? nullptr : memalign(alignment, size);
}

namespace stator::http {
namespace {

void expect_served_again(const ServerOptions& options, const std::string& body) {
  int left = 0;
  do {
    const auto server = start(echo, options);
    failed = false;
    allocations_left = left++;
    {
      RawConnection without(server->port());
      EXPECT_TRUE(without.send(post(body)));
      pollfd answer{.fd = without.descriptor(), .events = POLLIN, .revents = 0};
      test::comes_true([&] { return failed || ::poll(&answer, 1, 1) > 0; });
      ::poll(&answer, 1, 10);  // let further ones fail
    }
    allocations_left = -1;
    {
      RawConnection after(server->port());
      ASSERT_TRUE(after.send(post(body)));
      ASSERT_EQ(after.read_answer().body, "POST /p " + body) << left - 1 << " allocations";
    }
    ASSERT_TRUE(test::comes_true([&] { return server->stats().connections == 0; }))
        << left - 1 << " allocations";
  } while (failed);
  EXPECT_GT(left, 5);
}

TEST(ServerWithoutMemory, ServesAgainOnceThereIsSome) {
  exempt = true;
  over_tls = false;
  const auto aside = [](const Request&) { return true; };
  for (const int threads : {1, 2}) {
    expect_served_again({.threads = threads}, "small");
    expect_served_again({.threads = threads, .aside = aside}, "small");
    expect_served_again({.threads = threads}, std::string(100'000, 'x'));  // for the bulk loop
  }
}

}  // namespace
}  // namespace stator::http
#endif
