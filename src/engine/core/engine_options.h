// SPDX-License-Identifier: Apache-2.0
// EngineOptions: what an engine is told when it is opened.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/log_level.h"
#include "engine/vectors/vector_cache.h"

namespace stator {

struct EngineOptions {
  const Clock* clock = &system_clock();  // must outlive the engine
  std::string region = "us-east-1";      // of ARNs
  std::string account = "000000782867";
  // Its directories stand for S3's buckets; empty: there are none.
  std::filesystem::path buckets = {};
  int64_t export_file_bytes = 64L << 20;  // of lines, before compression, in one file of an export
  // Told of what no answer tells, such as why an item was not imported; from any thread.
  std::function<void(LogLevel, const std::string&)> report = {};
  // How often expired items are looked for, by the machine's time; zero: when told only.
  std::chrono::milliseconds sweep_interval{1000};
  // Of an item collection. See collections.h.
  int64_t collection_bytes_max = 10LL << 30;
  VectorCacheLimits vector_cache = {};
  // Pause before a failed step of a job is tried again, by the failures in a row; empty: see
  // jobs.h.
  std::function<std::chrono::milliseconds(int failures)> retry_delay = {};
  // How often Engine::run_maintenance() is done without being told, by the machine's time; zero:
  // never.
  std::chrono::milliseconds maintenance_interval{60'000};
};

}  // namespace stator
