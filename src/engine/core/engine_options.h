// SPDX-License-Identifier: Apache-2.0
// EngineOptions: the options of Engine::open().
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/log_level.h"
#include "engine/background/job_runner.h"
#include "engine/vectors/vector_cache.h"

namespace stator {

struct EngineOptions {
  const Clock* clock = &system_clock();  // must outlive the engine
  std::string region = "us-east-1";      // of ARNs
  std::string account = "000000782867";
  // Imports and exports use the subdirectories of this directory as S3 buckets; empty: none.
  std::filesystem::path buckets = {};
  int64_t export_file_bytes = 64L << 20;  // uncompressed size of one data file of an export
  // Receives diagnostics that no response contains, such as why an item was not imported. Called
  // from any thread; it must not call the engine.
  std::function<void(LogLevel, const std::string&)> report = {};
  // Interval between sweeps of expired items, on the machine's clock; zero: only sweep_expired()
  // deletes them.
  std::chrono::milliseconds sweep_interval{1000};
  // Size limit of an item collection; see collections.h.
  int64_t collection_bytes_max = 10LL << 30;
  VectorCacheLimits vector_cache = {};
  // Returns the pause before the retry of a job's step after this number of consecutive failures;
  // empty: retry_delay() of job_runner.h.
  std::function<std::chrono::milliseconds(int failures)> retry_delay = {};
  // Threads for jobs. Zero: only JobRunner::run_step() runs them.
  std::size_t job_threads = JobRunner::kThreads;
  // Interval between heartbeats of job leases, on the machine's clock, each followed by
  // maintenance. Zero: only Engine::run_maintenance() does both.
  std::chrono::milliseconds maintenance_interval{60'000};
};

}  // namespace stator
