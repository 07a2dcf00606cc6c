// SPDX-License-Identifier: Apache-2.0
// Catalog: the tables, change logs and job records of a store, in keyspace 0.
// docs/formats/catalog.md.
//
// Several processes: a change computes the new rows from those that its transaction reads. It
// commits only if the stored catalog has the version of the one in memory. Otherwise the catalog is
// loaded again and the change is repeated. Snapshots can be behind other processes until refresh().
// Thread safety: any thread; readers take a snapshot and never wait for changes.
// Blocking: methods that return a Result can wait for the store.
// Callbacks: run on the calling thread, with the catalog's lock held. Of the catalog's methods they
// can call only snapshot().
// Durability: a change is committed when its method returns.
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
  uint64_t version = 0;                                 // of the stored catalog
  std::map<std::string, TablePtr, std::less<>> tables;  // in the order of ListTables
  std::map<SpaceId, LogPtr> logs;  // includes logs of dropped tables with readable streams

  // Tables that are being restored or imported. Requests cannot use them yet.
  std::map<std::string, TablePtr, std::less<>> restoring;

  // Returns null if the table does not exist. `name` is a table name or a table ARN.
  const TablePtr* find(std::string_view name) const;
  // Returns the log of the table with this id, or null.
  LogPtr log_of(std::string_view table_id) const;
};

// Finds the table that an operation on items names. Errors: kResourceNotFound.
Result<TablePtr> find_table(const CatalogSnapshot& snapshot, std::string_view name);

struct TableVersions {
  TablePtr before;
  TablePtr after;
};

// A record (records.h) and its row key.
struct NamedRecord {
  std::string key;
  Item record;
};

// A change of a record within a transaction.
struct RecordChange {
  std::string key;
  FunctionRef<Result<void>(Item& record)> change;  // not called if the record is absent
};

// Allocates an unused keyspace.
using NewSpace = FunctionRef<SpaceId()>;

class Catalog {
 public:
  // Migrates the data to the current format and reads the catalog. Creates one in an empty store.
  // Starts a job that erases the rows of dropped tables.
  // Errors: also kCorruption if the store contains other data, a newer format or an unknown row.
  static Result<std::unique_ptr<Catalog>> open(TransactStore& store, JobRunner& jobs);

  using SnapshotPtr = std::shared_ptr<const CatalogSnapshot>;
  SnapshotPtr snapshot() const { return snapshot_.get(); }
  // Returns a snapshot with all changes that were committed before the call. On a shared store, it
  // reads the catalog's version, so it can block. Errors: those of refresh(), as DynamoDB's errors.
  Result<SnapshotPtr> newest_snapshot();
  const Hash128& secret() const { return secret_; }
  // Loads the changes of other processes. Waits for changes in progress. Unchanged tables keep
  // their TablePtr; new versions of known tables share the counters.
  // Errors: kUnavailable, from then on, if another process has raised the format of the data to one
  // that this version of Stator cannot read.
  Result<void> refresh();
  // Returns the message of this error, or null.
  std::shared_ptr<const std::string> refusal() const { return refusal_.get(); }

  // Creates a table. Errors: also kResourceInUse if the name exists.
  Result<TablePtr> create(const CreateTableRequest& settings, int64_t now_ms);
  // Changes a table's definition. `change` can replace settings, and can add indexes or a queue
  // with keyspace 0. Each of those gets a keyspace and is unfinished, and `fill` runs for it. By
  // then, writes with the previous version have been applied or will never be. Removed keyspaces
  // are erased when no reader of this process uses the previous version.
  // Errors: also kResourceNotFound, and those of `change`.
  using Change = FunctionRef<Result<void>(TableDefinition& definition)>;
  using Fill = std::move_only_function<void(const std::string& table, SpaceId space)>;
  // `lease`: that of the job that makes the change.
  Result<TableVersions> update(std::string_view name, int64_t now_ms, Change change, Fill fill = {},
                               JobLease* lease = nullptr);
  // Drops a table. No write to it commits afterwards. Its rows are erased when no reader of this
  // process uses them, its log when its last stream has expired. If `last_backup` returns a record,
  // the record is written too and keeps the rows.
  // Errors: also kResourceNotFound; kValidation for a protected table.
  using LastBackup = FunctionRef<std::optional<NamedRecord>(const Table& table)>;
  Result<TablePtr> drop(std::string_view name, int64_t now_ms, LastBackup last_backup);

  // Runs periodic log maintenance: begins new epochs, and erases expired changes and streams.
  // Failures are retried by the next call.
  void maintain_logs(int64_t now_ms);

  // Waits until a change in progress in this process is visible in snapshot(). The records of a
  // change are stored before its snapshot is published.
  void wait_for_change() { const std::lock_guard lock(changes_); }

  // Erases the rows of keyspaces that another process dropped and did not erase. A keyspace must
  // have been dropped at the previous call too, so that reads in progress can end. Does nothing on
  // a store of one process, whose startup erases them. Failures are retried by the next call.
  void erase_dropped();

  // Decides whether a job can begin. Runs again if another process has begun a job in the meantime.
  // Its error is returned.
  using Check = FunctionRef<Result<void>()>;
  static constexpr auto kNoCheck = [] { return Result<void>(); };

