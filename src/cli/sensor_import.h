// SPDX-License-Identifier: Apache-2.0
// Stores the readings of a file with several threads. Readings of the same sensor and time are
// stored by the same thread, so that the later one in the file wins. The table stores the position,
// so that the next run can resume, unless the file has changed before that position.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>

#include "cli/readings_file.h"
#include "stator/recipes/sensors.h"

namespace stator::cli {

struct ImportOptions {
  ReadingsFile file;
  SensorOptions sensors;
  Check check = Check::kCached;
  bool restart = false;                  // ignore the position of an earlier run
  std::size_t threads = 32;              // many, so that their writes share syncs
  std::size_t chunk = 8'000;             // readings
  int64_t checkpoint_readings = 40'000;  // about the most that are stored again after a crash
};

struct Imported {
  Recorded recorded;          // includes earlier runs
  int64_t resumed_after = 0;  // the last line of an earlier run; 0: not resumed
};

// Calls `advanced` with the number of bytes done, on the calling thread. Retries after a
// retryable() error for about ten minutes. Errors: kCancelled after `stop`. After any error, the
// next run can resume.
Result<Imported> import_readings(Client& client, const ImportOptions& options,
                                 const std::function<void(int64_t bytes)>& advanced,
                                 const std::stop_token& stop);

}  // namespace stator::cli
