// SPDX-License-Identifier: Apache-2.0
// Catalog: which tables there are, kept in the store's space 0. docs/formats/catalog.md.
//
// Several processes: each change derives the new rows from those that its transaction reads, and
// commits only if the catalog's version is the one that memory was loaded from. Otherwise memory is
// loaded again, and the change is decided again. Snapshots can be behind other processes until
// refresh().
// Thread safety: every method may be called from any thread at once; reads take a snapshot and
// never wait for changes.
// Durability: a change has been committed when the method that makes it returns.
// Errors: the store's; kThrottling if other processes keep changing the catalog.
// Lifetime: the store and the jobs must outlive the catalog and every TablePtr.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/atomic_snapshot.h"
#include "base/function_ref.h"
#include "engine/background/job_runner.h"
#include "engine/catalog/job_lease.h"
#include "engine/catalog/pins.h"
#include "engine/catalog/stored_catalog.h"
#include "engine/catalog/table.h"
#include "engine/change_log/change_log.h"
#include "engine/errors/messages.h"
#include "storage/transact_store.h"

namespace stator {

struct CatalogSnapshot {
  uint64_t version = 0;                                 // of the rows that this is
  std::map<std::string, TablePtr, std::less<>> tables;  // in the order of ListTables
  std::map<SpaceId, LogPtr> logs;  // those of tables that are gone too, while a stream is readable

  // Those that are being restored: nobody reads or writes there yet.
  std::map<std::string, TablePtr, std::less<>> restoring;

  // Null where there is none. `name` is a table name or a table ARN.
  const TablePtr* find(std::string_view name) const;
  // The log of a table's incarnation; null where there is none.
  LogPtr log_of(std::string_view table_id) const;
};

// The table that an operation on data names; kResourceNotFound.
Result<TablePtr> find_table(const CatalogSnapshot& snapshot, std::string_view name);

struct TableVersions {
  TablePtr before;
  TablePtr after;
};

// A row for records.h.
struct NamedRecord {
  std::string key;
  Item record;
};

// What a transaction makes of a record.
struct RecordChange {
  std::string key;
  FunctionRef<Result<void>(Item& record)> change;  // nothing if the record is absent
};

// Gives out a space that was never used.
using NewSpace = FunctionRef<SpaceId()>;

class Catalog {
 public:
  // Migrates the data to the current format, reads the catalog, writes one into an empty store, and
  // has `jobs` erase what dropped tables left behind. kCorruption if the store holds something else
  // or another format, or a row is unknown.
  static Result<std::unique_ptr<Catalog>> open(TransactStore& store, JobRunner& jobs);

  using SnapshotPtr = std::shared_ptr<const CatalogSnapshot>;
  SnapshotPtr snapshot() const { return snapshot_.get(); }
  // Everything that was committed before the call. If the store is shared, this reads the catalog's
  // version: it can block. Errors: those of refresh(), as the service has them.
  Result<SnapshotPtr> newest_snapshot();
  const Hash128& secret() const { return secret_; }
  // Loads what other processes have changed by now. Waits for changes under way. Tables that stay
  // as they are keep their TablePtr; new versions of known ones share their counters.
  Result<void> refresh();

  // kResourceInUse where the name is taken.
  Result<TablePtr> create(const CreateTableRequest& settings, int64_t now_ms);
  // kResourceNotFound, or what `change` returns. It may give a table's definition new settings, and
  // a space of 0 to what has none yet: that gets an id and is unfinished, and `fill` runs for it.
  // Writes by the version before have been applied then, or never will be. Once nobody in this
  // process reads by that version, the rows of spaces that the definition no longer has go.
  using Change = FunctionRef<Result<void>(TableDefinition& definition)>;
  using Fill = std::move_only_function<void(const std::string& table, SpaceId space)>;
  // A job gives its lease.
  Result<TableVersions> update(std::string_view name, int64_t now_ms, Change change, Fill fill = {},
                               JobLease* lease = nullptr);
  // kResourceNotFound; kValidation for a protected table. No write to it commits afterwards. Its
  // rows go once nobody in this process reads them, the log
  // when its streams have been unreadable for long enough. The record that `last_backup` makes is
  // written with it: the items stay, and are its.
  using LastBackup = FunctionRef<std::optional<NamedRecord>(const Table& table)>;
  Result<TablePtr> drop(std::string_view name, int64_t now_ms, LastBackup last_backup);

