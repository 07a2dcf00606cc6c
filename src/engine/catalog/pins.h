// SPDX-License-Identifier: Apache-2.0
// Pins: the history that jobs still need of a space or a change log, and how far the log is
// trimmed.
//
// The catalog has one row for each space that is pinned or was trimmed. A job's pins are written
// and erased in the transactions that begin and end the job in its record. So they exist as long as
// the job, regardless of the process that runs it. A trim commits its new limit before it erases
// anything. Pins and trims read and write the same row, so neither can miss the other.
// docs/formats/catalog.md, docs/decisions/0029-pins-of-history.md.
// Blocking: only RecordPins::of() waits for the store.
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

// The data that a job reads: the rows of a space, and a log from a commit version on.
struct PinnedHistory {
  SpaceId space = 0;
  SpaceId log = 0;              // 0: none; the rows are those of a backup
  uint64_t commit_version = 0;  // 0: everything that the log had when it was pinned

  bool operator==(const PinnedHistory&) const = default;
};
// Returns the history that a record names in its members From, Log and Stamp, or From and Backup;
// absent if it names none.
std::optional<PinnedHistory> history_of(const Item& record);

// The pins of one space.
struct Pins {
  uint64_t given_up_before = 0;  // of a log: changes before this commit version can be gone
  int64_t given_up_ms = 0;       // the time of the boundary there
  // By record (pin_name()): the first commit version of the log that the record needs.
  std::map<std::string, uint64_t, std::less<>> records = {};

  bool is_pinned() const { return !records.empty(); }
  uint64_t oldest() const;  // UINT64_MAX if the space is not pinned
};
std::string pins_key(SpaceId space);
// Returns no pins for an absent row. Errors: kCorruption.
Result<Pins> decode_pins(const std::optional<std::string>& row);
void put_pins(Batch& batch, SpaceId space, const Pins& pins);

// The kind and name in a record's key.
std::string_view pin_name(std::string_view record_key);

// How a new job pins the history that its record names.
struct PinRequest {
  // The source table before the commit versions were chosen; null for a backup.
  const Table* source = nullptr;
  int64_t oldest_ms = 0;        // the job reads from this time on; unused with a commit version
  std::string backup_key = {};  // of the backup's record; empty for a table
};

// The pins of a record's history, in the transaction that changes the record. The transaction must
// read keys(); the other methods take the rows of these keys.
class RecordPins {
 public:
  // Without a history there are no keys, and the methods do nothing.
  RecordPins(std::string_view record_key, const std::optional<PinnedHistory>& history)
      : name_(pin_name(record_key)), history_(history) {}
  // For the stored record; without a history if there is none. Errors: those of reading the record.
  static Result<RecordPins> of(TransactStore& store, const std::string& record_key);

  const std::optional<PinnedHistory>& history() const { return history_; }
  std::vector<std::string> keys() const;
  bool has_keys_of(const std::optional<PinnedHistory>& history) const;
  // Adds the pins. Errors: kTrimmedDataAccess if a part of the history is already trimmed.
  Result<void> begin(GuardedRows rows, int64_t oldest_ms, Batch& batch) const;
  // Replaces the pins by those of the record's new history; erases them if it has none.
  Result<void> change(GuardedRows rows, const std::optional<PinnedHistory>& now,
                      Batch& batch) const;

 private:
  std::string name_;
  std::optional<PinnedHistory> history_;
};

}  // namespace stator
