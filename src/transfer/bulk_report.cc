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
    wire::JsonWriter json;
    json.begin_object();
    add_member(json, "outputType", output_type);
    add_file(json, file);
    json.end_object();
    (lines += std::move(json).finish()) += '\n';
  }
  return lines;
}

std::string report_json(const BulkReport& report) {
  wire::JsonWriter json;
  json.begin_object();
  add_member(json, "bulkOperationArn", report.arn);
  add_member(json, "startTime", manifest_time(report.started_ms));
  add_member(json, "endTime", manifest_time(report.ended_ms));
  add_member(json, "tableArn", report.table_arn);
  add_member(json, "tableId", report.table_id);
  add_member(json, "s3Bucket", report.bucket);
  add_member(json, "s3Prefix", report.prefix);
  add_member(json, "s3SseAlgorithm", report.encryption);
  add_member(json, "manifestFilesS3Key", report_directory(report) + "/manifest-files.json");
  add_member(json, "processedItemCount", report.processed);
  add_member(json, "writtenItemCount", report.written);
  add_member(json, "failedItemCount", report.failed);
  add_member(json, "conditionCheckFailureCount", report.unmet);
  add_member(json, "outputFormat", "DYNAMODB_JSON");
  json.end_object();
  return std::move(json).finish();
}

}  // namespace

std::string line_of(const FailedPut& put) {
  wire::JsonWriter json;
  json.begin_object();
  add_member(json, "s3Key", put.object);
  add_member(json, "position", static_cast<int64_t>(put.position));
  if (!put.code.empty()) {
    add_member(json, "errorCode", put.code);
    add_member(json, "errorMessage", put.message);
  }
  const auto add_item = [&](std::string_view name, const std::optional<Item>& item) {
    if (!item) return;
    json.key(name);
    json.item(*item);
  };
  add_item("Item", put.item);
  add_item("ExistingItem", put.existing);
  json.end_object();
  return std::move(json).finish() += '\n';
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
