// SPDX-License-Identifier: Apache-2.0
// The formats of DynamoDB's exports and imports, and their names in the API.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/requests.h"

namespace stator::transfer {

enum class DataFormat { kDynamoDbJson, kIon, kCsv };
enum class Compression { kNone, kGzip, kZstd };

std::string_view name_of(DataFormat format);        // "DYNAMODB_JSON", "ION", "CSV"
std::string_view name_of(Compression compression);  // "NONE", "GZIP", "ZSTD"
std::optional<DataFormat> format_named(std::string_view name);
std::optional<Compression> compression_named(std::string_view name);

// The format and compression according to a file's name: "x.json.gz", "x.ion", "x.csv.zst".
struct FileKind {
  std::optional<DataFormat> format = {};
  Compression compression = Compression::kNone;
};
FileKind kind_of_file(std::string_view name);

struct CsvOptions {
  char delimiter = ',';
  std::vector<std::string> header = {};  // empty: the file's first line
  // Key attributes of the table and its indexes; all other columns are strings.
  std::map<std::string, ScalarType, std::less<>> key_types = {};
};

// Maximum size of the uncompressed text of one item. Larger than any form of an item of 400 KB.
inline constexpr std::size_t kRecordBytesMax = 16UL << 20;

}  // namespace stator::transfer
