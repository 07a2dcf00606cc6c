// SPDX-License-Identifier: Apache-2.0
#include "api/admin/admin_shapes.h"

#include <algorithm>

#include "base/ascii.h"

namespace stator::shapes {
namespace {

using enum Shape::Kind;

bool is_name(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return is_ascii_alphanumeric(c) || c == '_' || c == '-' || c == '.'; });
}
bool is_bucket(std::string_view text) {
  return text.size() >= 2 && is_name(text) && is_ascii_alphanumeric(text.front()) &&
         is_ascii_alphanumeric(text.back());
}
bool is_account(std::string_view text) {
  return text.size() == 12 && std::ranges::all_of(text, is_ascii_digit);
}
bool is_client_token(std::string_view text) {
  return !text.empty() && text.find('$') == std::string_view::npos;
}
bool is_page_token(std::string_view text) {
  constexpr std::size_t kGroup = 16;
  return !text.empty() && text.size() % kGroup == 0 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
bool is_delimiter(std::string_view text) {
  return text.size() == 1 && std::string_view(",;:|\t ").find(text) != std::string_view::npos;
}
bool is_header(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != ','; });
}

constexpr Shape structure(std::span<const MemberShape> members) {
  return {.kind = kStructure, .members = members};
}
constexpr Shape list_of(const Shape& element, int64_t least = 0,
                        int64_t most = std::numeric_limits<int64_t>::max()) {
  return {.kind = kList, .least = least, .most = most, .element = &element};
}
constexpr Shape one_of(std::span<const std::string_view> values) {
  return {.values = values};
}

// ---- Scalars

constexpr Shape kAnyText{};
constexpr Shape kFlag{.kind = kBoolean};
constexpr Shape kTimestamp{.kind = kTime};
constexpr Shape kDouble{.kind = kReal};
constexpr Shape kSeconds{.kind = kInteger};
constexpr Shape kUnits{.kind = kLong, .least = 1};
constexpr Shape kName{.least = 3, .most = 255, .pattern = "[a-zA-Z0-9_.-]+", .matches = is_name};
constexpr Shape kTableOrArn{.kind = kTable};
constexpr Shape kAttributeName{.least = 1, .most = 255};
constexpr Shape kArn{.least = 37, .most = 1024};
constexpr Shape kResourceArn{.least = 1, .most = 1283};
constexpr Shape kPolicyArn{.least = 1, .most = 1283};
constexpr Shape kRevision{.least = 1, .most = 255};
constexpr Shape kToken{.pattern = "^[^\\$]+$", .matches = is_client_token};
constexpr Shape kBucket{
    .most = 255, .pattern = "^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$", .matches = is_bucket};
constexpr Shape kAccount{.pattern = "[0-9]{12}", .matches = is_account};
constexpr Shape kPrefix{.most = 1024};
constexpr Shape kKeyId{.least = 1, .most = 2048};
constexpr Shape kHundred{.kind = kInteger, .least = 1, .most = 100};
constexpr Shape kUpToHundred{.kind = kInteger, .most = 100};
constexpr Shape kTwentyFive{.kind = kInteger, .least = 1, .most = 25};
constexpr Shape kPositive{.kind = kInteger, .least = 1};

constexpr std::string_view kBillingModes[] = {"PROVISIONED", "PAY_PER_REQUEST"};
constexpr Shape kBillingMode = one_of(kBillingModes);
constexpr std::string_view kTableClasses[] = {"STANDARD", "STANDARD_INFREQUENT_ACCESS"};
constexpr Shape kTableClass = one_of(kTableClasses);

// ---- Tags and policies

constexpr Shape kTagKey{.least = 1, .most = 128};
constexpr Shape kTagValue{.least = 0, .most = 256};
constexpr MemberShape kTagMembers[] = {{"Key", &kTagKey}, {"Value", &kTagValue}};  // check_tags()
constexpr Shape kTag = structure(kTagMembers);
constexpr Shape kTags = list_of(kTag);
constexpr Shape kTagKeys = list_of(kTagKey);
constexpr MemberShape kTagResourceMembers[] = {{"ResourceArn", &kResourceArn, true},
                                               {"Tags", &kTags, true}};
constexpr MemberShape kUntagResourceMembers[] = {{"ResourceArn", &kResourceArn, true},
                                                 {"TagKeys", &kTagKeys, true}};
