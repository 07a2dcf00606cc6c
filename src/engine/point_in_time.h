// SPDX-License-Identifier: Apache-2.0
// A table as it was: its items at an earlier moment, and what changed between two, from the items
// of now and the change log.
//
// A moment is a stamp of the log. The state at a stamp is what all commits before it made, so that
// transactions are in it whole or not at all. The log must hold every change since then.
//
// Thread safety: one thread at a time. Memory: bounded, whatever has changed.
// Lifetime: readers borrow the view. Errors: the store's; kCorruption.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/change_log.h"
#include "engine/table.h"

namespace stator {

// Where a table's items and changes are: what a reader needs to know, be the table there or not.
struct TableHistory {
  KeyShape key;     // its space has the items
  SpaceId log = 0;  // 0: nothing has changed
  Hash128 secret = {};
};

// The stamp behind all that had been written by a time: a write acknowledged until then is before
// it, one begun later is not. Where the clock was set back, the first change that is later ends it.
Result<uint64_t> stamp_at(ReadView& view, SpaceId log, int64_t time_ms);

// The items whose changes are to be looked at, by their row keys. Of a range that has too many for
// the memory it takes the beginning.
class ChangedRows {
 public:
  struct Stamps {
    uint64_t first = 0;
    uint64_t last = 0;
  };
  static constexpr std::size_t kBytesMax = 64UL << 20;

  ChangedRows(ReadView& view, TableHistory history, uint64_t from, uint64_t to,
              std::size_t bytes_max)
      : view_(view), history_(std::move(history)), from_(from), to_(to), bytes_max_(bytes_max) {}

  // Goes to the rows from `begin` on; false where there are no more parts of the space.
  Result<bool> load(const std::string& begin);
  const std::string& end() const { return end_; }  // of the part that is loaded
  std::map<std::string, Stamps>& rows() { return rows_; }
  const TableHistory& history() const { return history_; }
  Result<Change> read(const std::string& row_key, uint64_t stamp, std::string& value);

 private:
  Result<void> collect(unsigned bucket, const std::string& begin);
  void see(std::string key, uint64_t stamp);

  ReadView& view_;
  TableHistory history_;
  uint64_t from_;
  uint64_t to_;
  std::size_t bytes_max_;
  std::string end_;
  std::map<std::string, Stamps> rows_;
  std::size_t bytes_ = 0;
};

struct PastItem {
  std::string row_key;  // in the table's space
  EncodedItem item;
};

// The items as they were before `stamp`, in the order of their row keys.
class PastItems {
 public:
  // Begins behind the row key `after`, with which a reader of another view may have ended.
  PastItems(ReadView& view, const TableHistory& history, uint64_t stamp,
            std::string_view after = {}, std::size_t bytes_max = ChangedRows::kBytesMax);

  // The next of them, at most 256 and about a megabyte; none: that was all.
  Result<std::vector<PastItem>> next();

 private:
  Result<std::vector<PastItem>> current_items() const;
  Result<std::vector<PastItem>> merged(std::vector<PastItem> current);

  ReadView& view_;
  ChangedRows changed_;
  std::string begin_;  // of what is still to be read
};

// What changed of one item between two moments, however often it was written there.
struct PastChange {
  std::string row_key;
  EncodedItem key;      // its key attributes
  int64_t time_ms = 0;  // of the last write
  std::optional<EncodedItem> before = {};
  std::optional<EncodedItem> after = {};  // absent in both: it came and went
};

// The items written from stamp `from` on and before `to`, in the order of their row keys.
class PastChanges {
 public:
  PastChanges(ReadView& view, const TableHistory& history, uint64_t from, uint64_t to,
              std::string_view after = {}, std::size_t bytes_max = ChangedRows::kBytesMax);

  // As PastItems::next.
  Result<std::vector<PastChange>> next();

 private:
  Result<PastChange> read(const std::string& row_key, ChangedRows::Stamps stamps);

  ChangedRows changed_;
  std::string begin_;
};

}  // namespace stator
