// SPDX-License-Identifier: Apache-2.0
// Reads readings from a CSV file with a header line, from its start or from a stored position.
//
// Times are RFC 3339, in UTC if they have no offset. Lines with an empty value are skipped.
// Errors: kIo with the file and the line.
#pragma once

#include <cstdint>
#include <fstream>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fnv_hash.h"
#include "stator/recipes/sensors.h"

namespace stator::cli {

struct ReadingsFile {
  std::string path;  // "-": standard input
  std::string time_column = "date";
  std::string value_column;
  SensorId sensor;            // of all readings, if sensor_column is empty
  std::string sensor_column;  // the column with the sensor of each reading
  std::string unit;
  std::string unit_column;
};

// A position in a file, and fnv_hash() of its content up to there.
struct FilePosition {
  int64_t bytes = 0;
  int64_t lines = 0;
  uint64_t hash = kFnvStart;
  bool operator==(const FilePosition&) const = default;
};

class ReadingsReader {
 public:
  // `file` must outlive the reader.
  explicit ReadingsReader(const ReadingsFile& file) : file_(file) {}
  ReadingsReader(const ReadingsReader&) = delete;
  ReadingsReader& operator=(const ReadingsReader&) = delete;

  // Reads the header, then skips to `after` if the file's content up to there is unchanged. Returns
  // true if it skipped; otherwise the position is at the first reading.
  Result<bool> open(const FilePosition& after = {});

  // Returns up to `count` readings, in the order of the file; empty at its end.
  Result<std::vector<Reading>> read(std::size_t count);

  const FilePosition& position() const { return position_; }

 private:
  struct Columns {
    std::size_t time = 0;
    std::size_t value = 0;
    std::optional<std::size_t> sensor = {};
    std::optional<std::size_t> unit = {};
    std::size_t last = 0;
  };

  Result<void> open_at_start();
  Result<bool> read_line(std::string& line);
  Result<void> find_columns(const std::vector<std::string>& header);
  Result<Reading> reading_of(std::vector<std::string> fields) const;
  Failure bad_line(std::string_view why) const;

  const ReadingsFile& file_;
  std::ifstream opened_;
  std::istream* input_ = nullptr;
  Columns columns_;
  FilePosition position_;
  std::string buffer_;  // for one line
};

}  // namespace stator::cli
