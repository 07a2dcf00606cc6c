// SPDX-License-Identifier: Apache-2.0
// Imports: create a table from the files of a bucket. The table is CREATING until the import ends.
//
// The import's record contains its position, which advances in the transaction that writes the
// items. After a crash, the import resumes there.
#pragma once

#include <string>

#include "engine/jobs/job_engine.h"

namespace stator {

void start_import(JobEngine& engine, const std::string& id);

}  // namespace stator
