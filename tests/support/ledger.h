// SPDX-License-Identifier: Apache-2.0
// Ledger: writers that know what a database must contain after recovering from a fault.
//
// Each writer changes its own items in sequence: puts, and conditional updates and deletes that
// move items in and out of indexes. Its transactions over two tables, with a token, move an amount
// between shared accounts and change a shared counter. So the database must contain, for each
// writer, the result of a prefix of its writes, and the shared items must match these prefixes
// exactly. Both tables have a stream; applying its changes in order must result in the table's
// content.
//
// Thread safety: write() for different writers at the same time; everything else by one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "stator/client.h"

namespace stator::test {

// The writes that must exist. No write may exist partially, or without the earlier writes.
enum class Kept {
  kAcknowledged,      // all acknowledged ones; the last call can exist too
  kOnlyAcknowledged,  // exactly those
  kPrefix,            // those up to some point in time
};

class Ledger {
 public:
  Ledger(std::size_t writers, uint64_t seed);

  // Creates the empty tables and the shared items. Call it once.
  static Result<void> create(Client& client);

  // Writes for a writer until a request fails, and returns the error; or until `stop`.
  Result<void> write(Client& client, std::size_t writer, const std::atomic<bool>& stop);

  // Compares a database with the known writes, and its indexes with their tables (EXPECT_…).
  void check(Client& client, Kept kept) { (void)compare(client, kept); }
  // Checks, and uses the database's content as the start of the next writes.
  void settle(Client& client, Kept kept);
  // Call it after settle(). Sends each writer's last transaction again with its token. Then it has
  // been applied exactly once.
  void repeat_transactions(Client& client);

  std::size_t acknowledged() const;  // number of writes that were settled
  std::size_t lost() const;          // number of these that were lost

 private:
  using Items = std::map<int, Item>;              // by sort key
  using Shared = std::map<std::string, int64_t>;  // by partition key

  struct Write {
    int64_t called_ns = 0;
    std::optional<int64_t> returned_ns = {};                      // absent: no response
    std::vector<std::pair<int, std::optional<Item>>> items = {};  // absent: erased
    Shared added = {};
    std::optional<TransactWriteItemsRequest> transaction = {};
  };
  struct Writer {
    std::string name;
    std::mt19937_64 random;
    int64_t last_version = 0;
    Items before;  // the writes
    Items now;     // if all writes took effect
    std::vector<Write> writes;
    // From the last settled writes:
    std::optional<Write> last_held_transaction;
    std::optional<Write> unanswered_transaction;  // if it was not applied
  };
  // How many of a writer's writes exist. Only the counter distinguishes the shortest prefix from
  // the longest.
  struct Held {
    std::size_t shortest = 0;
    std::size_t longest = 0;
  };
  struct Comparison {
    std::vector<Held> held;
    Shared shared;
  };

  Result<void> call(Client& client, Writer& writer);
  Item make_item(Writer& writer, int sk);
  Result<void> put(Client& client, Writer& writer, Write& write);
  Result<void> update(Client& client, Writer& writer, Write& write);
  Result<void> erase(Client& client, Writer& writer, Write& write);
  Result<void> count(Client& client, Write& write);
  Result<void> transact(Client& client, Writer& writer, Write& write);

  Comparison compare(Client& client, Kept kept) const;
  static Held compare_writer(Client& client, const Writer& writer, Kept kept);
  void check_order(const std::vector<Held>& held) const;
  void check_shared(const Shared& found, const std::vector<Held>& held) const;

  std::vector<Writer> writers_;
  Shared shared_;  // before the writes
  std::size_t acknowledged_ = 0;
  std::size_t lost_ = 0;
};

}  // namespace stator::test
