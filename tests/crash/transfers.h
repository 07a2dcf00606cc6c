// SPDX-License-Identifier: Apache-2.0
// Transfers: exports of a table of numbered writes, and imports and bulk puts from files, in
// progress when the server is killed. Each acknowledged one must complete exactly once. It must
// have the same files, counts and checksums, or the same table, counts and report, as without the
// crash.
//
// Thread safety: start() and settle() can be on different threads, but not at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "crash/numbered_writes.h"
#include "transfer/bucket.h"

namespace stator::test {

// A time without writes in progress, and the number of writes before it.
struct Moment {
  int64_t time_ms = 0;
  int64_t number = 0;
};
std::string seconds_of(const Moment& moment);

class Transfers {
 public:
  // `buckets`: the server's directory of buckets.
  Transfers(std::filesystem::path buckets, std::string table, uint64_t seed);

  // Starts a full export of `moment`, an incremental one from an earlier moment, an import, or bulk
  // puts.
  Result<void> start_export(Client& client, const Moment& moment);
  Result<void> start_increment(Client& client, const Moment& moment);
  Result<void> start_import(Client& client);
  Result<void> start_puts(Client& client);
  // Creates the table of the bulk puts, which is empty when they start.
  Result<void> create_table(Client& client);
  // Waits until the jobs in progress have ended, and compares their results (EXPECT_…). Later
  // incremental exports can begin at `moment`.
  void settle(Client& client, const Moment& moment);
  std::size_t compared() const { return compared_; }

 private:
  // The ended jobs in a list that were not compared yet. Waits until none is IN_PROGRESS.
  std::vector<std::string> ended(Client& client, const std::string& operation,
                                 const std::string& member, const std::string& kind);
  void check_export(Client& client, const std::string& arn);
  void check_import(Client& client, const std::string& arn);
  void check_puts(Client& client, const std::string& arn);
  std::string with_checksum(const std::string& key) const;
  std::vector<std::string> check_files(const Item& summary, const std::string& prefix) const;
  void write_puts(int file);
  // `kind`: "Export", "Import" or "BulkOperation".
  Result<void> begin(Client& client, const std::string& kind, const std::string& operation,
                     const std::string& request);

  std::filesystem::path buckets_;
  transfer::Bucket bucket_;
  std::string table_;
  std::mt19937_64 random_;
  std::size_t compared_ = 0;
  std::vector<Moment> moments_;             // possible starts of an increment, oldest first
  Moment exported_;                         // of the exports in progress
  Moment exported_from_;                    // the start of the incremental one
  bool flawed_ = false;                     // the import in progress reads invalid lines
  std::vector<std::string> begun_;          // ARNs from responses, not compared yet
  std::set<std::string> seen_;              // ARNs that were compared
  int64_t source_bytes_ = 0;                // of the files to import, uncompressed
  int64_t flawed_bytes_ = 0;                // of the files with invalid lines
  bool flawed_puts_ = false;                // some of the puts in progress fail
  std::multiset<std::string> failed_puts_;  // lines of their report
};

}  // namespace stator::test
