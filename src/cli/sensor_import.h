// SPDX-License-Identifier: Apache-2.0
// Storing the readings of a file: by several threads, each reading of one time by the same one, so
// that of two the later in the file stays. How far it has come is kept in the table, so that the
// next run goes on from there, unless the file has changed up to there.
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
  bool restart = false;                  // from the file's start, whatever an earlier run has done
  std::size_t threads = 32;              // they wait for the disk together
  std::size_t chunk = 8'000;             // readings
  int64_t checkpoint_readings = 40'000;  // the most that are stored again after a crash, or nearly
};

struct Imported {
  Recorded recorded;          // by earlier runs as well
  int64_t resumed_after = 0;  // the line that an earlier run had come to; 0: none had
};

// `advanced` is called with the bytes of the file that are done, on this thread.
// A retryable() error is repeated for about ten minutes. kCancelled after a stop; then, and after
// an error, what was done is kept for the next run.
Result<Imported> import_readings(Client& client, const ImportOptions& options,
                                 const std::function<void(int64_t bytes)>& advanced,
                                 const std::stop_token& stop);

}  // namespace stator::cli
