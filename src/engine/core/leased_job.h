// SPDX-License-Identifier: Apache-2.0
// Jobs that one engine at a time runs, under a lease (engine/catalog/job_lease.h).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/catalog/job_leases.h"
#include "engine/core/engine_core.h"

namespace stator {

// Creates a job whose commits go through `lease`, which outlives the job.
using MakeJob = FunctionRef<std::unique_ptr<Job>(JobLease& lease)>;

// Adds a job that acquires its lease before its first step. If the lease is lost, the job ends
// without another step and without cleaning up: its data belongs to the engine that has the lease.
void start_leased(EngineCore& engine, std::string name, LeasedWork work, MakeJob make);

}  // namespace stator
