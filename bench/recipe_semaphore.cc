// SPDX-License-Identifier: Apache-2.0
// The semaphore, compared with its reference implementation: a table with two indexes, a put on
// condition that the row does not exist or has expired, a delete, and five seconds between
// attempts.
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>

#include "bench/contests.h"
#include "stator/database.h"
#include "stator/recipes/semaphore.h"
#include "support/counting_client.h"

namespace stator::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 2'000;

IndexDefinition article_index(const char* name, const char* key) {
  return {.name = name, .key_schema = {{key, KeyType::kHash}}, .projection = {}};
}

Result<void> create_tables(Client& client) {
  const CreateTableRequest article{
      .table = "spectron_semaphores",
      .attributes = {{"semaphoreName", ScalarType::kS},
                     {"userId", ScalarType::kS},
                     {"expires", ScalarType::kN}},
      .key_schema = {{"semaphoreName", KeyType::kHash}},
      .global_indexes =
          std::vector{article_index("User", "userId"), article_index("Expires", "expires")},
      .billing_mode = BillingMode::kPayPerRequest};
  STATOR_RETURN_IF_ERROR(create_table_if_missing(client, article));
  STATOR_RETURN_IF_ERROR(
      create_table_if_missing(client, Semaphore::table_definition({.table = "Locks"})));
  return {};
}

Result<void> article_lock(Client& client) {
  for (;;) {
    const int64_t now = Time::now().unix_seconds();
    const auto put = client.put_item(
        {.table = "spectron_semaphores",
         .item = {{"semaphoreName", "lock"}, {"userId", "ann"}, {"expires", now + 120}},
         .condition = "semaphoreName <> :name OR expires < :time",
         .values = Values{{":name", "lock"}, {":time", now}}});
    if (put) return {};
    if (put.error().code != Code::kConditionalCheckFailed) return Failure(put.error());
    std::this_thread::sleep_for(5s);
  }
}

Result<void> article_release(Client& client) {
  STATOR_RETURN_IF_ERROR(
      client.delete_item({.table = "spectron_semaphores", .key = {{"semaphoreName", "lock"}}}));
  return {};
}

// `round` is one lock and release.
template <class F>
Result<void> measure(const char* who, examples::CountingClient& client, F round) {
  const examples::Cost before = client.cost();
  const auto start = Clock::now();
  for (int i = 0; i < kRounds; ++i) STATOR_RETURN_IF_ERROR(round());
  const std::chrono::duration<double, std::micro> took = Clock::now() - start;
  const examples::Cost cost = client.cost() - before;
  std::printf("  %-12s %5.2f requests %6.2f write units %8.1f us\n", who,
              static_cast<double>(cost.requests) / kRounds, cost.write_units / kRounds,
              took.count() / kRounds);
  return {};
}

// Measures the time from a release until another thread, which has waited for 100 ms, has the lock.
template <class Lock, class Release>
Result<void> measure_handover(const char* who, Lock lock, Release release) {
  STATOR_RETURN_IF_ERROR(lock());
  Clock::time_point had;
  Result<void> waited;
  std::jthread waiter([&] {
    waited = lock();
    had = Clock::now();
  });
  std::this_thread::sleep_for(100ms);
  const auto start = Clock::now();
  STATOR_RETURN_IF_ERROR(release());
  waiter.join();
  STATOR_RETURN_IF_ERROR(waited);
  std::printf("  %-12s %38.3f ms\n", who,
              std::chrono::duration<double, std::milli>(had - start).count());
  return release();
}

}  // namespace

Result<void> semaphore_recipe() {
  STATOR_ASSIGN_OR_RETURN(Database database, Database::open({}));
  STATOR_RETURN_IF_ERROR(create_tables(database));
  examples::CountingClient client(database);
  Semaphore locks(client, {.table = "Locks"});

  std::printf("semaphore: a lock and its release, in process, in memory\n");
  const auto article = [&]() -> Result<void> {
    STATOR_RETURN_IF_ERROR(article_lock(client));
    return article_release(client);
  };
  const auto ours = [&]() -> Result<void> {
    STATOR_ASSIGN_OR_RETURN(Lease lease, locks.acquire("lock"));
    return lease.release();
  };
  STATOR_RETURN_IF_ERROR(measure("reference", client, article));
  STATOR_RETURN_IF_ERROR(measure("Semaphore", client, ours));

  std::printf("semaphore: handed over to one who waits\n");
  const auto lock_article = [&] { return article_lock(client); };
  const auto release_article = [&] { return article_release(client); };
  STATOR_RETURN_IF_ERROR(measure_handover("reference", lock_article, release_article));
  std::optional<Lease> held;
  std::mutex mutex;
  return measure_handover(
      "Semaphore",
      [&]() -> Result<void> {
        STATOR_ASSIGN_OR_RETURN(Lease lease, locks.acquire("lock", {.wait = kWaitForEver}));
        const std::scoped_lock lock(mutex);
        held.emplace(std::move(lease));
        return {};
      },
      [&]() -> Result<void> {
        std::optional<Lease> mine;
        {
          const std::scoped_lock lock(mutex);
          mine.swap(held);
        }
        return mine->release();
      });
}

}  // namespace stator::bench