constexpr MemberShape kListTagsMembers[] = {{"ResourceArn", &kResourceArn, true},
                                            {"NextToken", &kAnyText}};
constexpr MemberShape kPutPolicyMembers[] = {{"ResourceArn", &kPolicyArn, true},
                                             {"Policy", &kAnyText, true},
                                             {"ExpectedRevisionId", &kRevision},
                                             {"ConfirmRemoveSelfResourceAccess", &kFlag}};
constexpr MemberShape kGetPolicyMembers[] = {{"ResourceArn", &kPolicyArn, true}};
constexpr MemberShape kDeletePolicyMembers[] = {{"ResourceArn", &kPolicyArn, true},
                                                {"ExpectedRevisionId", &kRevision}};

// ---- Parts of a table

constexpr std::string_view kKeyTypes[] = {"HASH", "RANGE"};
constexpr Shape kKeyType = one_of(kKeyTypes);
constexpr MemberShape kKeyElementMembers[] = {{"AttributeName", &kAttributeName, true},
                                              {"KeyType", &kKeyType, true}};
constexpr Shape kKeyElement = structure(kKeyElementMembers);
constexpr Shape kKeySchema = list_of(kKeyElement, 1, 8);
constexpr std::string_view kScalarTypes[] = {"S", "N", "B"};
constexpr Shape kScalarType = one_of(kScalarTypes);
constexpr MemberShape kDefinitionMembers[] = {{"AttributeName", &kAttributeName, true},
                                              {"AttributeType", &kScalarType, true}};
constexpr Shape kDefinition = structure(kDefinitionMembers);
constexpr Shape kDefinitions = list_of(kDefinition);
constexpr std::string_view kProjectionTypes[] = {"ALL", "KEYS_ONLY", "INCLUDE"};
constexpr Shape kProjectionType = one_of(kProjectionTypes);
constexpr Shape kNonKeyAttributes = list_of(kAttributeName, 1, 20);
constexpr MemberShape kProjectionMembers[] = {{"ProjectionType", &kProjectionType},
                                              {"NonKeyAttributes", &kNonKeyAttributes}};
constexpr Shape kProjection = structure(kProjectionMembers);
constexpr MemberShape kThroughputMembers[] = {{"ReadCapacityUnits", &kUnits, true},
                                              {"WriteCapacityUnits", &kUnits, true}};
constexpr Shape kThroughput = structure(kThroughputMembers);
constexpr Shape kAnyLong{.kind = kLong};
constexpr MemberShape kOnDemandMembers[] = {{"MaxReadRequestUnits", &kAnyLong},
                                            {"MaxWriteRequestUnits", &kAnyLong}};
constexpr Shape kOnDemand = structure(kOnDemandMembers);
constexpr MemberShape kWarmMembers[] = {{"ReadUnitsPerSecond", &kAnyLong},
                                        {"WriteUnitsPerSecond", &kAnyLong}};
constexpr Shape kWarm = structure(kWarmMembers);
constexpr std::string_view kEncryptionTypes[] = {"AES256", "KMS"};
constexpr Shape kEncryptionType = one_of(kEncryptionTypes);
constexpr MemberShape kEncryptionMembers[] = {
    {"Enabled", &kFlag}, {"SSEType", &kEncryptionType}, {"KMSMasterKeyId", &kAnyText}};
constexpr Shape kEncryption = structure(kEncryptionMembers);
constexpr MemberShape kLocalIndexMembers[] = {{"IndexName", &kName, true},
                                              {"KeySchema", &kKeySchema, true},
                                              {"Projection", &kProjection, true}};
constexpr Shape kLocalIndex = structure(kLocalIndexMembers);
constexpr Shape kLocalIndexes = list_of(kLocalIndex);
constexpr MemberShape kGlobalIndexMembers[] = {
    {"IndexName", &kName, true},        {"KeySchema", &kKeySchema, true},
    {"Projection", &kProjection, true}, {"ProvisionedThroughput", &kThroughput},
    {"OnDemandThroughput", &kOnDemand}, {"WarmThroughput", &kWarm}};
constexpr Shape kGlobalIndex = structure(kGlobalIndexMembers);
constexpr Shape kGlobalIndexes = list_of(kGlobalIndex);
constexpr MemberShape kVectorAttributeMembers[] = {{"AttributeName", &kAttributeName, true}};
constexpr Shape kVectorAttribute = structure(kVectorAttributeMembers);
constexpr std::string_view kSearchTypes[] = {"HASH", "INLINE_FILTER"};
constexpr Shape kSearchType = one_of(kSearchTypes);
constexpr MemberShape kSearchElementMembers[] = {{"AttributeName", &kAttributeName, true},
                                                 {"SearchSchemaElementType", &kSearchType, true}};
