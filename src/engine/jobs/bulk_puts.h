// SPDX-License-Identifier: Apache-2.0
// Bulk put operations: the puts in the objects of a bucket, as ordinary writes into a table.
//
// The operation's record holds how far it is, and advances in the transaction that writes the
// items. That transaction also stores the lines of the report, as rows that a later step writes to
// a file and erases. So each put takes effect once and is reported once, whatever crashes.
#pragma once

#include <string>

#include "engine/jobs/job_engine.h"

namespace stator {

// How long a bulk operation is listed and described after it started.
inline constexpr int64_t kBulkLifeMs = 90LL * 24 * 60 * 60 * 1000;

void start_bulk_puts(JobEngine& engine, const std::string& id);
// Erases the records of operations that have ended and started longer ago than that. What fails,
// the next call repeats.
void erase_expired_bulk_operations(JobEngine& engine);

}  // namespace stator
