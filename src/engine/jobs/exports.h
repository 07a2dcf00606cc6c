// SPDX-License-Identifier: Apache-2.0
// Exports of a table as it was, or of what changed between two times, into the files of a bucket.
//
// The record names the rows and the part of the log that stay until the export ends (From, Log,
// Stamp: see PinnedHistory). After a crash all files are written again, after a failed step the
// file that it was in: the same files, as what they hold does not change. So two owners of an
// export, one of which does not know yet that it lost its lease, write the same bytes under the
// same names.
#pragma once

#include <string>

#include "engine/jobs/job_engine.h"

namespace stator {

void start_export(JobEngine& engine, const std::string& id);

// Where an export's manifest is, from its record.
std::string export_manifest(const JobEngine& engine, const std::string& id, const Item& record);

}  // namespace stator
