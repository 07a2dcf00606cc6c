// SPDX-License-Identifier: Apache-2.0
// Records: the documents that administrative operations store, one per row of the catalog.
// docs/formats/catalog.md.
//
// Thread safety: any thread. Blocking: every method waits for the store.
// Durability: a change is committed when the call returns.
// Errors: the store's; kCorruption for rows that do not contain a document.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/job_lease.h"
#include "engine/catalog/table.h"
#include "storage/transact_store.h"

namespace stator {

// The byte after CatalogRow::kRecord in the key. The comments name the rest of the key, then the
// content.
enum class RecordKind : char {
  kSettings = 's',  // space of a table: settings outside its definition; deleted with the table
  kBackup = 'b',    // id of a backup: its source and its space
  kRestore = 'r',   // name of a table that is being restored: its definition, and the progress
  kImport = 'i',    // id of an import: the request, and the progress
  kExport = 'e',    // id of an export: the same
  kBulk = 'u',      // id of a bulk put operation: the same
  kOutput = 'o',    // id of a bulk put operation, kind, number: lines that its report still lacks
};

std::string record_key(RecordKind kind, std::string_view name);
std::string settings_key(SpaceId table);
// Whether the record is of a job that has not ended: a backup, restore, import, export or bulk put.
bool is_open_job(const Item& record);
// Returns the members that records of this kind can have, sorted; empty for an unknown kind. A
// change of them requires a new format; see kCatalogFormat.
std::span<const std::string_view> record_members(RecordKind kind);
// Whether `rest`, the key after CatalogRow::kRecord, and `value` are those of a record without
// unknown members.
bool is_record(std::string_view rest, std::string_view value);

// Decodes the record of a row that a transaction has read; empty if the row is absent. Errors:
// kCorruption.
Result<Item> record_in(const std::optional<std::string>& row);
// Writes a record of known members; erases the row if it is empty.
void put_record(Batch& batch, const std::string& key, const Item& record);

class Records {
 public:
  explicit Records(TransactStore& store) : store_(store) {}
  // Changes fail unless the lease is held. They delete the lease if the job has ended.
  explicit Records(JobLease& lease) : store_(lease.store()), lease_(&lease) {}

  // Returns a record; empty if there is none.
  Result<Item> get(const std::string& key) const;

  // Returns the records of a kind by their names, in order.
  Result<std::map<std::string, Item>> list(RecordKind kind) const;

  // Reads a record (empty if there is none), calls `change`, and commits the result; an empty
  // record is erased. `change` runs again after a conflict; its error is returned.
  using Change = FunctionRef<Result<void>(Item& record)>;
  Result<void> change(const std::string& key, Change change) const;
  // Writes a record, regardless of the stored one; an empty record is erased.
  Result<void> put(const std::string& key, const Item& record) const;
  // Changes the settings of a table. Errors: also kResourceNotFound if the table has been dropped.
  Result<void> change_settings(const Table& table, Change change) const;

 private:
  Result<void> change_guarded(const std::string& key, const std::string& guard,
                              Change change) const;
  TransactStore& store_;
  JobLease* lease_ = nullptr;  // null: changes need no lease
};

}  // namespace stator
