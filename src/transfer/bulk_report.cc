// SPDX-License-Identifier: Apache-2.0
#include "transfer/bulk_report.h"

#include <algorithm>

#include "api/json/json_writer.h"

namespace stator::transfer {
namespace {

std::string report_directory(const BulkReport& report) {
  return output_key(report.prefix, report.id);
}

std::string report_files_json(const std::vector<ReportFile>& files) {
  std::string lines;
  for (const auto& [output_type, file] : files) {
    lines += wire::write_document([&](wire::JsonWriter& json) {
      json.key("outputType").text(output_type);
      add_file(json, file);
    });
    lines += '\n';
  }
  return lines;
}

std::string report_json(const BulkReport& report) {
  return wire::write_document([&](wire::JsonWriter& json) {
    json.key("bulkOperationArn").text(report.arn);
    json.key("startTime").text(manifest_time(report.started_ms));
    json.key("endTime").text(manifest_time(report.ended_ms));
    json.key("tableArn").text(report.table_arn);
    json.key("tableId").text(report.table_id);
    json.key("s3Bucket").text(report.bucket);
    json.key("s3Prefix").text(report.prefix);
    json.key("s3SseAlgorithm").text(report.encryption);
    json.key("manifestFilesS3Key").text(report_directory(report) + "/manifest-files.json");
    json.key("processedItemCount").integer(report.processed);
    json.key("writtenItemCount").integer(report.written);
    json.key("failedItemCount").integer(report.failed);
    json.key("conditionCheckFailureCount").integer(report.unmet);
    json.key("outputFormat").text("DYNAMODB_JSON");
  });
}

}  // namespace

std::string line_of(const FailedPut& put) {
  std::string line = wire::write_document([&](wire::JsonWriter& json) {
    json.key("s3Key").text(put.object);
    json.key("position").integer(static_cast<int64_t>(put.position));
    if (!put.code.empty()) {
      json.key("errorCode").text(put.code);
      json.key("errorMessage").text(put.message);
    }
    if (put.item) json.key("Item").item(*put.item);
    if (put.existing) json.key("ExistingItem").item(*put.existing);
  });
  return line += '\n';
}

std::string report_key(const BulkReport& report, std::string_view output_type, int64_t part) {
  std::string directory(output_type);
  std::ranges::transform(directory, directory.begin(),
                         [](char c) { return c == '_' ? '-' : static_cast<char>(c - 'A' + 'a'); });
  std::string number = std::to_string(part);
  constexpr std::size_t kDigits = 8;
  if (number.size() < kDigits) number.insert(0, kDigits - number.size(), '0');
  return report_directory(report) + "/" + directory + "/" + number + ".json.gz";
}

Result<void> write_report(const Bucket& bucket, const BulkReport& report,
                          const std::vector<ReportFile>& files) {
  const std::string directory = report_directory(report);
  STATOR_RETURN_IF_ERROR(
      write_manifest(bucket, directory + "/manifest-files", report_files_json(files)));
  return write_manifest(bucket, directory + "/manifest-summary", report_json(report));
}

}  // namespace stator::transfer
