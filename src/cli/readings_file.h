// SPDX-License-Identifier: Apache-2.0
// Readings from a CSV file with a header line, from the start or from where an earlier run ended.
//
// Times are RFC 3339, UTC where they name no offset; lines whose value is empty are left out.
// Errors: kIo, naming the file and the line.
#pragma once

#include <cstdint>
#include <fstream>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/recipes/sensors.h"

namespace stator::cli {

struct ReadingsFile {
  std::string path;  // "-": standard input
  std::string time_column = "date";
  std::string value_column;
  SensorId sensor;            // of all readings, unless:
  std::string sensor_column;  // names each one's
  std::string unit;
  std::string unit_column;
};

// How far a file is read, and what it held up to there (FNV-1a).
struct FilePosition {
  int64_t bytes = 0;
  int64_t lines = 0;
  uint64_t hash = 0xcbf29ce484222325;
  bool operator==(const FilePosition&) const = default;
};

class ReadingsReader {
 public:
  // Borrows the description.
  explicit ReadingsReader(const ReadingsFile& file) : file_(file) {}
  ReadingsReader(const ReadingsReader&) = delete;
  ReadingsReader& operator=(const ReadingsReader&) = delete;

  // Reads the header; and then on to `after`, unless the file holds something else up to there: it
  // answers whether it went there, and is at its first reading otherwise.
  Result<bool> open(const FilePosition& after = {});

  // Up to `count` readings, in the order of the file; none at its end.
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
};

// FNV-1a, 64 bits, going on from `hash`.
uint64_t hash_on(uint64_t hash, std::string_view text);

}  // namespace stator::cli
