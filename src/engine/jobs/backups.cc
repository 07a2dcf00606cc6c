// SPDX-License-Identifier: Apache-2.0
#include "engine/jobs/backups.h"

#include <algorithm>

#include "api/admin/document.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/records.h"
#include "engine/core/arns.h"
#include "engine/jobs/restore.h"
#include "engine/jobs/table_copy.h"

namespace stator {
namespace {

class BackupJob final : public Job {
 public:
  // Without a state the copy starts with one of its own.
  BackupJob(JobEngine& engine, std::string key, TablePtr table, SpaceId to,
            std::unique_ptr<ReadView> state)
      : engine_(engine), key_(std::move(key)), table_(std::move(table)), to_(to) {
    if (state) begin(std::move(state));
  }

  Result<JobState> step() override {
    if (!copied_) {
      if (!copy_) STATOR_RETURN_IF_ERROR(begin_again());
      STATOR_ASSIGN_OR_RETURN(const JobState state, copy_->step([](Batch&, const std::string&) {}));
      if (state == JobState::kMore) return state;
      copied_ = CopiedRows{.items = copy_->items(), .bytes = copy_->bytes()};
      copy_.reset();
    }
    STATOR_RETURN_IF_ERROR(Records(*engine_.store).change(key_, [&](Item& record) -> Result<void> {
      if (record.empty()) return {};
      record["Status"] = kBackupAvailable;
      record["Items"] = copied_->items;
      record["Bytes"] = copied_->bytes;
      return {};
    }));
    return JobState::kDone;
  }

  void rest() override { copy_.reset(); }

  Result<void> abandon(const Error&) override {
    copy_.reset();
    return engine_.catalog->release_space(key_, to_);
  }

 private:
  struct CopiedRows {
    int64_t items = 0;
    int64_t bytes = 0;
  };

  Result<void> begin_again() {
    STATOR_RETURN_IF_ERROR(engine_.store->drop_range(space_range(to_)));
    STATOR_ASSIGN_OR_RETURN(auto state, state_of_now(engine_));
    begin(std::move(state));
    return {};
  }

  void begin(std::unique_ptr<ReadView> state) {
    TableHistory source;
    source.key.space = table_->definition().space;
    copy_.emplace(*engine_.store, CopyPlan{.from = std::move(source), .to = to_}, std::move(state));
  }

  JobEngine& engine_;
  std::string key_;
  TablePtr table_;  // keeps its rows, whoever drops it
  SpaceId to_;
  std::optional<RowCopy> copy_;
  std::optional<CopiedRows> copied_;
};

// The table that the record is a backup of; null if it is gone.
TablePtr backed_up_table(const JobEngine& engine, const Item& record) {
  const auto definition = table_in(record);
  if (!definition) return nullptr;
  const auto snapshot = engine.catalog->snapshot();
  const TablePtr* table = snapshot->find(definition->settings.table);
  if (table == nullptr || (*table)->definition().id != definition->id) return nullptr;
  return *table;
}

}  // namespace

std::string backup_arn(const JobEngine& engine, const Item& record, std::string_view id) {
  return table_arn(engine, text_of(record, "Table")) + "/backup/" + std::string(id);
}

Result<bool> is_being_restored(const JobEngine& engine, std::string_view arn) {
  STATOR_ASSIGN_OR_RETURN(const auto restores, Records(*engine.store).list(RecordKind::kRestore));
  return std::ranges::any_of(
      restores, [&](const auto& restore) { return text_of(restore.second, "Backup") == arn; });
}

Result<std::unique_ptr<ReadView>> state_of_now(JobEngine& engine) {
  LocalViews* const views = engine.store->local_views();
  return views ? views->view() : std::unique_ptr<ReadView>();
}

void start_backup(JobEngine& engine, const std::string& id, const TablePtr& table, SpaceId to,
                  std::unique_ptr<ReadView> state) {
  engine.jobs.add("backup " + id,
                  std::make_unique<BackupJob>(engine, record_key(RecordKind::kBackup, id), table,
                                              to, std::move(state)));
}

Result<void> resume_copies(JobEngine& engine) {
  STATOR_ASSIGN_OR_RETURN(const auto backups, Records(*engine.store).list(RecordKind::kBackup));
  for (const auto& [id, record] : backups) {
    if (text_of(record, "Status") == kBackupAvailable) continue;
    const auto space = static_cast<SpaceId>(integer_of(record, "Space"));
    if (const TablePtr table = backed_up_table(engine, record)) {
      start_backup(engine, id, table, space, nullptr);
      continue;
    }
    engine.jobs.add("deletion of backup " + id,
                    [&engine, key = record_key(RecordKind::kBackup, id), space] {
                      return engine.catalog->release_space(key, space);
                    });
  }
  const auto snapshot = engine.catalog->snapshot();
  for (const auto& [name, table] : snapshot->restoring) {
    start_restore(engine, name);
  }
  return {};
}

void erase_expired_backups(JobEngine& engine) {
  const std::lock_guard lock(engine.backups);
  const auto backups = Records(*engine.store).list(RecordKind::kBackup);
  if (!backups) return;
  for (const auto& [id, record] : *backups) {
    if (integer_of(record, "ExpiresMs", INT64_MAX) > engine.now_ms()) continue;
    const auto in_use = is_being_restored(engine, backup_arn(engine, record, id));
    if (!in_use || *in_use) continue;
    static_cast<void>(engine.catalog->release_space(
        record_key(RecordKind::kBackup, id), static_cast<SpaceId>(integer_of(record, "Space"))));
  }
}

}  // namespace stator
