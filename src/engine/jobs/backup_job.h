// SPDX-License-Identifier: Apache-2.0
// Backups of tables.
//
// A backup is a copy of a table's items at one point in time, in its own space, without index
// entries. On a store without LocalViews, each item is as it was when the copy reached it. The
// record is CREATING until the copy is complete. After a crash, or a pause that is too long to keep
// the snapshot, the copy starts again from a later point in time. A backup that cannot be completed
// is deleted.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/catalog/last_backup.h"
#include "engine/jobs/job_engine.h"

namespace stator {

// "arn:…:table/NAME/backup/ID"
std::string backup_arn(const JobEngine& engine, const Item& record, std::string_view id);

// Opens a view of the current state for start_backup(); null on a store without LocalViews.
Result<std::unique_ptr<ReadView>> state_of_now(JobEngine& engine);
// Starts to copy the table's items from `state`, or the current items if it is null, to the unused
// space `to`.
void start_backup(JobEngine& engine, const std::string& id, const TablePtr& table, SpaceId to,
                  std::unique_ptr<ReadView> state);
// Starts the jobs of the backups that no engine is working on.
Result<void> resume_backups(JobEngine& engine);

// Erases expired backups, except those that a restore reads. Failures are retried by the next call.
void erase_expired_backups(JobEngine& engine);

}  // namespace stator
