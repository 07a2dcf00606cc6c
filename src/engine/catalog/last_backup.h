// SPDX-License-Identifier: Apache-2.0
// The record of a backup, and the last backup that a dropped table leaves.
//
// The last backup of a table with point-in-time recovery is not a copy. It keeps the rows of the
// dropped table for 35 days.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/catalog/catalog.h"

namespace stator {

inline constexpr std::string_view kBackupCreating = "CREATING";
inline constexpr std::string_view kBackupAvailable = "AVAILABLE";

// Returns the record of the last backup of a table that is dropped; absent if the table does not
// have point-in-time recovery.
std::optional<NamedRecord> last_backup(const Table& table, const std::string& id, int64_t now_ms);

}  // namespace stator
