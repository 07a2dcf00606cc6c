// SPDX-License-Identifier: Apache-2.0
// A table as it was: its items at an earlier moment, and what changed between two, from the items
// of now and the change log.
//
// A moment is a commit version of the log. The state at a commit version is what all commits before
// it made, so that transactions are in it whole or not at all. The log must hold every change since
// then.
//
// Each call of a reader does a bounded part of the work in states of the store of its own, so that
// jobs can take turns and no state is kept.
//
// Thread safety: one thread at a time. Memory: bounded, whatever has changed.
// Lifetime: readers borrow the store. Errors: the store's; kCorruption. After an error the same
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

// Where a table's items and changes are: what a reader needs to know, be the table there or not.
struct TableHistory {
  KeyShape key;     // its space has the items
  SpaceId log = 0;  // 0: nothing has changed
  Hash128 secret = {};
};

// Finds the commit version behind all that had been written by a time: a write acknowledged until
// then is before it, one begun later is not. If the clock was set back, the first later change ends
// it.
class CommitVersionSearch {
 public:
  // The answer is `limit` at most, which must be a safe position: nothing before it changes while
  // the log is searched. The log must keep what it has.
  CommitVersionSearch(SpaceId log, int64_t time_ms, uint64_t limit)
      : log_(log), time_ms_(time_ms), first_later_(limit) {}

  // Reads at most kChangesAtOnce changes; absent: not found yet.
  Result<std::optional<uint64_t>> step(TransactStore& store);

  static constexpr std::size_t kChangesAtOnce = 16'384;
  static constexpr std::size_t kBytesAtOnce = 16UL << 20;

 private:
  Result<void> begin(ReadView& view);
  Result<std::optional<uint64_t>> step(ReadView& view);

  SpaceId log_;
  int64_t time_ms_;
  uint64_t first_later_;
  std::optional<uint64_t> from_ = {};  // the start of the log segment that holds the time
  uint64_t next_ = 0;                  // in log_partition_
  unsigned log_partition_ = 0;
  uint64_t behind_ = 0;  // all that was seen
};
// The end of every log: TransactStore::safe_position().
Result<uint64_t> log_end(TransactStore& store);
// The whole search, up to log_end().
Result<uint64_t> commit_version_at(TransactStore& store, SpaceId log, int64_t time_ms);

// The items whose changes are to be looked at, by their row keys. Of a range that has too many for
// the memory it takes the beginning.
//
// Changes of different items can appear out of order from a safe position on. Each pass over the
// log therefore begins at the safe position from before the pass before it, and can see changes
// again.
class ChangedRows {
 public:
  struct CommitVersions {
    uint64_t first = 0;
    uint64_t last = 0;
  };
  static constexpr std::size_t kBytesMax = 64UL << 20;

  ChangedRows(TransactStore& store, TableHistory history, uint64_t from, uint64_t to,
              std::size_t bytes_max)
      : store_(store), history_(std::move(history)), from_(from), to_(to), bytes_max_(bytes_max) {}

  enum class Load { kNone, kSome, kAll };
  // Reads some of the log for the part of the space that begins with the row key `begin`, which
  // stays the same until the answer is kAll. kNone: there are no more parts.
  Result<Load> load(const std::string& begin);
  bool is_loading() const { return is_loading_; }
  // Calls `look` with a state of the store and adds the changes of the loaded part that it has,
  // from the row key `begin` on. False: call it again for the rest of them, which can be read in a
  // later state. end() can come nearer.
  Result<bool> catch_up(const std::string& begin, ViewBody look);
  const std::string& end() const { return end_; }  // of the part that is loaded, or being loaded
  std::map<std::string, CommitVersions>& rows() { return rows_; }
  const TableHistory& history() const { return history_; }
  Result<Change> read(const std::string& row_key, uint64_t commit_version, std::string& value);

 private:
  Result<bool> collect(ReadView& view, uint64_t safe, const std::string& begin);
  void see(std::string key, uint64_t commit_version);

  TransactStore& store_;
  TableHistory history_;
  uint64_t from_;
  uint64_t to_;
  std::size_t bytes_max_;
  std::string end_;
  bool is_loading_ = false;
  unsigned log_partition_ = 0;         // of the part
  uint64_t read_below_ = 0;            // every change of the part before it is known
  std::optional<uint64_t> next_ = {};  // where the pass under way resumes
  uint64_t pass_safe_ = 0;             // the safe position when it began
  std::map<std::string, CommitVersions> rows_;
  std::size_t bytes_ = 0;
};

struct PastItem {
  std::string row_key;  // in the table's space
  EncodedItem item;
};

// The items as they were before `commit_version`, in the order of their row keys. It must not be
// above a safe position.
class PastItems {
 public:
  // Begins behind the row key `after`, with which an earlier reader may have ended.
  // Without a log: the items of `state`. If that is null, each is as it is when it is read.
  PastItems(TransactStore& store, const TableHistory& history, uint64_t commit_version,
            std::string_view after = {}, std::size_t bytes_max = ChangedRows::kBytesMax,
            ReadView* state = nullptr);

  // The next of them, at most 256 and about a megabyte, or none because the log is still being
  // read. Absent: that was all.
  Result<std::optional<std::vector<PastItem>>> next();

 private:
  // Items of the loaded part, from begin_ on.
  struct Chunk {
    std::vector<PastItem> items;
    bool all_read = false;  // there are no more
  };

  Result<void> read_chunk(ReadView& view);
  Result<std::vector<PastItem>> merged(Chunk current);

  ReadView* state_;
  ChangedRows changed_;
  std::string begin_;                // of what is still to be read
  std::optional<Chunk> chunk_ = {};  // read, and waiting for its changes
};

// What changed of one item between two moments, however often it was written there.
struct PastChange {
  std::string row_key;
  EncodedItem key;      // its key attributes
  int64_t time_ms = 0;  // of the last write
  std::optional<EncodedItem> before = {};
  std::optional<EncodedItem> after = {};  // absent in both: it came and went
};

// The items written from commit version `from` on and before `to`, in the order of their row keys.
// `to` must not be above a safe position.
class PastChanges {
 public:
  PastChanges(TransactStore& store, const TableHistory& history, uint64_t from, uint64_t to,
              std::string_view after = {}, std::size_t bytes_max = ChangedRows::kBytesMax);

  // As PastItems::next.
  Result<std::optional<std::vector<PastChange>>> next();

 private:
  Result<PastChange> read(const std::string& row_key, ChangedRows::CommitVersions commit_versions);

  ChangedRows changed_;
  std::string begin_;
};

}  // namespace stator
