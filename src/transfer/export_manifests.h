// SPDX-License-Identifier: Apache-2.0
// The names of an export's files, and its manifests. export_lines.h has the lines of data files.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
//
//   PREFIX/AWSDynamoDB/ID/_started, manifest-summary.json, manifest-files.json, and .md5 of both
//   PREFIX/AWSDynamoDB/ID/data/….json.gz    of a full export
//   PREFIX/AWSDynamoDB/data/….json.gz       of incremental ones
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/bucket.h"
#include "transfer/data_file.h"
#include "transfer/formats.h"

namespace stator::wire {
class JsonWriter;
}

namespace stator::transfer {

struct ExportSummary {
  std::string arn;
  std::string id;
  std::string table_arn;
  std::string table_id;
  std::string bucket;
  std::string prefix;  // as in the request
  bool has_prefix = false;
  std::string encryption = "AES256";
  std::optional<std::string> key_id = {};
  DataFormat format = DataFormat::kDynamoDbJson;
  int64_t started_ms = 0;
  int64_t ended_ms = 0;
  int64_t time_ms = 0;  // of a full export
  struct Increment {
    int64_t from_ms = 0;
    int64_t to_ms = 0;
    std::string view;  // "NEW_IMAGE", "NEW_AND_OLD_IMAGES"
  };
  std::optional<Increment> increment = {};
  int64_t billed_bytes = 0;
  int64_t items = 0;
};

// A time in the form of the manifests: "2020-11-04T07:28:34.028Z"
std::string manifest_time(int64_t unix_ms);
// Writes KEY.json, and KEY.md5 before it.
Result<void> write_manifest(const Bucket& bucket, const std::string& key, std::string_view json);
// The members about a file in a manifest or a report.
void add_file(wire::JsonWriter& json, const DataFile& file);
// The key of an output of an export or a report: "PREFIX/AWSDynamoDB/REST"
std::string output_key(std::string_view prefix, std::string_view rest);

// Keys of an export's files.
std::string export_directory(const ExportSummary& summary);  // "PREFIX/AWSDynamoDB/ID"
std::string data_directory(const ExportSummary& summary);
std::string manifest_key(const ExportSummary& summary);  // of manifest-summary.json
// The same part of the same export always has the same key, so that rewriting it replaces it.
std::string data_key(const ExportSummary& summary, int64_t part);

// Writes the manifests and their checksums; the export is then complete.
Result<void> write_manifests(const Bucket& bucket, const ExportSummary& summary,
                             const std::vector<DataFile>& files);

}  // namespace stator::transfer
