// SPDX-License-Identifier: Apache-2.0
// Migration: brings the rows of an older format to the current one.
//
// Steps: the first commit raises the header's format, so an older version of Stator refuses the
// data from then on. It also writes the pins of the jobs that the records name, and, if rows have
// older keys, adds the row kMigration. Each further commit moves about a megabyte of rows and
// stores the last key in kMigration. The last commit erases kMigration. Crashes: the next start
// continues behind the last row that was moved. Threads: blocks the caller, before anybody else
// uses the store. Memory: a few batches. Errors: the store's; kCorruption for damaged definitions,
// before anything is written.
#pragma once

#include "engine/background/job_runner.h"
#include "engine/catalog/catalog_header.h"
#include "storage/transact_store.h"

namespace stator {

// Does nothing for data of the current format. Reports the start, the end, the progress every ten
// seconds, and how many damaged rows kept their keys.
Result<void> migrate_rows(TransactStore& store, const CatalogHeader& header,
                          const JobRunner::Report& report);

}  // namespace stator
