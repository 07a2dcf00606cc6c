// SPDX-License-Identifier: Apache-2.0
// Records: what administrative operations keep, one document a row of the catalog.
// docs/formats/catalog.md.
//
// Thread safety: as the store. Durability: a change has been committed when the call returns.
// Errors: the store's; kCorruption for rows that hold no document.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/job_lease.h"
#include "engine/catalog/table.h"
#include "storage/transact_store.h"

namespace stator {

// What follows the letter of the row.
enum class RecordKind : char {
  kSettings = 's',  // space id of a table: what was set beside its definition. Goes with the table.
  kBackup = 'b',    // id of a backup: what it is a copy of, and its space
  kRestore = 'r',   // name of a table that is being restored: its definition, and how far it is
  kImport = 'i',    // id of an import: what was asked for, and how far it is
  kExport = 'e',    // id of an export: the same
  kBulk = 'u',      // id of a bulk put operation: the same
  kOutput = 'o',    // id of a bulk put operation, kind, number: what its report still lacks
};

std::string record_key(RecordKind kind, std::string_view name);
std::string settings_key(SpaceId table);
// Whether the record is of a job that has not ended: a backup, restore, import, export or bulk put.
bool is_open_job(const Item& record);
// Whether what follows the letter is a record's key, and `value` a record.
bool is_record(std::string_view rest, std::string_view value);

// A record in a transaction: empty if the row is absent. kCorruption.
Result<Item> record_in(const std::optional<std::string>& row);
// Erases the row of an empty record.
void put_record(Batch& batch, const std::string& key, const Item& record);

class Records {
 public:
  explicit Records(TransactStore& store) : store_(store) {}
  // Changes fail unless the lease is held, and erase it if the record no longer is an open job.
  explicit Records(JobLease& lease) : store_(lease.store()), lease_(&lease) {}

  // Empty where there is none.
  Result<Item> get(const std::string& key) const;

  // Those of a kind by their names, in order.
  Result<std::map<std::string, Item>> list(RecordKind kind) const;

  // Reads a record, lets `change` alter it (an empty one is erased, or stays absent), and commits.
  // `change` runs again where somebody else came between; what it fails with is returned.
  using Change = FunctionRef<Result<void>(Item& record)>;
  Result<void> change(const std::string& key, Change change) const;
  // Whatever was there; an empty record is erased.
  Result<void> put(const std::string& key, const Item& record) const;
  // The settings of a table that is still there; kResourceNotFound otherwise.
  Result<void> change_settings(const Table& table, Change change) const;

 private:
  Result<void> change_guarded(const std::string& key, const std::string& guard,
                              Change change) const;
  TransactStore& store_;
  JobLease* lease_ = nullptr;  // null: anybody may make the change
};

}  // namespace stator
