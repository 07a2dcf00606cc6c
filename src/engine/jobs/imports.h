// SPDX-License-Identifier: Apache-2.0
// Tables that are being imported: from the files of a bucket, into a table that is CREATING until
// all of them are read.
//
// The import's record holds how far it has come, and moves on in the transaction that writes the
// items; after a crash the import resumes there.
#pragma once

#include <string>

#include "engine/jobs/job_engine.h"

namespace stator {

void start_import(JobEngine& engine, const std::string& id);

}  // namespace stator
