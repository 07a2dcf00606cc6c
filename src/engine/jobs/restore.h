// SPDX-License-Identifier: Apache-2.0
// Tables that are being restored. The record holds the definition, where the items come from and
// how far the copy has come; the table is in the catalog's `restoring` until it is whole. A table
// that cannot be finished is dropped.
#pragma once

#include "api/admin/document.h"
#include "engine/jobs/job_engine.h"

namespace stator {

// The definition of a table restored from one of `source`, with the overrides of the request.
// kValidation for indexes that the source does not have.
Result<TableDefinition> restored_definition(const JobEngine& engine, const TableDefinition& source,
                                            const Item& request, RestoreSummary summary);

// Keeps the record, starts the copy, and answers with the new table's description.
Result<Item> begin_restore(JobEngine& engine, TableDefinition target, Item record,
                           const PinRequest& pin);
void start_restore(JobEngine& engine, const std::string& table);
// Starts those that no engine works on.
Result<void> resume_restores(JobEngine& engine);

// DescribeTable's "Table", as a document.
Result<Item> description_of(const JobEngine& engine, const Table& table, TableStatus status);

}  // namespace stator
