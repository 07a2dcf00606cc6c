// SPDX-License-Identifier: Apache-2.0
// Upkeep: a server's long jobs, under way when it is killed, and what must be true of them after.
//
// One table has one writer whose writes are numbered, and what a write does follows from its
// number: so the table, each backup of it and each table that was restored from it must hold what
// some number of writes leads to, and one that was restored to a moment exactly that moment's.
// Meanwhile its index and its queue of expiring items come and go, and expired items are put that
// the sweep has to find. It is exported, and another table imported (transfers.h).
//
// Thread safety: none; run() may be on a thread of its own.
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
  // Waits until what was under way has ended, and compares, by EXPECT_…
  void settle(Client& client);
  std::size_t restored() const { return restored_; }  // tables that were compared
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
  int64_t written_ = 0;  // how many of the writes were acknowledged, or found
  bool indexed_ = false;
  bool expiring_ = false;
  Moment moment_;                       // of a quiet table
  std::optional<int64_t> restored_to_;  // the number of the moment, while it is being restored
  std::string backup_;                  // ARN of one that is whole
  Transfers transfers_;
};

}  // namespace stator::test
