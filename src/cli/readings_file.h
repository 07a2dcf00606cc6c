// SPDX-License-Identifier: Apache-2.0
// Readings of one sensor from a CSV file with a header line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stator/recipes/sensors.h"

namespace stator::cli {

struct ReadingsFile {
  std::string path;  // "-": standard input
  std::string time_column = "date";
  std::string value_column;
  SensorId sensor;
  std::string unit;
};

// Hands readings on in the order of the file, up to `batch` at a time, with how many bytes of the
// file are read by then. Times are RFC 3339, UTC where they name no offset; empty values are left
// out. kInvalidArgument naming the line, for what is no such file; otherwise what `take` failed
// with.
Result<void> read_readings(
    const ReadingsFile& file, std::size_t batch,
    const std::function<Result<void>(const std::vector<Reading>&, int64_t bytes)>& take);

}  // namespace stator::cli
