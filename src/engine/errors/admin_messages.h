// SPDX-License-Identifier: Apache-2.0
// DynamoDB's messages for administrative operations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stator::messages {

// ---- ARNs, tags and policies
inline constexpr const char* kAccessDenied = "Access is denied";
inline constexpr const char* kNoTags = "Atleast one Tag needs to be provided as Input.";
inline constexpr const char* kNoTagKeys = "Atleast one Tag Key needs to be provided as Input.";
inline constexpr const char* kTooManyTags =
    "Number of Tags exceed the current limit for the provided ResourceArn";
inline constexpr const char* kPolicyTooLarge =
    "One or more parameter values were invalid: Maximum policy size of 20480 bytes exceeded";
inline constexpr const char* kPolicyMalformed =
    "One or more parameter values were invalid: Invalid policy document: This policy contains "
    "invalid Json";

inline std::string invalid_policy(std::string_view reason) {
  return "One or more parameter values were invalid: Invalid policy document: " +
         std::string(reason);
}
inline std::string no_arn(std::string_view arn) {
  return "One or more parameter values were invalid: ARNs must start with 'arn:': " +
         std::string(arn);
}
inline std::string index_arn(std::string_view arn) {
  return "One or more parameter values were invalid: Invalid resource arn provided, only table or "
         "stream is accepted. Provided resource arn: " +
         std::string(arn);
}
inline std::string invalid_policy_arn(std::string_view arn) {
  return "One or more parameter values were invalid: Invalid resource Arn: " + std::string(arn);
}
inline std::string no_table_arn(std::string_view arn) {
  return "One or more parameter values were invalid: Provided Arn is not a DynamoDB resource "
         "arn: " +
         std::string(arn);
}
inline std::string invalid_table_arn(std::string_view arn) {
  return "Invalid TableArn: Invalid ResourceArn provided as input " + std::string(arn);
}
inline std::string arn_not_found(std::string_view arn) {
  return "Requested resource not found: ResourceArn: " + std::string(arn) + " not found";
}
inline std::string duplicate_tag(std::string_view key) {
  return "Duplicate Tag Keys provided as input: Duplicate Tag Key found " + std::string(key);
}
inline std::string invalid_tag_key(std::string_view key) {
  return "The Tag Key provided is invalid, Key: " + std::string(key);
}
inline std::string invalid_tag_value(std::string_view value) {
  return "The Tag Value provided is invalid, Value: " + std::string(value);
}
inline std::string reserved_tag(std::string_view key) {
  return "Tag Key cannot be prefixed with aws:, Key: " + std::string(key);
}
inline std::string policy_not_found(std::string_view arn) {
  return "Resource-based policy not found for the provided ResourceArn: " + std::string(arn);
}

// ---- Tables
inline std::string no_such_table(std::string_view table) {
  return "Table not found: " + std::string(table);
}
inline std::string index_not_found(std::string_view index) {
  return "Requested resource not found: Index: " + std::string(index) + " not found";
}
inline constexpr const char* kNoAutoScaling =
    "One or more parameter values were invalid: Auto scaling is not available for this table";

// ---- Backups
inline constexpr const char* kTwoRestoreSources =
    "One or more parameter values were invalid: Must provide exactly one of: sourceTableArn, "
    "sourceTableName";
inline constexpr const char* kNoRestoreTime =
    "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, "
    "but not both";
inline constexpr const char* kTwoRestoreTimes =
    "Invalid Request: Both RestoreDateTime and UseLatestRestorableTime cannot be set for "
    "point-in-time restore request. Please specify either RestoreDateTime time or "
    "UseLatestRestorableTime";
inline std::string invalid_restore_time(std::string_view time, std::string_view earliest,
                                        std::string_view latest) {
  return "RestoreDateTime '" + std::string(time) + "' must be within EarliestRestorableDateTime '" +
         std::string(earliest) + "' and LatestRestorableDateTime '" + std::string(latest) + "'";
}
inline constexpr const char* kThroughputOnDemand =
    "Invalid Request: Cannot override ProvisionedThroughput if BillingMode is overridden to "
    "PAY_PER_REQUEST";
inline constexpr const char* kThroughputNotProvisioned =
    "Invalid Request: Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED";
inline constexpr const char* kNoThroughputProvisioned =
    "Invalid Request: Must override ProvisionedThroughput if BillingMode is overridden to "
    "PROVISIONED";
inline std::string no_recovery(std::string_view table) {
  return "Point in time recovery is not enabled for table '" + std::string(table) + "'";
}
inline std::string backups_being_enabled(std::string_view table) {
  return "Backups are being enabled for the table: " + std::string(table) + ". Please retry later";
}
inline std::string backup_not_found(std::string_view arn) {
  return "Backup not found: " + std::string(arn);
}
inline std::string backup_in_use(std::string_view arn) {
  return "Backup is being created or restored: " + std::string(arn);
}
// Stator's own text: DynamoDB fails too, but its text is unknown.
inline constexpr const char* kSystemBackup =
    "One or more parameter values were invalid: A backup of type SYSTEM cannot be deleted";
inline std::string no_index_to_restore(std::string_view index) {
  return "Invalid Request: Index " + std::string(index) +
         " does not match a secondary index that existed in the source table and cannot be created "
         "during the restore operation";
}

// ---- Imports and exports
inline constexpr const char* kNoSuchBucket =
    "The specified bucket does not exist (Service: Amazon S3; Status Code: 404; Error Code: "
    "NoSuchBucket)";
