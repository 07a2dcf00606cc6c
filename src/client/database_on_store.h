// SPDX-License-Identifier: Apache-2.0
// Opens a Database on an open store, such as one with files that a test makes fail, or on an
// engine, such as one with another clock.
#pragma once

#include <memory>

#include "engine/engine.h"
#include "stator/database.h"
#include "storage/transact_store.h"

namespace stator {

// Errors: kCorruption if the store has no Stator catalog that this version can read.
Result<Database> open_database_on(std::unique_ptr<TransactStore> store);
Database database_on(std::unique_ptr<Engine> engine);

}  // namespace stator
