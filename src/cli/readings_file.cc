// SPDX-License-Identifier: Apache-2.0
#include "cli/readings_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>

namespace stator::cli {
namespace {

constexpr std::size_t kLineBytesMax = 64UL << 10;

// The fields of a line. Quoted fields can contain commas and doubled quotes, but no line breaks.
// Returns std::nullopt if a quote is not closed.
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

// Call it while errno has the reason.
Failure unreadable(const ReadingsFile& file) {
  return fail(Code::kIo, fmt::format("cannot read '{}': {}", file.path, std::strerror(errno)));
}

Result<Time> time_of(const std::string& text) {
  const std::size_t clock = text.find('T');
  if (clock == std::string::npos) return Time::parse(text + "T00:00:00Z");
  const bool names_offset = text.find_first_of("Z+-", clock) != std::string::npos;
  return Time::parse(names_offset ? text : text + "Z");
}

}  // namespace

Failure ReadingsReader::bad_line(std::string_view why) const {
  return fail(Code::kIo, fmt::format("{}, line {}: {}", file_.path, position_.lines, why));
}

// Returns false at the end. The last line can lack a line break.
Result<bool> ReadingsReader::read_line(std::string& line) {
  buffer_.resize(kLineBytesMax + 1);  // with a NUL
  input_->getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  if (input_->bad()) return unreadable(file_);
  const auto count = static_cast<std::size_t>(input_->gcount());
  if (count == 0) return false;
  ++position_.lines;
  const bool broken = !input_->eof();
  if (input_->fail()) {
    return bad_line(fmt::format("the line is longer than {} KiB", kLineBytesMax >> 10));
  }
  line.assign(buffer_, 0, broken ? count - 1 : count);
  position_.bytes += static_cast<int64_t>(line.size()) + (broken ? 1 : 0);
  position_.hash = fnv_hash(broken ? "\n" : "", fnv_hash(line, position_.hash));
  return true;
}

Result<void> ReadingsReader::open_at_start() {
  position_ = {};
  if (file_.path == "-") {
    input_ = &std::cin;
  } else {
    opened_ = std::ifstream(file_.path);
    if (!opened_) return unreadable(file_);
    input_ = &opened_;
  }
  std::string line;
  STATOR_ASSIGN_OR_RETURN(const bool there, read_line(line));
  if (!there) return fail(Code::kIo, file_.path + ", line 1: the header line is missing");
  const auto header = fields_of(line);
  if (!header) return bad_line("a quote does not end");
  return find_columns(*header);
}

Result<bool> ReadingsReader::open(const FilePosition& after) {
  STATOR_RETURN_IF_ERROR(open_at_start());
  if (after.bytes <= position_.bytes) return false;
  std::string line;
  while (position_.bytes < after.bytes) {
    const auto there = read_line(line);
    if (!there || !*there) break;
  }
  if (position_ == after) return true;
  STATOR_RETURN_IF_ERROR(open_at_start());
  return false;
}

Result<std::vector<Reading>> ReadingsReader::read(std::size_t count) {
  std::vector<Reading> readings;
  readings.reserve(count);
  std::string line;
  while (readings.size() < count) {
    STATOR_ASSIGN_OR_RETURN(const bool there, read_line(line));
    if (!there) break;
    auto fields = fields_of(line);
    if (!fields) return bad_line("a quote does not end");
    if (line.empty() || line == "\r") continue;
    if (fields->size() <= columns_.last) {
      return bad_line("the line has fewer fields than the header");
    }
    if ((*fields)[columns_.value].empty()) continue;
    STATOR_ASSIGN_OR_RETURN(Reading reading, reading_of(*std::move(fields)));
    readings.push_back(std::move(reading));
  }
  return readings;
}

Result<void> ReadingsReader::find_columns(const std::vector<std::string>& header) {
  columns_ = {};
  const auto find = [&](const std::string& name) -> Result<std::size_t> {
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (header[i] != name) continue;
      columns_.last = std::max(columns_.last, i);
      return i;
    }
    return bad_line(fmt::format("column '{}' is missing", name));
  };
  STATOR_ASSIGN_OR_RETURN(columns_.time, find(file_.time_column));
  STATOR_ASSIGN_OR_RETURN(columns_.value, find(file_.value_column));
  if (!file_.sensor_column.empty()) {
    STATOR_ASSIGN_OR_RETURN(columns_.sensor, find(file_.sensor_column));
  }
  if (!file_.unit_column.empty()) {
    STATOR_ASSIGN_OR_RETURN(columns_.unit, find(file_.unit_column));
  }
  return {};
}

Result<Reading> ReadingsReader::reading_of(std::vector<std::string> fields) const {
  const auto at = time_of(fields[columns_.time]);
  if (!at) return bad_line(at.error().message);
  const auto value = Number::parse(fields[columns_.value]);
  if (!value) return bad_line(value.error().message);
  Reading reading{.sensor = file_.sensor, .at = *at, .value = *value, .unit = file_.unit};
  if (columns_.sensor) reading.sensor.text = std::move(fields[*columns_.sensor]);
  if (columns_.unit) reading.unit = std::move(fields[*columns_.unit]);
  return reading;
}

}  // namespace stator::cli
