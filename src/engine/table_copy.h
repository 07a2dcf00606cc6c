// SPDX-License-Identifier: Apache-2.0
// Copying a table's items from one space to another: backups and what is restored.
//
// Row keys differ in their space alone, so rows move as they are.
#pragma once

#include <string>

#include "engine/engine_impl.h"
#include "engine/point_in_time.h"

namespace stator {

struct CopiedRows {
  int64_t items = 0;
  int64_t bytes = 0;  // as the service sizes items
};

// Called in each transaction of a copy; `last` is the key that it reaches, in the source.
using CopyProgress = FunctionRef<void(Transaction& transaction, const std::string& last)>;

struct CopyPlan {
  TableHistory from;   // without a log: the items as the view sees them
  uint64_t stamp = 0;  // otherwise as they were before it
  SpaceId to = 0;
  const Table* indexed = nullptr;  // whose index entries are written too; null: none
  std::string after = {};          // the source's key that an earlier copy reached
};

// kCancelled where the worker of the engine's jobs stops.
Result<CopiedRows> copy_rows(Engine::Impl& engine, ReadView& view, const CopyPlan& plan,
                             CopyProgress progress);

}  // namespace stator
