// SPDX-License-Identifier: Apache-2.0
#include "transfer/formats.h"

#include <algorithm>
#include <array>
#include <utility>

namespace stator::transfer {
namespace {

constexpr std::array<std::string_view, 3> kFormats = {"DYNAMODB_JSON", "ION", "CSV"};
constexpr std::array<std::string_view, 3> kCompressions = {"NONE", "GZIP", "ZSTD"};

template <class T>
std::optional<T> named(const std::array<std::string_view, 3>& names, std::string_view name) {
  const auto* const found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<T>(found - names.begin());
}

// Removes the suffix if the name has it.
bool cut(std::string_view& name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  return true;
}

}  // namespace

std::string_view name_of(DataFormat format) {
  return kFormats[static_cast<std::size_t>(format)];
}
std::string_view name_of(Compression compression) {
  return kCompressions[static_cast<std::size_t>(compression)];
}
std::optional<DataFormat> format_named(std::string_view name) {
  return named<DataFormat>(kFormats, name);
}
std::optional<Compression> compression_named(std::string_view name) {
  return named<Compression>(kCompressions, name);
}

FileKind kind_of_file(std::string_view name) {
  FileKind kind;
  if (cut(name, ".gz")) {
    kind.compression = Compression::kGzip;
  } else if (cut(name, ".zst") || cut(name, ".zstd")) {
    kind.compression = Compression::kZstd;
  }
  if (cut(name, ".json")) {
    kind.format = DataFormat::kDynamoDbJson;
  } else if (cut(name, ".ion")) {
    kind.format = DataFormat::kIon;
  } else if (cut(name, ".csv")) {
    kind.format = DataFormat::kCsv;
  }
  return kind;
}

}  // namespace stator::transfer
