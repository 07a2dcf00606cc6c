// SPDX-License-Identifier: Apache-2.0
#include "engine/jobs/backup_job.h"

#include <algorithm>

#include "api/admin/document.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/records.h"
#include "engine/core/arns.h"
#include "engine/core/leased_job.h"
#include "engine/jobs/table_copy.h"

namespace stator {
namespace {

// Returns the table that the record backs up, or null if the table was dropped.
TablePtr backed_up_table(const JobEngine& engine, const Item& record) {
  const auto definition = table_in(record);
  if (!definition) return nullptr;
  const auto snapshot = engine.catalog->snapshot();
  const TablePtr* table = snapshot->find(definition->settings.table);
  if (table == nullptr || (*table)->definition().id != definition->id) return nullptr;
  return *table;
}

// The initial state of a copy.
struct CopyStart {
  TablePtr table;
  SpaceId to = 0;  // an unused space
  std::unique_ptr<ReadView> state;
};

class BackupJob final : public Job {
 public:
  // Without `start`, the copy begins again, in another space.
  BackupJob(JobEngine& engine, JobLease& lease, std::string key, std::optional<CopyStart> start)
      : engine_(engine), lease_(lease), key_(std::move(key)) {
    if (start) begin(std::move(*start));
  }

  Result<JobState> step() override {
    if (!copied_) {
      if (!copy_) STATOR_RETURN_IF_ERROR(begin_again());
      if (!table_) return end_without_table();
      STATOR_ASSIGN_OR_RETURN(const JobState state, copy_->step([](Batch&, const std::string&) {}));
      if (state == JobState::kMore) return copy_->items() > reached_ ? state : JobState::kRetrying;
      copied_ = CopiedRows{.items = copy_->items(), .bytes = copy_->bytes()};
      copy_.reset();
    }
    STATOR_ASSIGN_OR_RETURN(const bool is_whole, finish());
    return is_whole ? JobState::kDone : end_without_table();
  }

  void rest() override {
    if (copy_) reached_ = std::max(reached_, copy_->items());
    copy_.reset();
  }

  Result<void> abandon(const Error&) override {
    copy_.reset();
    STATOR_RETURN_IF_ERROR(engine_.catalog->release_space(key_, &lease_));
    return {};
  }

 private:
  struct CopiedRows {
    int64_t items = 0;
    int64_t bytes = 0;
  };

  Result<JobState> end_without_table() {
    STATOR_RETURN_IF_ERROR(engine_.catalog->release_space(key_, &lease_));
    return JobState::kDone;
  }

  // Leaves table_ null if the table was dropped.
  Result<void> begin_again() {
    if (!table_) {
      STATOR_RETURN_IF_ERROR(engine_.catalog->refresh());
      STATOR_ASSIGN_OR_RETURN(const Item record, Records(*engine_.store).get(key_));
      table_ = backed_up_table(engine_, record);
      if (!table_) return {};
    }
    STATOR_ASSIGN_OR_RETURN(const SpaceId to, engine_.catalog->exchange_space(key_, lease_));
    STATOR_ASSIGN_OR_RETURN(auto state, state_of_now(engine_));
    begin({.table = table_, .to = to, .state = std::move(state)});
    return {};
  }

  void begin(CopyStart start) {
    table_ = std::move(start.table);
    TableHistory source;
    source.key.space = table_->definition().space;
    copy_.emplace(lease_, CopyPlan{.from = std::move(source), .to = start.to},
                  std::move(start.state));
  }

  // Returns false if another process has dropped the table: it could have erased rows that were not
  // copied yet. If this process drops it, table_ keeps the rows.
  Result<bool> finish() {
    const std::vector<std::string> keys = {key_,
                                           catalog_row_key(CatalogRow::kTable, table_->name())};
    return lease_.commit(keys, [&](GuardedRows rows, Batch& batch) -> Result<bool> {
      if (!rows[0]) return true;
      if (engine_.is_shared) {
        const auto now = rows[1] ? decode_table(*rows[1])
                                 : Result<TableDefinition>(fail(Code::kResourceNotFound, ""));
        if (!now || now->id != table_->definition().id) return false;
      }
      STATOR_RETURN_IF_ERROR(validate_item(*rows[0]));
      Item record = decode_item(ItemView(*rows[0]));
      record["Status"] = kBackupAvailable;
      record["Items"] = copied_->items;
      record["Bytes"] = copied_->bytes;
      put_record(batch, key_, record);
      lease_.end_in(batch);
      return true;
    });
  }

  JobEngine& engine_;
  JobLease& lease_;
  std::string key_;
  TablePtr table_;  // keeps its rows if this process drops it
  std::optional<RowCopy> copy_;
  int64_t reached_ = 0;  // the most items that a copy had before it began again
  std::optional<CopiedRows> copied_;
};

void start(JobEngine& engine, const std::string& id, std::optional<CopyStart> copy) {
  const std::string key = record_key(RecordKind::kBackup, id);
  start_leased(engine, "backup " + id, record_work(key), [&](JobLease& lease) {
    return std::make_unique<BackupJob>(engine, lease, key, std::move(copy));
  });
}

}  // namespace

std::string backup_arn(const JobEngine& engine, const Item& record, std::string_view id) {
  return table_arn(engine, text_of(record, "Table")) + "/backup/" + std::string(id);
}

Result<std::unique_ptr<ReadView>> state_of_now(JobEngine& engine) {
  LocalViews* const views = engine.store->local_views();
  return views ? views->view() : std::unique_ptr<ReadView>();
}

void start_backup(JobEngine& engine, const std::string& id, const TablePtr& table, SpaceId to,
                  std::unique_ptr<ReadView> state) {
  start(engine, id, CopyStart{.table = table, .to = to, .state = std::move(state)});
}

Result<void> resume_backups(JobEngine& engine) {
  STATOR_ASSIGN_OR_RETURN(const auto backups, Records(*engine.store).list(RecordKind::kBackup));
  for (const auto& [id, record] : backups) {
    if (is_open_job(record) && is_free(engine, RecordKind::kBackup, id)) start(engine, id, {});
  }
  return {};
}

void erase_expired_backups(JobEngine& engine) {
  const auto backups = Records(*engine.store).list(RecordKind::kBackup);
  if (!backups) return;
  for (const auto& [id, record] : *backups) {
    if (integer_of(record, "ExpiresMs", INT64_MAX) > engine.now_ms()) continue;
    static_cast<void>(engine.catalog->release_space(record_key(RecordKind::kBackup, id)));
  }
}

}  // namespace stator
