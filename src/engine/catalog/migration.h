// SPDX-License-Identifier: Apache-2.0
// Migration: converts rows of an older format to the current one.
//
// Steps: the first commit raises the header's format (raise_format.h). From then on, older versions
// of Stator reject the data, also those that run. It also writes the pins of the jobs in the
// records and, if rows have older keys, adds the row kMigration. Each further commit moves about a
// megabyte of rows and stores the last key in kMigration. The last commit erases kMigration.
// Crashes: the next startup resumes after the last moved row.
// Threads: blocks the caller. Nothing else in the process may use the store. Memory: a few batches.
// Errors: the store's; kCorruption for damaged definitions, before anything is written.
#pragma once

#include "engine/background/job_runner.h"
#include "engine/catalog/catalog_header.h"
#include "storage/transact_store.h"

namespace stator {

// Does nothing if the data has the current format. Reports the start, the end, the progress every
// ten seconds, and the number of damaged rows that keep their keys.
Result<void> migrate_rows(TransactStore& store, const CatalogHeader& header,
                          const JobRunner::Report& report);

}  // namespace stator
