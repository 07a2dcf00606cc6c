// SPDX-License-Identifier: Apache-2.0
// Restores of tables. The record contains the definition, the source of the items and the position
// of the copy, at which it resumes. The table is in CatalogSnapshot::restoring until it is
// complete. A table that cannot be completed is dropped.
#pragma once

#include "api/admin/document.h"
#include "engine/jobs/job_engine.h"

namespace stator {

// Returns the definition of a table restored from `source`, with the overrides of the request.
// Errors: kValidation for indexes that the source does not have.
Result<TableDefinition> restored_definition(const JobEngine& engine, const TableDefinition& source,
                                            const Item& request, RestoreSummary summary);

// Writes the record, starts the copy, and returns the new table's description.
Result<Item> begin_restore(JobEngine& engine, TableDefinition target, Item record,
                           const PinRequest& pin);
void start_restore(JobEngine& engine, const std::string& table);
// Starts the restores that no engine is working on.
Result<void> resume_restores(JobEngine& engine);

}  // namespace stator