constexpr Shape kSearchElement = structure(kSearchElementMembers);
constexpr Shape kSearchSchema = list_of(kSearchElement, 1);
constexpr Shape kDimensions{.kind = kLong, .least = 1};
constexpr std::string_view kDistances[] = {"DOT_PRODUCT", "COSINE", "EUCLIDEAN"};
constexpr Shape kDistance = one_of(kDistances);
constexpr MemberShape kVectorIndexMembers[] = {
    {"IndexName", &kName, true},        {"VectorAttribute", &kVectorAttribute, true},
    {"SearchSchema", &kSearchSchema},   {"Projection", &kProjection, true},
    {"Dimensions", &kDimensions, true}, {"DistanceFunction", &kDistance, true}};
constexpr Shape kVectorIndex = structure(kVectorIndexMembers);
constexpr Shape kVectorIndexes = list_of(kVectorIndex);

// ---- Backups

constexpr MemberShape kCreateBackupMembers[] = {{"TableName", &kTableOrArn, true},
                                                {"BackupName", &kName, true}};
constexpr MemberShape kBackupArnMembers[] = {{"BackupArn", &kArn, true}};
constexpr std::string_view kBackupTypes[] = {"USER", "SYSTEM", "AWS_BACKUP", "ALL"};
constexpr Shape kBackupType = one_of(kBackupTypes);
constexpr MemberShape kListBackupsMembers[] = {
    {"TableName", &kTableOrArn},          {"Limit", &kHundred},
    {"TimeRangeLowerBound", &kTimestamp}, {"TimeRangeUpperBound", &kTimestamp},
    {"ExclusiveStartBackupArn", &kArn},   {"BackupType", &kBackupType}};
constexpr MemberShape kRestoreMembers[] = {{"TargetTableName", &kName, true},
                                           {"BackupArn", &kArn, true},
                                           {"BillingModeOverride", &kBillingMode},
                                           {"GlobalSecondaryIndexOverride", &kGlobalIndexes},
                                           {"LocalSecondaryIndexOverride", &kLocalIndexes},
                                           {"ProvisionedThroughputOverride", &kThroughput},
                                           {"VectorIndexOverride", &kVectorIndexes},
                                           {"OnDemandThroughputOverride", &kOnDemand},
                                           {"SSESpecificationOverride", &kEncryption}};
constexpr MemberShape kRestoreToTimeMembers[] = {{"SourceTableArn", &kTableOrArn},
                                                 {"SourceTableName", &kTableOrArn},
                                                 {"TargetTableName", &kName, true},
                                                 {"UseLatestRestorableTime", &kFlag},
                                                 {"RestoreDateTime", &kTimestamp},
                                                 {"BillingModeOverride", &kBillingMode},
                                                 {"GlobalSecondaryIndexOverride", &kGlobalIndexes},
                                                 {"LocalSecondaryIndexOverride", &kLocalIndexes},
                                                 {"ProvisionedThroughputOverride", &kThroughput},
                                                 {"VectorIndexOverride", &kVectorIndexes},
                                                 {"OnDemandThroughputOverride", &kOnDemand},
                                                 {"SSESpecificationOverride", &kEncryption}};
constexpr MemberShape kTableNameMembers[] = {{"TableName", &kTableOrArn, true}};
constexpr Shape kRecoveryDays{.kind = kInteger, .least = 1, .most = 35};
constexpr MemberShape kRecoveryMembers[] = {{"PointInTimeRecoveryEnabled", &kFlag, true},
                                            {"RecoveryPeriodInDays", &kRecoveryDays}};
constexpr Shape kRecovery = structure(kRecoveryMembers);
constexpr MemberShape kUpdateContinuousMembers[] = {
    {"TableName", &kTableOrArn, true}, {"PointInTimeRecoverySpecification", &kRecovery, true}};

// ---- Global tables and auto scaling

