// SPDX-License-Identifier: Apache-2.0
// Opens a Database on an open store or engine, for example one with files that fail or with a
// test's clock.
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
