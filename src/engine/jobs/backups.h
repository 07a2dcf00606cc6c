// SPDX-License-Identifier: Apache-2.0
// Backups of tables, and tables restored from them.
//
// A backup is a copy of a table's items, as they were at one moment, in a space of its own; index
// entries follow from the items. On a store without LocalViews each item is as it was when the copy
// reached it. The record says CREATING until the copy is whole. After a crash,
// or a pause that is too long to keep a snapshot, the copy starts again: its moment is later then.
// A backup that cannot be finished is deleted. A table that is being restored resumes where it was,
// and is visible once it is whole.
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

// The state that a backup of now copies; null on a store without LocalViews.
Result<std::unique_ptr<ReadView>> state_of_now(JobEngine& engine);
// Starts to copy what `state` has of the table, or the table as it is if that is null. Nothing has
// been written to the space `to`.
void start_backup(JobEngine& engine, const std::string& id, const TablePtr& table, SpaceId to,
                  std::unique_ptr<ReadView> state);
// Starts those that no engine works on.
Result<void> resume_backups(JobEngine& engine);

// Erases those that have expired and that no table is being restored from. The next call retries
// what fails.
void erase_expired_backups(JobEngine& engine);

}  // namespace stator