  // catalog_pins.cc: a record that names history (history_of()) pins it. While it is pinned, the
  // rows of the keyspace remain even if their table is dropped. The log remains from the commit
  // version on, and the table continues to record changes.
  // Writes the record of a new job, if `check` permits it. Errors: also kTrimmedDataAccess if the
  // log no longer has the named history; kThrottling if the source has changed.
  Result<void> begin_pinned(const std::string& record_key, const Item& record,
                            const PinRequest& pin, Check check = kNoCheck);
  // Changes the record of a job and its pins; does nothing if there is no record. `change` can run
  // more than once. `lease`: that of the job; it ends if the changed record says that the job has
  // ended.
  Result<void> change_pinned(const std::string& record_key,
                             FunctionRef<Result<void>(Item& record)> change,
                             JobLease* lease = nullptr);

  // catalog_records.cc: changes of the catalog that include a record (records.h).
  // Allocates a keyspace, and writes the record that names it.
  Result<SpaceId> take_space(const std::string& record_key, FunctionRef<Item(SpaceId)> record);
  // Replaces the keyspace in the record of a job, unless the lease is lost, and erases the rows of
  // the previous keyspace. Late writes of an earlier owner of the job go to the previous keyspace.
  Result<SpaceId> exchange_space(const std::string& record_key, JobLease& lease);
  // Erases a record and the rows of its keyspace; succeeds if there is no record. Returns false,
  // without a change, if a job reads the rows. `lease`: that of the job; it ends.
  Result<bool> release_space(const std::string& record_key, JobLease* lease = nullptr);
  // Allocates the keyspaces of a table to restore, and writes its definition into the record. `pin`
  // is required if the record names history. `import` is written in the same commit, if `check`
  // permits it.
  // Errors: also kTableAlreadyExists if the name exists; kTableInUse if a table with this name is
  // being restored; with `pin`, those of begin_pinned(), and kBackupNotFound if the backup has been
  // deleted.
  Result<TablePtr> begin_restore(TableDefinition definition, Item record,
                                 const PinRequest* pin = nullptr,
                                 std::optional<NamedRecord> import = {}, Check check = kNoCheck);
  // Makes the table visible and ends the lease. `import` changes the record of the import that
  // filled the table, in the same commit. Does nothing if the table is not being restored, because
  // an earlier call succeeded.
  Result<void> finish_restore(const std::string& name, JobLease* lease = nullptr,
                              const RecordChange* import = nullptr);
  // Deletes a table that is being restored, and erases its rows. Succeeds if there is none.
  Result<void> cancel_restore(const std::string& name, JobLease* lease = nullptr);

  // catalog_counters.cc
  // Adds the counts of this process to the catalog's rows, and reads those of other processes. On a
  // store of one process, only for a clean shutdown: no write may follow.
  void save_counters();
  // The same on a shared store; does nothing on a store of one process.
  void share_counters();

 private:
  Catalog(TransactStore& store, JobRunner& jobs) : store_(store), jobs_(jobs) { publish({}); }

  // catalog_load.cc
  Result<void> load();
  Result<void> catch_up();
  Result<void> check_format();
  Result<CatalogSnapshot> compile(StoredCatalog stored);
  Result<TablePtr> compile_table(TableDefinition definition, uint64_t version);
  Result<std::shared_ptr<Table>> make_table(TableDefinition definition, uint64_t version,
                                            const Table* previous) const;
  Result<bool> give_versions(const StoredCatalog& stored);

  // Runs `attempt`, which changes the stored catalog, until the catalog in memory is not behind.
  template <class Attempt>
  auto on_current(Attempt attempt) -> std::invoke_result_t<Attempt&>;
  void erase_later(const std::vector<SpaceId>& spaces);
  struct Written {
    TableDefinition definition;
    LogPtr log;  // null if it has not changed
  };
  Result<TablePtr> create_once(const CreateTableRequest& settings, int64_t now_ms);
  Result<TableVersions> update_once(std::string_view name, int64_t now_ms, Change change,
                                    Fill& fill, JobLease* lease);
  Result<TablePtr> drop_once(std::string_view name, int64_t now_ms, LastBackup last_backup);
  Result<Written> insert(const CreateTableRequest& settings, int64_t now_ms) const;
  Result<Written> replace(const Table& table, int64_t now_ms, Change change, JobLease* lease) const;
  struct Erased {
    std::vector<SpaceId> spaces;
    LogPtr log;  // null if there is none
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
  // The rows of a table's log; absent if it has no log.
  struct LogRows {
    std::optional<std::string> log = {};
    std::optional<std::string> pins = {};
  };
  // Adds the changes of the table's log that follow from a new definition to `batch`, completes
  // `after`, and returns the log if it has changed. `before` is null for a new table.
  Result<LogPtr> plan_log(const TableDefinition* before, TableDefinition& after, const LogRows& log,
                          NewSpace new_space, int64_t now_ms, Batch& batch) const;
  Result<LogPtr> end_log(const std::optional<std::string>& log, int64_t now_ms, Batch& batch) const;
  std::optional<SpaceId> log_of(const Table& table) const;
  int64_t stream_time(std::string_view table, int64_t now_ms) const;

  // catalog_log_maintenance.cc
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
  std::mutex changes_;          // held while this process changes or loads the catalog
  std::mutex saving_counters_;  // concurrent savings would add the same counts twice
  std::map<SpaceId, std::weak_ptr<const Table>> recording_;  // by log: the table that records there
  std::set<SpaceId> dropped_;  // at the last erase_dropped(); guarded by changes_
  AtomicSnapshot<CatalogSnapshot> snapshot_;
  AtomicSnapshot<std::string> refusal_;  // null unless the format has become unreadable
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