  // Does what time asks for: begins new epochs of logs, and erases what nobody wants any more.
  // What fails is tried again with the next call.
  void maintain_logs(int64_t now_ms);

  // Returns when the change that is under way in this process, if any, can be seen: its records are
  // stored before its snapshot is published.
  void wait_for_change() { const std::lock_guard lock(changes_); }

  // Erases the rows of spaces that another process dropped and did not erase. Those are the spaces
  // that were dropped at this call and at the one before, so that reads under way come to an end.
  // A store of one process has none: its start erases them. The next call retries what fails.
  void erase_dropped();

  // Runs before a job begins, and again if another process has begun one since. What it fails with
  // is returned.
  using Check = FunctionRef<Result<void>()>;
  static constexpr auto kNoCheck = [] { return Result<void>(); };

  // catalog_pins.cc: records that name history (see history_of) pin it. The rows of the space stay
  // though their table is dropped, the log stays from the commit version on, and the table that
  // records there continues to, until no record pins it any more.
  // Writes the record of a new job, if `check` permits it. kTrimmedDataAccess if the log no longer
  // has what the record names; kThrottling if the source has changed.
  Result<void> begin_pinned(const std::string& record_key, const Item& record,
                            const PinRequest& pin, Check check = kNoCheck);
  // Changes the record of a job, and its pins with it; nothing if there is none. `change` can run
  // more than once. The job gives its lease, which ends when the job does.
  Result<void> change_pinned(const std::string& record_key,
                             FunctionRef<Result<void>(Item& record)> change,
                             JobLease* lease = nullptr);

  // catalog_records.cc: changes that go with a record, see records.h.
  // Gives out a space, and writes the record that names it.
  Result<SpaceId> take_space(const std::string& record_key, FunctionRef<Item(SpaceId)> record);
  // Gives the record of a job another space, unless the lease is lost, and erases the rows of the
  // one before: late writes of an earlier owner of the job go there.
  Result<SpaceId> exchange_space(const std::string& record_key, JobLease& lease);
  // Erases a record, and the rows of its space. False if a job reads them: then nothing is changed.
  // No error if there is no record. A job gives its lease, which ends.
  Result<bool> release_space(const std::string& record_key, JobLease* lease = nullptr);
  // Gives spaces to a table that is to be restored, and keeps it in the record.
  // kTableAlreadyExists where the name is taken, kTableInUse where it is so by another restoration.
  // `pin` is given if the record names history; then also begin_pinned()'s errors, and
  // kBackupNotFound if the backup has been deleted. `import` is written with it, if `check` permits
  // it.
  Result<TablePtr> begin_restore(TableDefinition definition, Item record,
                                 const PinRequest* pin = nullptr,
                                 std::optional<NamedRecord> import = {}, Check check = kNoCheck);
  // Makes the table visible, and ends the lease. `import` is the end of the import that filled the
  // table. Does nothing if the table is not being restored: an earlier call has done both.
  Result<void> finish_restore(const std::string& name, JobLease* lease = nullptr,
                              const RecordChange* import = nullptr);
  // Forgets a table that is being restored, and erases its rows. No error if there is none.
  Result<void> cancel_restore(const std::string& name, JobLease* lease = nullptr);

  // catalog_counters.cc
  // Adds what this process has counted to the catalog's rows, and takes over what others added.
  // On a store of one process only before a clean stop: then nobody may write afterwards.
  void save_counters();
  // The same if several processes share the store; nothing otherwise.
  void share_counters();

 private:
  Catalog(TransactStore& store, JobRunner& jobs) : store_(store), jobs_(jobs) { publish({}); }

  // catalog_load.cc
  Result<void> load();
  Result<void> catch_up();
  Result<CatalogSnapshot> compile(StoredCatalog stored);
  Result<TablePtr> compile_table(TableDefinition definition, uint64_t version);
  Result<std::shared_ptr<Table>> make_table(TableDefinition definition, uint64_t version,
                                            const Table* previous) const;
  Result<bool> give_versions(const StoredCatalog& stored);