constexpr MemberShape kRegionMembers[] = {{"RegionName", &kAnyText}};
constexpr Shape kReplica = structure(kRegionMembers);
constexpr Shape kReplicas = list_of(kReplica);
constexpr MemberShape kGivenRegionMembers[] = {{"RegionName", &kAnyText, true}};
constexpr Shape kGivenRegion = structure(kGivenRegionMembers);
constexpr MemberShape kReplicaUpdateMembers[] = {{"Create", &kGivenRegion},
                                                 {"Delete", &kGivenRegion}};
constexpr Shape kReplicaUpdate = structure(kReplicaUpdateMembers);
constexpr Shape kReplicaUpdates = list_of(kReplicaUpdate);
constexpr MemberShape kCreateGlobalTableMembers[] = {{"GlobalTableName", &kName, true},
                                                     {"ReplicationGroup", &kReplicas, true}};
constexpr MemberShape kGlobalTableNameMembers[] = {{"GlobalTableName", &kName, true}};
constexpr MemberShape kListGlobalTablesMembers[] = {
    {"ExclusiveStartGlobalTableName", &kName}, {"Limit", &kPositive}, {"RegionName", &kAnyText}};
constexpr MemberShape kUpdateGlobalTableMembers[] = {{"GlobalTableName", &kName, true},
                                                     {"ReplicaUpdates", &kReplicaUpdates, true}};
constexpr MemberShape kTargetMembers[] = {{"DisableScaleIn", &kFlag},
                                          {"ScaleInCooldown", &kSeconds},
                                          {"ScaleOutCooldown", &kSeconds},
                                          {"TargetValue", &kDouble, true}};
constexpr Shape kTarget = structure(kTargetMembers);
constexpr Shape kPolicyName{.least = 1, .most = 256};
constexpr MemberShape kScalingPolicyMembers[] = {
    {"PolicyName", &kPolicyName}, {"TargetTrackingScalingPolicyConfiguration", &kTarget, true}};
constexpr Shape kScalingPolicy = structure(kScalingPolicyMembers);
constexpr Shape kRoleArn{.least = 1, .most = 1600};
constexpr MemberShape kScalingMembers[] = {{"MinimumUnits", &kUnits},
                                           {"MaximumUnits", &kUnits},
                                           {"AutoScalingDisabled", &kFlag},
                                           {"AutoScalingRoleArn", &kRoleArn},
                                           {"ScalingPolicyUpdate", &kScalingPolicy}};
constexpr Shape kScaling = structure(kScalingMembers);
constexpr MemberShape kGlobalIndexSettingsMembers[] = {
    {"IndexName", &kName, true},
    {"ProvisionedWriteCapacityUnits", &kUnits},
    {"ProvisionedWriteCapacityAutoScalingSettingsUpdate", &kScaling}};
constexpr Shape kGlobalIndexSettings = structure(kGlobalIndexSettingsMembers);
constexpr Shape kGlobalIndexSettingsList = list_of(kGlobalIndexSettings, 1, 20);
constexpr MemberShape kReplicaIndexSettingsMembers[] = {
    {"IndexName", &kName, true},
    {"ProvisionedReadCapacityUnits", &kUnits},
    {"ProvisionedReadCapacityAutoScalingSettingsUpdate", &kScaling}};
constexpr Shape kReplicaIndexSettings = structure(kReplicaIndexSettingsMembers);
constexpr Shape kReplicaIndexSettingsList = list_of(kReplicaIndexSettings, 1, 20);
constexpr MemberShape kReplicaSettingsMembers[] = {
    {"RegionName", &kAnyText, true},
    {"ReplicaProvisionedReadCapacityUnits", &kUnits},
    {"ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate", &kScaling},
    {"ReplicaGlobalSecondaryIndexSettingsUpdate", &kReplicaIndexSettingsList},
    {"ReplicaTableClass", &kTableClass}};
constexpr Shape kReplicaSettings = structure(kReplicaSettingsMembers);
constexpr Shape kReplicaSettingsList = list_of(kReplicaSettings, 1, 50);
constexpr MemberShape kUpdateGlobalTableSettingsMembers[] = {
    {"GlobalTableName", &kName, true},
    {"GlobalTableBillingMode", &kBillingMode},
    {"GlobalTableProvisionedWriteCapacityUnits", &kUnits},
    {"GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate", &kScaling},
    {"GlobalTableGlobalSecondaryIndexSettingsUpdate", &kGlobalIndexSettingsList},
    {"ReplicaSettingsUpdate", &kReplicaSettingsList}};
