// SPDX-License-Identifier: Apache-2.0
// Compares the items of two tables, on any two backends.
//
// First each table is read once: if the tables have the same number of items and the sums of the
// hashes of their items are equal, the items are equal. Otherwise each item is looked up in the
// other table, in both directions, to find the differences.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/table_scan.h"
#include "stator/client.h"

namespace stator::cli {

struct TablePair {
  Client& from;
  std::string source;
  Client& to;
  std::string target;
};

struct ItemDifference {
  enum class Kind {
    kMissing,  // only in the source
    kExtra,    // only in the target
    kChanged,
  };
  Kind kind;
  Item key;
};

struct CompareOptions {
  int segments = 1;
  int64_t rate = 0;          // items per second and table; 0: no limit
  KeySchema key_schema;      // of both tables
  std::string time_to_live;  // the attribute; empty: items do not expire
  std::stop_token stop;
  // Both are required. `differs` is called for each difference, by one thread at a time.
  std::function<void(const ItemDifference&)> differs;
  // Called by the calling thread. `what`: the phase, such as "verify source"; `items`: how many
  // were read in it so far.
  std::function<void(const std::string& what, int64_t items)> advanced;
};

struct Comparison {
  int64_t source_items = 0;
  int64_t target_items = 0;
  int64_t differences = 0;
  int64_t expired = 0;  // only in one table and expired, so time to live might delete them
};

// Items are equal if their attributes are equal: numbers by value, sets regardless of order. Items
// that are written during the comparison might be compared before or after the write, so they can
// be reported as different. Blocking. Errors: kCancelled after a stop; those of the clients.
Result<Comparison> compare_items(const TablePair& tables, const CompareOptions& options);

}  // namespace stator::cli
