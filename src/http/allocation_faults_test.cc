// SPDX-License-Identifier: Apache-2.0
// The server without memory: one of its allocations fails, or all from one on until the client has
// given up. Sanitizers have their own allocation functions.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <malloc.h>
#include <poll.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <new>

#include "http/server_test.h"
#include "support/comes_true.h"

namespace {

enum class Failing { kNone, kOne, kAllFromThere };

// Of threads that are not exempt.
std::atomic<Failing> failing = Failing::kNone;
std::atomic<int> allocations_before = 0;  // the first that fails
std::atomic<bool> failed = false;
thread_local bool exempt = false;

bool fails() {
  if (exempt || failing == Failing::kNone) return false;
  const int before = allocations_before.fetch_sub(1);
  if (before > 0 || (before < 0 && failing == Failing::kOne)) return false;
  failed = true;
  return true;
}

}  // namespace

// Not inlined: g++ 12 would warn of memory that new returns and free() takes.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = fails() ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
// Asio uses this one.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return fails() ? nullptr : memalign(alignment, size);
}

namespace stator::http {
namespace {

std::ptrdiff_t open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

// A client without memory on the side of the server, then one with, for each allocation.
void expect_served_again(Failing how, const ServerOptions& options, const std::string& body) {
  int before = 0;
  do {
    const auto server = start(echo, options);
    const auto files = open_files();
    failed = false;
    allocations_before = before;
    failing = how;
    {
      RawConnection without(server->port());
      EXPECT_TRUE(without.send(post(body)));
      pollfd answer{.fd = without.descriptor(), .events = POLLIN, .revents = 0};
      test::comes_true([&] { return failed || ::poll(&answer, 1, 1) > 0; });
      ::poll(&answer, 1, 10);  // let further ones fail
    }
    failing = Failing::kNone;
    {
      RawConnection after(server->port());
      ASSERT_TRUE(after.send(post(body)));
      ASSERT_EQ(after.read_answer().body, "POST /p " + body) << before << " allocations";
    }
    ASSERT_TRUE(test::comes_true([&] { return server->stats().connections == 0; }))
        << before << " allocations";
    EXPECT_EQ(open_files(), files) << before << " allocations";
    ++before;
  } while (failed);
  EXPECT_GT(before, 5);
}

TEST(ServerWithoutMemory, ServesAgainOnceThereIsSome) {
  exempt = true;
  over_tls = false;
  const auto aside = [](const Request&) { return true; };
  for (const Failing how : {Failing::kOne, Failing::kAllFromThere}) {
    for (const int threads : {1, 2}) {
      expect_served_again(how, {.threads = threads}, "small");
      expect_served_again(how, {.threads = threads, .aside = aside}, "small");
      expect_served_again(how, {.threads = threads}, std::string(100'000, 'x'));  // bulk
    }
  }
}

}  // namespace
}  // namespace stator::http
#endif
