// SPDX-License-Identifier: Apache-2.0
// Backups of tables, and tables restored from them.
//
// A backup is a copy of a table's items, as they were at one moment, in a space of its own; index
// entries follow from the items. The record says CREATING until the copy is whole. A start copies
// again what a crash has interrupted, and gives up what it can no longer copy; a table that is
// being restored goes on where it was, and is there for everybody once it is whole.
//
// The last backup of a table with point-in-time recovery is no copy: the dropped table's items
// themselves, for 35 days.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/engine_impl.h"

namespace stator {

inline constexpr std::string_view kBackupCreating = "CREATING";
inline constexpr std::string_view kBackupAvailable = "AVAILABLE";

// "arn:…:table/NAME/backup/ID"
std::string backup_arn(const Engine::Impl& engine, const Item& record, std::string_view id);
Result<bool> is_being_restored(const Engine::Impl& engine, std::string_view arn);

// Copies what `view` sees; what fails is copied again at the next start.
void take_backup(Engine::Impl& engine, const std::string& key, SpaceId from, SpaceId to,
                 ReadView& view);
// Goes on with the copies that an earlier process began.
Result<void> resume_copies(Engine::Impl& engine);

// What the service keeps of a table that is dropped: one with point-in-time recovery.
std::optional<NamedRecord> last_backup(Engine::Impl& engine, const Table& table, int64_t now_ms);
// Those that no table is being restored from. What fails is tried again with the next call.
void erase_expired_backups(Engine::Impl& engine);

}  // namespace stator
