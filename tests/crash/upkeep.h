// SPDX-License-Identifier: Apache-2.0
// Upkeep: long jobs of a server, in progress when it is killed, and checks of their results.
//
// One table has one writer with numbered writes, and the number of a write determines its effect.
// So the table, each of its backups and each restored table must contain the result of the first n
// writes, for some n. A table that was restored to a moment must contain exactly the state of that
// moment. Concurrently, its index and its TTL queue are created and deleted, and the sweep must
// find expired items. The table is exported, another one is imported, and bulk puts write to a
// third one (transfers.h).
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <string>

#include "crash/transfers.h"
#include "stator/client.h"

namespace stator::test {

class Upkeep {
 public:
  Upkeep(const std::filesystem::path& buckets, uint64_t seed);

  Result<void> create(Client& client);
  // Starts jobs, then writes until a request fails, and returns that failure.
  Result<void> run(Client& client);
  // Waits until the jobs in progress have ended, and compares their results (EXPECT_…).
  void settle(Client& client);
  std::size_t restored() const { return restored_; }  // restored tables that were compared
  std::size_t transferred() const { return transfers_.compared(); }

 private:
  Result<void> toggle_index(Client& client);
  Result<void> toggle_expiry(Client& client);
  Result<void> start_jobs(Client& client);
  Result<void> restore_backup(Client& client);
  Result<void> restore_moment(Client& client);
  Result<void> write(Client& client);
  void check_table(Client& client);
  void check_expired(Client& client);
  void check_restored(Client& client, const std::string& table, std::optional<int64_t> number);
  void check_backups(Client& client);

  std::mt19937_64 random_;
  std::size_t restored_ = 0;
  int64_t written_ = 0;  // number of writes that were acknowledged or found
  bool indexed_ = false;
  bool expiring_ = false;
  Moment moment_;                       // a moment without writes in progress
  std::optional<int64_t> restored_to_;  // the number of that moment during a restore
  std::string backup_;                  // ARN of a complete one
  Transfers transfers_;
};

}  // namespace stator::test
