// SPDX-License-Identifier: Apache-2.0
// Transfers: exports of a table of numbered writes and imports from files that are in progress when
// the server is killed. Each acknowledged one must complete exactly once, with the same files,
// counts and checksums, or the same table and counts, as without the crash.
//
// Thread safety: none; start() and settle() can be on different threads, but not concurrent.
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

// A time at which nobody wrote, and how many writes there had been.
struct Moment {
  int64_t time_ms = 0;
  int64_t number = 0;
};
std::string seconds_of(const Moment& moment);

class Transfers {
 public:
  // `buckets` is the server's directory of them.
  Transfers(std::filesystem::path buckets, std::string table, uint64_t seed);

  // Begins with a full export of `moment`, an incremental one since an earlier one, or an import.
  Result<void> start_export(Client& client, const Moment& moment);
  Result<void> start_increment(Client& client, const Moment& moment);
  Result<void> start_import(Client& client);
  // Waits until what was under way has ended, and compares, by EXPECT_…; of what ends from now on,
  // `moment` may be the beginning.
  void settle(Client& client, const Moment& moment);
  std::size_t compared() const { return compared_; }

 private:
  // What a list names that was not compared yet, none of it IN_PROGRESS any more.
  std::vector<std::string> ended(Client& client, const std::string& operation,
                                 const std::string& member, const std::string& kind);
  void check_export(Client& client, const std::string& arn);
  void check_import(Client& client, const std::string& arn);
  std::vector<std::string> check_files(const Item& described);
  Result<void> begin(Client& client, const std::string& operation, const std::string& request);

  std::filesystem::path buckets_;
  transfer::Bucket bucket_;
  std::string table_;
  std::mt19937_64 random_;
  std::size_t compared_ = 0;
  std::vector<Moment> moments_;     // where an increment may begin, the oldest first
  Moment exported_;                 // of the exports under way
  Moment exported_from_;            // of the incremental one
  bool flawed_ = false;             // the import under way reads lines that are no items
  std::vector<std::string> begun_;  // ARNs that were answered, not compared yet
  std::set<std::string> seen_;      // ARNs that were compared
  int64_t source_bytes_ = 0;        // of the files to import, unfolded
  int64_t flawed_bytes_ = 0;        // of those with flaws
};

}  // namespace stator::test
