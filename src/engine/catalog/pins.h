// SPDX-License-Identifier: Apache-2.0
// Pins: what jobs still need of a space or a change log, and how far the log has been given up.
//
// A row of the catalog for each space that is pinned or was trimmed. A job's pins are written and
// erased in the transactions that begin and end the job in its record, so they live as long as the
// job, whichever process runs it. A trim commits how far it gives up a log before it erases
// anything. Both read and write one row, so neither misses the other. docs/formats/catalog.md,
// docs/decisions/0029-pins-of-history.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/table.h"
#include "storage/transact_store.h"

namespace stator {

// What a job reads: the rows of a space, and a log from a commit version on.
struct PinnedHistory {
  SpaceId space = 0;
  SpaceId log = 0;              // 0: none, the rows are those of a backup
  uint64_t commit_version = 0;  // 0: all that was left when it was pinned

  bool operator==(const PinnedHistory&) const = default;
};
// Absent if the record names none: in its members From, Log and Stamp, or in From and Backup.
std::optional<PinnedHistory> history_of(const Item& record);

// The pins of one space.
struct Pins {
  uint64_t given_up_before = 0;  // of a log: what is before this commit version may be gone
  int64_t given_up_ms = 0;       // the time of the boundary there
  // By the record, see pin_name(): the commit version from which on a log stays.
  std::map<std::string, uint64_t, std::less<>> records = {};

  bool is_pinned() const { return !records.empty(); }
  uint64_t oldest() const;  // UINT64_MAX if the space is not pinned
};
std::string pins_key(SpaceId space);
// kCorruption. An absent row has no pins.
Result<Pins> decode_pins(const std::optional<std::string>& row);
void put_pins(Batch& batch, SpaceId space, const Pins& pins);

// Of a record's key: its kind and name.
std::string_view pin_name(std::string_view record_key);

// What a new job must know to pin the history that its record names.
struct PinRequest {
  // As it was before the commit versions were chosen; null for a backup.
  const Table* source = nullptr;
  int64_t oldest_ms = 0;  // the time from which on the job reads; unused with a commit version
  std::string backup_key = {};  // of the backup's record; empty for a table
};

// The pins of a record's history, in the transaction that changes the record. It reads keys(); the
// other methods take the rows of them.
class RecordPins {
 public:
  // Without a history there are no keys, and nothing is done.
  RecordPins(std::string_view record_key, const std::optional<PinnedHistory>& history)
      : name_(pin_name(record_key)), history_(history) {}
  // Of the record as it is stored; without a history if it is absent. The record's errors.
  static Result<RecordPins> of(TransactStore& store, const std::string& record_key);

  const std::optional<PinnedHistory>& history() const { return history_; }
  std::vector<std::string> keys() const;
  bool has_keys_of(const std::optional<PinnedHistory>& history) const;
  // kTrimmedDataAccess if the log no longer has all that the history names.
  Result<void> begin(GuardedRows rows, int64_t oldest_ms, Batch& batch) const;
  // Moves the pins to the history that the record has now; erases them if it has none.
  Result<void> change(GuardedRows rows, const std::optional<PinnedHistory>& now,
                      Batch& batch) const;

 private:
  std::string name_;
  std::optional<PinnedHistory> history_;
};

}  // namespace stator
