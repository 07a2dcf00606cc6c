// SPDX-License-Identifier: Apache-2.0
// Exports: write a table at a point in time, or its changes between two, to files of a bucket.
// transfer/export_lines.h and transfer/export_manifests.h have the content of the files.
//
// The record pins the rows and the part of the log that the export reads (From, Log, Stamp: see
// PinnedHistory). After a crash all files are written again; after a failed step, the current file.
// The content of a file depends only on the record and the pinned history. So if an engine has lost
// the lease and does not know it yet, both engines write the same bytes under the same names.
#pragma once

#include <string>

#include "engine/jobs/job_engine.h"

namespace stator {

void start_export(JobEngine& engine, const std::string& id);

// The path of an export's manifest in the bucket.
std::string export_manifest(const JobEngine& engine, const std::string& id, const Item& record);

}  // namespace stator
