// SPDX-License-Identifier: Apache-2.0
// The row of a change log in the catalog, for changes of a log that is in memory.
#pragma once

#include <optional>
#include <string>

#include "engine/change_log/change_log.h"

namespace stator {

// Decodes the row. Errors: kCorruption, also if it is absent: the catalog's version implies that
// the row of a log in memory exists.
Result<LogDefinition> stored_log(const std::optional<std::string>& row);
void put_log(Batch& batch, const LogDefinition& log);

}  // namespace stator