constexpr MemberShape kIndexScalingMembers[] = {
    {"IndexName", &kName}, {"ProvisionedWriteCapacityAutoScalingUpdate", &kScaling}};
constexpr Shape kIndexScaling = structure(kIndexScalingMembers);
constexpr Shape kIndexScalings = list_of(kIndexScaling, 1);
constexpr MemberShape kReplicaIndexScalingMembers[] = {
    {"IndexName", &kName}, {"ProvisionedReadCapacityAutoScalingUpdate", &kScaling}};
constexpr Shape kReplicaIndexScaling = structure(kReplicaIndexScalingMembers);
constexpr Shape kReplicaIndexScalings = list_of(kReplicaIndexScaling);
constexpr MemberShape kReplicaScalingMembers[] = {
    {"RegionName", &kAnyText, true},
    {"ReplicaGlobalSecondaryIndexUpdates", &kReplicaIndexScalings},
    {"ReplicaProvisionedReadCapacityAutoScalingUpdate", &kScaling}};
constexpr Shape kReplicaScaling = structure(kReplicaScalingMembers);
constexpr Shape kReplicaScalings = list_of(kReplicaScaling, 1);
constexpr MemberShape kUpdateAutoScalingMembers[] = {
    {"TableName", &kTableOrArn, true},
    {"GlobalSecondaryIndexUpdates", &kIndexScalings},
    {"ProvisionedWriteCapacityAutoScalingUpdate", &kScaling},
    {"ReplicaUpdates", &kReplicaScalings}};

// ---- Kinesis and contributor insights

constexpr std::string_view kPrecisions[] = {"MILLISECOND", "MICROSECOND"};
constexpr Shape kPrecision = one_of(kPrecisions);
constexpr MemberShape kKinesisOptionMembers[] = {
    {"ApproximateCreationDateTimePrecision", &kPrecision}};
constexpr Shape kKinesisOptions = structure(kKinesisOptionMembers);
constexpr MemberShape kKinesisMembers[] = {
    {"TableName", &kTableOrArn, true},
    {"StreamArn", &kArn, true},
    {"EnableKinesisStreamingConfiguration", &kKinesisOptions},
    {"UpdateKinesisStreamingConfiguration", &kKinesisOptions}};
constexpr std::string_view kInsightsActions[] = {"ENABLE", "DISABLE"};
constexpr Shape kInsightsAction = one_of(kInsightsActions);
constexpr std::string_view kInsightsModes[] = {"ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"};
constexpr Shape kInsightsMode = one_of(kInsightsModes);
constexpr MemberShape kDescribeInsightsMembers[] = {{"TableName", &kTableOrArn, true},
                                                    {"IndexName", &kName}};
constexpr MemberShape kListInsightsMembers[] = {
    {"TableName", &kTableOrArn}, {"NextToken", &kAnyText}, {"MaxResults", &kUpToHundred}};
constexpr MemberShape kUpdateInsightsMembers[] = {
    {"TableName", &kTableOrArn, true},
    {"IndexName", &kName},
    {"ContributorInsightsAction", &kInsightsAction, true},
    {"ContributorInsightsMode", &kInsightsMode}};

// ---- Exports and imports

constexpr std::string_view kExportFormats[] = {"DYNAMODB_JSON", "ION"};
constexpr Shape kExportFormat = one_of(kExportFormats);
constexpr std::string_view kExportTypes[] = {"FULL_EXPORT", "INCREMENTAL_EXPORT"};
constexpr Shape kExportType = one_of(kExportTypes);
constexpr std::string_view kExportViews[] = {"NEW_IMAGE", "NEW_AND_OLD_IMAGES"};
constexpr Shape kExportView = one_of(kExportViews);
constexpr MemberShape kIncrementMembers[] = {{"ExportFromTime", &kTimestamp},
                                             {"ExportToTime", &kTimestamp},
                                             {"ExportViewType", &kExportView}};
constexpr Shape kIncrement = structure(kIncrementMembers);
constexpr Shape kAnyJson{.kind = kAnything};
constexpr Shape kNames{.kind = kMap, .element = &kAnyText};
constexpr Shape kValues{.kind = kMap, .element = &kAnyJson};
constexpr MemberShape kFilterMembers[] = {{"FilterExpression", &kAnyText},
                                          {"ProjectionExpression", &kAnyText},
                                          {"KeyConditionExpression", &kAnyText},
                                          {"ExpressionAttributeNames", &kNames},
                                          {"ExpressionAttributeValues", &kValues}};
