// SPDX-License-Identifier: Apache-2.0
// Backups of tables, and tables restored from them.
//
// A backup is a copy of a table's items, as they were at one moment, in a space of its own; index
// entries follow from the items. The record says CREATING until the copy is whole. A start copies
// again what a crash has interrupted, and gives up what it can no longer copy; a table that is
// being restored goes on where it was, and is there for everybody once it is whole.
#pragma once

#include "engine/engine_impl.h"

namespace stator {

// Goes on with the copies that an earlier process began.
Result<void> resume_copies(Engine::Impl& engine);

}  // namespace stator
