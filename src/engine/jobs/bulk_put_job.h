// SPDX-License-Identifier: Apache-2.0
// Bulk put operations: apply the puts in the objects of a bucket to a table, as ordinary writes.
//
// The operation's record contains its position, which advances in the transaction that writes the
// items. That transaction also stores the lines of the report, as rows that a later step writes to
// a file and erases. So each put takes effect once and is reported once, even after crashes.
#pragma once

#include <string>

#include "engine/jobs/job_engine.h"

namespace stator {

// How long a bulk operation is listed and described after it started.
inline constexpr int64_t kBulkLifeMs = 90LL * 24 * 60 * 60 * 1000;

void start_bulk_puts(JobEngine& engine, const std::string& id);
// Erases the records of ended operations that started longer ago than kBulkLifeMs. Failures are
// retried by the next call.
void erase_expired_bulk_operations(JobEngine& engine);

}  // namespace stator