inline constexpr const char* kBucketAccessDenied =
    "Access Denied (Service: Amazon S3; Status Code: 403; Error Code: AccessDenied)";
inline constexpr const char* kTooManyObjects = "The number of objects exceeds the maximum of 50000";
inline constexpr const char* kItemsNotImported =
    "Some of the items failed validation checks and were not imported. Please check CloudWatch "
    "error logs for more details.";
inline std::string item_not_imported(std::string_view import, std::string_view object,
                                     uint64_t position, std::string_view reason) {
  return "import " + std::string(import) + ": object '" + std::string(object) + "' at byte " +
         std::to_string(position) + ": " + std::string(reason);
}
inline constexpr const char* kLastReported = " (what follows is counted only)";
inline constexpr const char* kImportNotBegun = "The import could not be started";
inline std::string invalid_job_arn(std::string_view kind) {
  return "Invalid " + std::string(kind) + " ARN";
}
inline std::string job_of_other_region(std::string_view kind, std::string_view kind_lower) {
  return std::string(kind) + " not found: Invalid " + std::string(kind_lower) + " arn";
}
inline std::string job_not_found(std::string_view kind, std::string_view arn) {
  const std::string not_found = std::string(kind) + " not found: ";
  return not_found + not_found + std::string(arn);
}
inline std::string invalid_page_token(std::string_view token) {
  return "Invalid Request: Provided nextToken is invalid: " + std::string(token);
}
inline std::string token_conflict(std::string_view kind) {
  return std::string(kind) + " conflict: Duplicate request detected with conflicting parameters";
}
inline std::string options_for_format(std::string_view format) {
  return "Invalid Request: Unsupported InputFormatOptions for the given input format: " +
         std::string(format) + ".";
}

// Bulk operations: Stator's own texts, because DynamoDB's are unknown.
inline constexpr const char* kNoOutputBucket =
    "One or more parameter values were invalid: OutputS3Configuration must have S3Bucket";
inline constexpr const char* kNoOutputType =
    "One or more parameter values were invalid: OutputType must have at least one value";
inline constexpr const char* kBulkConflict =
    "The request uses the same client token as a previous, but non-identical request.";
inline constexpr const char* kTooManyBulkOperations =
    "Subscriber limit exceeded: Only 50 bulk operations can be in progress at the same time";
inline constexpr const char* kBulkCancelled = "The operation was cancelled by a request";
inline std::string bulk_operation_ended(std::string_view status) {
  return "Invalid Request: The bulk operation is not in progress, its status is " +
         std::string(status);
}

inline constexpr const char* kIncrementNeedsType =
    "Invalid Request: Export Type expected to be Incremental Export when incremental export "
    "specification is provided";
inline constexpr const char* kIncrementOfFull =
    "Invalid Request: When Export Type is Full Export , Incremental Export Specification should "
    "not be provided";
inline constexpr const char* kNoIncrement =
    "Invalid Request: Incremental Export Specification expected when export type is set as "
    "Incremental Export";
inline constexpr const char* kNoExportFromTime =
    "Invalid Request: ExportFromTime must be provided in IncrementalExportSpecification";
inline constexpr const char* kKeyWithoutKms =
    "Invalid Request: KMS Key Id is not supported for this encryption type";
inline std::string invalid_filter(std::string_view reason) {
  return "Invalid Request: Invalid FilterSpecification: " + std::string(reason);
}
inline constexpr const char* kEmptyFilter = "The specification can not be empty";
inline constexpr const char* kTableArnIsNone =
    "One or more parameter values were invalid: tableArn is not a valid ARN";
inline constexpr const char* kInvalidTableArn = "Invalid Request: Table ARN is invalid.";
inline constexpr const char* kInvalidExportTime = "Export Time is invalid";
inline constexpr const char* kIncrementTooShort =
    "Difference between export period from time and export period to time is less than 15 minutes";
inline constexpr const char* kIncrementTooLong =
    "Difference between export period from time and export period to time is greater than 24 hours";
inline std::string increment_too_early(std::string_view time) {
  return "Incremental export period from time cannot be less than the table creation time : " +
         std::string(time);
}
inline std::string increment_too_late(std::string_view time) {
  return "Incremental export period to time cannot be greater than the current time : " +
         std::string(time);
}
inline std::string key_not_found(std::string_view key) {
  return "Key '" + std::string(key) +
         "' does not exist (Service: Amazon S3; Status Code: 400; Error Code: "
         "KMS.NotFoundException)";
}

// ---- Global tables
inline constexpr const char* kNoReplicas =
    "One or more parameter values were invalid: ReplicationGroup must have at least one replica";
inline constexpr const char* kNoReplicaUpdate =
    "One or more parameter values were invalid: Each replica update must have Create or Delete";
inline std::string global_table_not_found(std::string_view table) {
  return "Global table not found: Global Table with name: '" + std::string(table) +
         "' does not exist.";
}
inline std::string global_table_exists(std::string_view table) {
  return "Global table already exists: Global Table with name: '" + std::string(table) +
         "' already exists.";
}
inline std::string no_table_in_region(std::string_view table, std::string_view region) {
  return "Table not found: " + std::string(table) + " in region: " + std::string(region);
}
inline std::string replica_exists(std::string_view table, std::string_view region) {
  return "Global table '" + std::string(table) + "' already has a replica in region " +
         std::string(region);
}
inline std::string replica_not_found(std::string_view table, std::string_view region) {
  return "Global table '" + std::string(table) + "' has no replica in region " +
         std::string(region);
}

}  // namespace stator::messages