  // Runs `attempt`, which changes the stored catalog, until memory was not behind it.
  template <class Attempt>
  auto on_current(Attempt attempt) -> std::invoke_result_t<Attempt&>;
  void erase_later(const std::vector<SpaceId>& spaces);
  struct Written {
    TableDefinition definition;
    LogPtr log;  // null where there is no other than before
  };
  Result<TablePtr> create_once(const CreateTableRequest& settings, int64_t now_ms);
  Result<TableVersions> update_once(std::string_view name, int64_t now_ms, Change change,
                                    Fill& fill, JobLease* lease);
  Result<TablePtr> drop_once(std::string_view name, int64_t now_ms, LastBackup last_backup);
  Result<Written> insert(const CreateTableRequest& settings, int64_t now_ms) const;
  Result<Written> replace(const Table& table, int64_t now_ms, Change change, JobLease* lease) const;
  struct Erased {
    std::vector<SpaceId> spaces;
    LogPtr log;  // null where there is none
  };
  Result<Erased> erase(const Table& table, LastBackup last_backup, int64_t now_ms) const;
  Result<TablePtr> begin_restore_once(const TableDefinition& definition, const Item& record,
                                      const PinRequest* pin,
                                      const std::optional<NamedRecord>& import, Check check);
  Result<void> finish_restore_once(const std::string& name, JobLease* lease,
                                   const RecordChange* import);
  Result<void> cancel_restore_once(const std::string& name, JobLease* lease);
  void erase_backfill(SpaceId space, Batch& batch) const;
  void erase_later(SpaceId space);
  Result<void> erase_rows(SpaceId space) const;  // unless it is pinned
  void publish(CatalogSnapshot next);
  void publish_change(CatalogSnapshot next);  // after commit_catalog()
  void note_recording(const TablePtr& table);

  // catalog_logs.cc
  // The rows of a table's log; absent where there is none.
  struct LogRows {
    std::optional<std::string> log = {};
    std::optional<std::string> pins = {};
  };
  // What a change of a definition means for the table's log: puts it into `batch`, completes
  // `after`, and returns the log where there is another than before. `before` is null for a table
  // that is new.
  Result<LogPtr> plan_log(const TableDefinition* before, TableDefinition& after, const LogRows& log,
                          NewSpace new_space, int64_t now_ms, Batch& batch) const;
  Result<LogPtr> end_log(const std::optional<std::string>& log, int64_t now_ms, Batch& batch) const;
  std::optional<SpaceId> log_of(const Table& table) const;
  int64_t stream_time(std::string_view table, int64_t now_ms) const;
  Result<void> stop_unwanted_recording(SpaceId space, int64_t now_ms);
  Result<void> maintain_log(SpaceId space, int64_t now_ms);
  Result<void> begin_epoch(SpaceId log, int64_t now_ms);
  Result<void> forget_streams(SpaceId log, int64_t now_ms);
  Result<void> trim(SpaceId log, const std::vector<ShardBoundary>& boundaries,
                    int64_t now_ms) const;

  // catalog_pins.cc
  Result<bool> is_pinned(SpaceId space) const;
  Result<void> check_source(const Table& source) const;
  void erase_if_dropped(SpaceId space);

  // catalog_counters.cc
  static void load_counters(const Table& table, const std::map<SpaceId, std::string>& rows);
  Result<void> take_counters(const std::map<SpaceId, std::string>& rows);
  void save_counters(std::span<const TablePtr> tables);
  void begin_counters(const std::vector<SpaceId>& spaces, Batch& batch) const;
  void counters_begun(const Table& table, const std::vector<SpaceId>& spaces) const;  // committed

  TransactStore& store_;
  const bool is_shared_ = store_.capabilities().several_processes;
  JobRunner& jobs_;
  Hash128 secret_ = {};
  std::shared_ptr<const SchemaRow> version_row_;
  // Held by whatever changes or loads the catalog: for one of them at a time in this process.
  std::mutex changes_;
  std::map<SpaceId, std::weak_ptr<const Table>> recording_;  // by log: the table that writes there
  std::set<SpaceId> dropped_;  // at the last erase_dropped(); guarded by changes_
  AtomicSnapshot<CatalogSnapshot> snapshot_;
};

template <class Attempt>
auto Catalog::on_current(Attempt attempt) -> std::invoke_result_t<Attempt&> {
  constexpr int kAttemptsMax = 20;
  const std::lock_guard lock(changes_);
  for (int i = 0; i < kAttemptsMax; ++i) {
    STATOR_RETURN_IF_ERROR(catch_up());
    auto result = attempt();
    if (result || result.error().code != Code::kConflict) return result;
  }
  return fail(Code::kThrottling, messages::kTooBusy);
}

}  // namespace stator
