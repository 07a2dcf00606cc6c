// SPDX-License-Identifier: Apache-2.0
// The report of a bulk put operation: gzip files with a line of JSON for each put that failed, and
// their manifests.
//
//   PREFIX/AWSDynamoDB/ID/manifest-summary.json, manifest-files.json, and .md5 of both
//   PREFIX/AWSDynamoDB/ID/error/00000000.json.gz …
//   PREFIX/AWSDynamoDB/ID/condition-check-failure/00000000.json.gz …
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/export_manifests.h"

namespace stator::transfer {

// A put that failed.
struct FailedPut {
  std::string object;     // the key of the input object
  uint64_t position = 0;  // where its record begins in the object, uncompressed
  std::string code = {};  // of an error; empty: the condition was false
  std::string message = {};
  std::optional<Item> item = {};      // absent if the record is not an item
  std::optional<Item> existing = {};  // that the condition was evaluated on
};
// Includes the line break.
std::string line_of(const FailedPut& put);

struct ReportFile {
  std::string output_type;  // "ERROR" or "CONDITION_CHECK_FAILURE"
  DataFile file;
};

struct BulkReport {
  std::string arn;
  std::string id;
  std::string table_arn;
  std::string table_id;
  std::string bucket;
  std::string prefix;
  std::string encryption = "AES256";
  int64_t started_ms = 0;
  int64_t ended_ms = 0;
  int64_t processed = 0;
  int64_t written = 0;
  int64_t failed = 0;
  int64_t unmet = 0;  // whose condition was false
};

// The same part always has the same key, so that rewriting it replaces it.
std::string report_key(const BulkReport& report, std::string_view output_type, int64_t part);

// Writes the manifests and their checksums; the report is then complete.
Result<void> write_report(const Bucket& bucket, const BulkReport& report,
                          const std::vector<ReportFile>& files);

}  // namespace stator::transfer
