// SPDX-License-Identifier: Apache-2.0
// Reads a table at an earlier point in time, and the changes between two points in time, from the
// current items and the change log.
//
// A point in time is a commit version of the log. The state at a commit version is the result of
// all commits before it, so it contains a transaction as a whole or not at all. The log must
// contain every change since then.
//
// Each call of a reader does a bounded part of the work and uses its own snapshots. So jobs can
// take turns, and no snapshot is kept.
//
// Thread safety: one thread at a time. Blocking: calls wait for the store. Memory: bounded.
// Lifetime: readers borrow the store. Errors: the store's; kCorruption. After an error, the same
// call can be repeated.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/catalog/table.h"
#include "engine/change_log/change_log.h"

namespace stator {

// The spaces of a table's items and changes, whether or not the table still exists.
struct TableHistory {
  KeyShape key;     // the key attributes, and the space with the items
  SpaceId log = 0;  // 0: none; the current items are read
  Hash128 secret = {};
};

// Translates a time into a commit version. Writes that were acknowledged by that time are before
// the commit version, writes that began later are not. If the clock was set back, the commit
// version is that of the first change with a later time.
class CommitVersionSearch {
 public:
  // The result is at most `limit`, which must be a safe position, so that nothing before it changes
  // during the search. The log must not be trimmed during the search.
  CommitVersionSearch(SpaceId log, int64_t time_ms, uint64_t limit)
      : log_(log), time_ms_(time_ms), first_later_(limit) {}

  // Reads at most kChangesAtOnce changes. Absent if the commit version is not found yet.
  Result<std::optional<uint64_t>> step(TransactStore& store);

  static constexpr std::size_t kChangesAtOnce = 16'384;
  static constexpr std::size_t kBytesAtOnce = 16UL << 20;

 private:
  Result<void> begin(ReadView& view);
  Result<std::optional<uint64_t>> step(ReadView& view);

  SpaceId log_;
  int64_t time_ms_;
  uint64_t first_later_;
  std::optional<uint64_t> from_ = {};  // the start of the epoch that contains the time
  uint64_t next_ = 0;                  // in log_partition_
  unsigned log_partition_ = 0;
  uint64_t behind_ = 0;  // the first commit version after all changes that were read
};
// The end of all logs: TransactStore::safe_position().
Result<uint64_t> log_end(TransactStore& store);
// Runs the whole search, up to log_end().
Result<uint64_t> commit_version_at(TransactStore& store, SpaceId log, int64_t time_ms);

// The changed items of a part of the space, by their row keys. The part is as large as the memory
// permits.
//
// From a safe position on, changes of different items can become visible out of order. So each pass
// over the log begins at the safe position from before the previous pass, and can read changes a
// second time.
class ChangedRows {
 public:
  struct CommitVersions {
    uint64_t first = 0;
    uint64_t last = 0;
    std::size_t bytes = 0;  // of the largest change
  };
  // The memory for keys: a sixteenth of the usable memory, 4 to 64 MB.
  static std::size_t default_bytes();

  ChangedRows(TransactStore& store, TableHistory history, uint64_t from, uint64_t to,
              std::size_t bytes_max)
      : store_(store), history_(std::move(history)), from_(from), to_(to), bytes_max_(bytes_max) {}

  enum class Load { kNone, kSome, kAll };
  // Reads a piece of the log for the part of the space that begins at the row key `begin`. Repeat
  // the call with the same `begin` until it returns kAll. kNone: no parts are left.
  Result<Load> load(const std::string& begin);
  bool is_loading() const { return is_loading_; }
  // Calls `look` with a snapshot of the store, and adds the changes in that snapshot to the loaded
  // part, from the row key `begin` on. False: more changes are left; call it again, which can use a
  // later snapshot. It can move end() closer to `begin`.
  Result<bool> catch_up(const std::string& begin, ViewBody look);
  const std::string& end() const { return end_; }  // of the part that is loaded or being loaded
  std::map<std::string, CommitVersions>& rows() { return rows_; }
  const TableHistory& history() const { return history_; }
  TransactStore& store() const { return store_; }

 private:
  Result<bool> collect(ReadView& view, uint64_t safe, const std::string& begin);
  void see(std::string key, const Change& change);

  TransactStore& store_;
  TableHistory history_;
  uint64_t from_;
  uint64_t to_;
  std::size_t bytes_max_;
  std::string end_;
  bool is_loading_ = false;
  unsigned log_partition_ = 0;         // of the part
  uint64_t read_below_ = 0;            // all changes of the part before this are known
  std::optional<uint64_t> next_ = {};  // where the pass in progress resumes
  uint64_t pass_safe_ = 0;             // the safe position when it began
  std::map<std::string, CommitVersions> rows_;
  std::size_t bytes_ = 0;
};

struct PastItem {
  std::string row_key;  // in the table's space
  EncodedItem item;
};

// The items before `commit_version`, in the order of their row keys. `commit_version` must not be
// above a safe position.
class PastItems {
 public:
  // Begins after the row key `after`, for example where an earlier reader ended.
  // Without a log, it returns the items of `state`, or the current items if `state` is null.
  PastItems(TransactStore& store, const TableHistory& history, uint64_t commit_version,
            std::string_view after = {}, std::size_t bytes_max = ChangedRows::default_bytes(),
            ReadView* state = nullptr);

  // Returns the next items, at most 256 and about a megabyte; an empty vector while it reads the
  // log. Absent at the end.
  Result<std::optional<std::vector<PastItem>>> next();

 private:
  // Items of the loaded part, from begin_ on.
  struct Chunk {
    std::vector<PastItem> items;
    bool all_read = false;  // no items are left
  };

  Result<void> read_chunk(ReadView& view);
  Result<std::vector<PastItem>> merged(Chunk current);

  ReadView* state_;
  ChangedRows changed_;
  std::string begin_;                // the first row key that is left
  std::optional<Chunk> chunk_ = {};  // items whose changes are still to be read
};

// The difference of one item between two points in time, regardless of the number of writes.
struct PastChange {
  std::string row_key;
  EncodedItem key;      // its key attributes
  int64_t time_ms = 0;  // of the last write
  std::optional<EncodedItem> before = {};
  std::optional<EncodedItem> after = {};  // both absent: it was created and deleted in between
};

// The items with changes in [from, to), in the order of their row keys. `to` must not be above a
// safe position.
class PastChanges {
 public:
  PastChanges(TransactStore& store, const TableHistory& history, uint64_t from, uint64_t to,
              std::string_view after = {}, std::size_t bytes_max = ChangedRows::default_bytes());

  // Like PastItems::next().
  Result<std::optional<std::vector<PastChange>>> next();

 private:
  ChangedRows changed_;
  std::string begin_;
};

}  // namespace stator