constexpr Shape kFilter = structure(kFilterMembers);
constexpr MemberShape kExportMembers[] = {{"TableArn", &kResourceArn, true},
                                          {"ExportTime", &kTimestamp},
                                          {"ClientToken", &kToken},
                                          {"S3Bucket", &kBucket, true},
                                          {"S3BucketOwner", &kAccount},
                                          {"S3Prefix", &kPrefix},
                                          {"S3SseAlgorithm", &kEncryptionType},
                                          {"S3SseKmsKeyId", &kKeyId},
                                          {"ExportFormat", &kExportFormat},
                                          {"ExportType", &kExportType},
                                          {"IncrementalExportSpecification", &kIncrement},
                                          {"FilterSpecification", &kFilter}};
constexpr MemberShape kExportArnMembers[] = {{"ExportArn", &kArn, true}};
constexpr MemberShape kListExportsMembers[] = {
    {"TableArn", &kResourceArn}, {"MaxResults", &kTwentyFive}, {"NextToken", &kAnyText}};
constexpr MemberShape kSourceMembers[] = {
    {"S3BucketOwner", &kAccount}, {"S3Bucket", &kBucket, true}, {"S3KeyPrefix", &kPrefix}};
constexpr Shape kSource = structure(kSourceMembers);
constexpr std::string_view kInputFormats[] = {"DYNAMODB_JSON", "ION", "CSV"};
constexpr Shape kInputFormat = one_of(kInputFormats);
constexpr std::string_view kCompressions[] = {"GZIP", "ZSTD", "NONE"};
constexpr Shape kCompression = one_of(kCompressions);
constexpr Shape kDelimiter{.least = 1, .most = 1, .pattern = "[,;:|\\t ]", .matches = is_delimiter};
constexpr Shape kHeader{.least = 1,
                        .most = 65536,
                        .pattern = "[\\x20-\\x21\\x23-\\x2B\\x2D-\\x7E]*",
                        .matches = is_header};
constexpr Shape kHeaders = list_of(kHeader, 1, 255);
constexpr MemberShape kCsvMembers[] = {{"Delimiter", &kDelimiter}, {"HeaderList", &kHeaders}};
constexpr Shape kCsv = structure(kCsvMembers);
constexpr MemberShape kInputOptionMembers[] = {{"Csv", &kCsv}};
constexpr Shape kInputOptions = structure(kInputOptionMembers);
constexpr MemberShape kTableParameterMembers[] = {{"TableName", &kName, true},
                                                  {"AttributeDefinitions", &kDefinitions, true},
                                                  {"KeySchema", &kKeySchema, true},
                                                  {"BillingMode", &kBillingMode},
                                                  {"ProvisionedThroughput", &kThroughput},
                                                  {"OnDemandThroughput", &kOnDemand},
                                                  {"SSESpecification", &kEncryption},
                                                  {"GlobalSecondaryIndexes", &kGlobalIndexes},
                                                  {"VectorIndexes", &kVectorIndexes}};
constexpr Shape kTableParameters = structure(kTableParameterMembers);
constexpr MemberShape kImportMembers[] = {{"ClientToken", &kToken},
                                          {"S3BucketSource", &kSource, true},
                                          {"InputFormat", &kInputFormat, true},
                                          {"InputFormatOptions", &kInputOptions},
                                          {"InputCompressionType", &kCompression},
                                          {"TableCreationParameters", &kTableParameters, true}};
constexpr MemberShape kImportArnMembers[] = {{"ImportArn", &kArn, true}};
constexpr MemberShape kListImportsMembers[] = {
    {"TableArn", &kResourceArn}, {"PageSize", &kTwentyFive}, {"NextToken", &kAnyText}};

// ---- Bulk operations

constexpr std::string_view kBulkFormats[] = {"DYNAMODB_JSON", "ION"};
constexpr Shape kBulkFormat = one_of(kBulkFormats);
constexpr MemberShape kBulkInputMembers[] = {{"S3BucketOwner", &kAccount},
                                             {"S3Bucket", &kBucket, true},
                                             {"S3KeyPrefix", &kPrefix},
                                             {"InputFormat", &kBulkFormat, true},
                                             {"InputCompressionType", &kCompression}};
