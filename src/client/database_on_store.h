// SPDX-License-Identifier: Apache-2.0
// Opening a Database on a store that is open already, such as one on files that a test lets fail,
// or on an engine, such as one with another clock.
#pragma once

#include <memory>

#include "engine/engine.h"
#include "stator/database.h"
#include "storage/transact_store.h"

namespace stator {

// kCorruption where the store holds no Stator catalog that this version can read.
Result<Database> open_database_on(std::unique_ptr<TransactStore> store);
Database database_on(std::unique_ptr<Engine> engine);

}  // namespace stator
