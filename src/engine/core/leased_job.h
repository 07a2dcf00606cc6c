// SPDX-License-Identifier: Apache-2.0
// Jobs that one engine works on at a time, see engine/catalog/job_lease.h.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/catalog/job_leases.h"
#include "engine/core/engine_core.h"

namespace stator {

// Makes a job whose commits go through the lease, which outlives it.
using MakeJob = FunctionRef<std::unique_ptr<Job>(JobLease& lease)>;

// Adds a job that takes its lease before its first step. If the lease is lost, the job ends without
// another step: what it has made belongs to the engine that took the lease.
void start_leased(EngineCore& engine, std::string name, LeasedWork work, MakeJob make);

}  // namespace stator
