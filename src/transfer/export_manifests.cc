// SPDX-License-Identifier: Apache-2.0
#include "transfer/export_manifests.h"

#include <array>
#include <cstdio>
#include <ctime>

#include "api/json/json_writer.h"

namespace stator::transfer {
namespace {

void add_optional(wire::JsonWriter& json, std::string_view name,
                  const std::optional<std::string>& text) {
  json.key(name);
  text ? json.text(*text) : json.null();
}
std::string summary_json(const ExportSummary& summary) {
  return wire::write_document([&](wire::JsonWriter& json) {
    json.key("version").text(summary.increment ? "2023-08-01" : "2020-06-30");
    json.key("exportArn").text(summary.arn);
    json.key("startTime").text(manifest_time(summary.started_ms));
    json.key("endTime").text(manifest_time(summary.ended_ms));
    json.key("tableArn").text(summary.table_arn);
    json.key("tableId").text(summary.table_id);
    if (summary.increment) {
      json.key("exportFromTime").text(manifest_time(summary.increment->from_ms));
      json.key("exportToTime").text(manifest_time(summary.increment->to_ms));
    } else {
      json.key("exportTime").text(manifest_time(summary.time_ms));
    }
    json.key("s3Bucket").text(summary.bucket);
    add_optional(json, "s3Prefix",
                 summary.has_prefix ? std::optional(summary.prefix) : std::optional<std::string>());
    json.key("s3SseAlgorithm").text(summary.encryption);
    add_optional(json, "s3SseKmsKeyId", summary.key_id);
    json.key("manifestFilesS3Key").text(export_directory(summary) + "/manifest-files.json");
    json.key("billedSizeBytes").integer(summary.billed_bytes);
    json.key("itemCount").integer(summary.items);
    json.key("outputFormat").text(name_of(summary.format));
    if (summary.increment) {
      json.key("outputView").text(summary.increment->view);
      json.key("exportType").text("INCREMENTAL_EXPORT");
    }
  });
}

std::string files_json(const std::vector<DataFile>& files) {
  std::string lines;
  for (const DataFile& file : files) {
    lines += wire::write_document([&](wire::JsonWriter& json) { add_file(json, file); });
    lines += '\n';
  }
  return lines;
}

}  // namespace

void add_file(wire::JsonWriter& json, const DataFile& file) {
  json.key("itemCount").integer(file.items);
  json.key("md5Checksum").text(file.md5);
  json.key("etag").text(file.etag);
  json.key("dataFileS3Key").text(file.key);
}

std::string manifest_time(int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1000;
  std::tm broken{};
  gmtime_r(&seconds, &broken);
  std::array<char, 80> text;
  const std::size_t size = std::strftime(text.data(), text.size(), "%FT%T", &broken);
  std::string time(text.data(), size);
  std::snprintf(text.data(), text.size(), ".%03dZ", static_cast<int>(unix_ms % 1000));
  return time + text.data();
}

Result<void> write_manifest(const Bucket& bucket, const std::string& key, std::string_view json) {
  STATOR_RETURN_IF_ERROR(bucket.write(key + ".md5", checksum_of(json)));
  return bucket.write(key + ".json", json);
}

std::string output_key(std::string_view prefix, std::string_view rest) {
  const std::string trimmed = trimmed_prefix(prefix);
  return (trimmed.empty() ? std::string() : trimmed + "/").append("AWSDynamoDB/").append(rest);
}

std::string export_directory(const ExportSummary& summary) {
  return output_key(summary.prefix, summary.id);
}

std::string data_directory(const ExportSummary& summary) {
  return summary.increment ? output_key(summary.prefix, "data")
                           : export_directory(summary) + "/data";
}

std::string manifest_key(const ExportSummary& summary) {
  return export_directory(summary) + "/manifest-summary.json";
}

std::string data_key(const ExportSummary& summary, int64_t part) {
  // 26 letters and digits, like DynamoDB's names.
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  std::string name;
  for (const char c : md5_of(summary.arn + "/" + std::to_string(part)) + md5_of(summary.arn)) {
    name += kAlphabet[static_cast<unsigned char>(c) % kAlphabet.size()];
  }
  constexpr std::size_t kLength = 26;
  return data_directory(summary) + "/" + name.substr(0, kLength) +
         (summary.format == DataFormat::kIon ? ".ion.gz" : ".json.gz");
}

Result<void> write_manifests(const Bucket& bucket, const ExportSummary& summary,
                             const std::vector<DataFile>& files) {
  const std::string directory = export_directory(summary);
  STATOR_RETURN_IF_ERROR(write_manifest(bucket, directory + "/manifest-files", files_json(files)));
  return write_manifest(bucket, directory + "/manifest-summary", summary_json(summary));
}

}  // namespace stator::transfer
