// SPDX-License-Identifier: Apache-2.0
#include "cli/readings_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <string_view>

namespace stator::cli {
namespace {

constexpr std::size_t kLineBytesMax = 64UL << 10;

struct Columns {
  std::size_t time = 0;
  std::size_t value = 0;
};

// The fields of a line. Quoted fields hold commas and doubled quotes, but no line breaks.
// Absent where a quote does not end.
std::optional<std::vector<std::string>> fields_of(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back().push_back('"');
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back().push_back(c);
    }
  }
  if (quoted) return std::nullopt;
  return fields;
}

// To be called while errno says why.
Failure unreadable(const ReadingsFile& file) {
  return fail(Code::kIo, fmt::format("cannot read '{}': {}", file.path, std::strerror(errno)));
}

Failure bad_line(const ReadingsFile& file, int64_t number, const std::string& why) {
  return fail(Code::kIo, fmt::format("{}, line {}: {}", file.path, number, why));
}

Result<Columns> find_columns(const ReadingsFile& file, const std::vector<std::string>& header) {
  const auto find = [&](const std::string& name) -> Result<std::size_t> {
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (header[i] == name) return i;
    }
    return bad_line(file, 1, fmt::format("there is no column '{}'", name));
  };
  Columns columns;
  STATOR_TRY(columns.time, find(file.time_column));
  STATOR_TRY(columns.value, find(file.value_column));
  return columns;
}

Result<Time> time_of(const std::string& text) {
  const std::size_t clock = text.find('T');
  if (clock == std::string::npos) return Time::parse(text + "T00:00:00Z");
  const bool names_offset = text.find_first_of("Z+-", clock) != std::string::npos;
  return Time::parse(names_offset ? text : text + "Z");
}

Result<Reading> reading_of(const ReadingsFile& file, const Columns& columns,
                           const std::vector<std::string>& fields, int64_t number) {
  const auto at = time_of(fields[columns.time]);
  if (!at) return bad_line(file, number, at.error().message);
  const auto value = Number::parse(fields[columns.value]);
  if (!value) return bad_line(file, number, value.error().message);
  return Reading{.sensor = file.sensor, .at = *at, .value = *value, .unit = file.unit};
}

}  // namespace

Result<void> read_readings(
    const ReadingsFile& file, std::size_t batch,
    const std::function<Result<void>(const std::vector<Reading>&, int64_t bytes)>& take) {
  std::ifstream opened;
  if (file.path != "-") {
    opened.open(file.path);
    if (!opened) return unreadable(file);
  }
  std::istream& input = file.path == "-" ? std::cin : opened;
  std::vector<Reading> readings;
  std::optional<Columns> columns;
  std::string line;
  int64_t bytes = 0;
  for (int64_t number = 1; std::getline(input, line); ++number) {
    bytes += static_cast<int64_t>(line.size()) + 1;
    if (line.size() > kLineBytesMax) return bad_line(file, number, "the line is too long");
    const auto fields = fields_of(line);
    if (!fields) return bad_line(file, number, "a quote does not end");
    if (!columns) {
      STATOR_TRY(columns, find_columns(file, *fields));
      continue;
    }
    if (line.empty() || line == "\r") continue;
    if (fields->size() <= std::max(columns->time, columns->value)) {
      return bad_line(file, number, "there are fewer fields than in the header");
    }
    if ((*fields)[columns->value].empty()) continue;
    STATOR_TRY(Reading reading, reading_of(file, *columns, *fields, number));
    readings.push_back(std::move(reading));
    if (readings.size() == batch) {
      STATOR_CHECK_OK(take(readings, bytes));
      readings.clear();
    }
  }
  if (input.bad()) return unreadable(file);
  if (!columns) return bad_line(file, 1, "there is no header line");
  if (!readings.empty()) STATOR_CHECK_OK(take(readings, bytes));
  return {};
}

}  // namespace stator::cli