constexpr Shape kBulkInput = structure(kBulkInputMembers);
constexpr std::string_view kOutputTypes[] = {"ERROR", "CONDITION_CHECK_FAILURE"};
constexpr Shape kOutputType = one_of(kOutputTypes);
constexpr Shape kOutputTypeList = list_of(kOutputType);
constexpr MemberShape kBulkOutputMembers[] = {
    {"S3BucketOwner", &kAccount}, {"S3Bucket", &kBucket},
    {"S3KeyPrefix", &kPrefix},    {"S3SseAlgorithm", &kEncryptionType},
    {"S3SseKmsKeyId", &kKeyId},   {"OutputType", &kOutputTypeList, true}};
constexpr Shape kBulkOutput = structure(kBulkOutputMembers);
constexpr Shape kBulkRate{.kind = kLong, .least = 1024};
constexpr std::string_view kPerformanceTiers[] = {"STANDARD", "ACCELERATED"};
constexpr Shape kPerformanceTier = one_of(kPerformanceTiers);
constexpr MemberShape kStartBulkMembers[] = {{"ClientToken", &kToken},
                                             {"InputS3Configuration", &kBulkInput, true},
                                             {"OutputS3Configuration", &kBulkOutput, true},
                                             {"TableName", &kTableOrArn, true},
                                             {"MaxWriteRequestUnits", &kBulkRate},
                                             {"PerformanceTier", &kPerformanceTier}};
constexpr MemberShape kBulkArnMembers[] = {{"BulkOperationArn", &kArn, true}};
constexpr Shape kBulkPageToken{
    .least = 1, .most = 1024, .pattern = "([0-9a-f]{16})+", .matches = is_page_token};
constexpr MemberShape kListBulkMembers[] = {{"MaxResults", &kTwentyFive},
                                            {"NextToken", &kBulkPageToken}};

}  // namespace

constexpr Shape kNothing = structure({});

constexpr Shape kTagResource = structure(kTagResourceMembers);
constexpr Shape kUntagResource = structure(kUntagResourceMembers);
constexpr Shape kListTagsOfResource = structure(kListTagsMembers);
constexpr Shape kPutResourcePolicy = structure(kPutPolicyMembers);
constexpr Shape kGetResourcePolicy = structure(kGetPolicyMembers);
constexpr Shape kDeleteResourcePolicy = structure(kDeletePolicyMembers);

constexpr Shape kCreateBackup = structure(kCreateBackupMembers);
constexpr Shape kBackupArn = structure(kBackupArnMembers);
constexpr Shape kListBackups = structure(kListBackupsMembers);
constexpr Shape kRestoreTableFromBackup = structure(kRestoreMembers);
constexpr Shape kTableName = structure(kTableNameMembers);
constexpr Shape kUpdateContinuousBackups = structure(kUpdateContinuousMembers);
constexpr Shape kRestoreTableToPointInTime = structure(kRestoreToTimeMembers);

constexpr Shape kCreateGlobalTable = structure(kCreateGlobalTableMembers);
constexpr Shape kGlobalTableName = structure(kGlobalTableNameMembers);
constexpr Shape kListGlobalTables = structure(kListGlobalTablesMembers);
constexpr Shape kUpdateGlobalTable = structure(kUpdateGlobalTableMembers);
constexpr Shape kUpdateGlobalTableSettings = structure(kUpdateGlobalTableSettingsMembers);
constexpr Shape kKinesisDestination = structure(kKinesisMembers);
constexpr Shape kDescribeContributorInsights = structure(kDescribeInsightsMembers);
constexpr Shape kListContributorInsights = structure(kListInsightsMembers);
constexpr Shape kUpdateContributorInsights = structure(kUpdateInsightsMembers);
constexpr Shape kUpdateTableReplicaAutoScaling = structure(kUpdateAutoScalingMembers);

constexpr Shape kExportTableToPointInTime = structure(kExportMembers);
constexpr Shape kExportArn = structure(kExportArnMembers);
constexpr Shape kListExports = structure(kListExportsMembers);
constexpr Shape kImportTable = structure(kImportMembers);
constexpr Shape kImportArn = structure(kImportArnMembers);
constexpr Shape kListImports = structure(kListImportsMembers);
constexpr Shape kStartBulkPutItems = structure(kStartBulkMembers);
constexpr Shape kBulkOperationArn = structure(kBulkArnMembers);
constexpr Shape kListBulkOperations = structure(kListBulkMembers);

}  // namespace stator::shapes
