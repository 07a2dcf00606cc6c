// SPDX-License-Identifier: Apache-2.0
// DynamoDB's messages about requests, for errors that are found without a table. AWS changes the
// wording occasionally. fmt replaces {}. Messages about expressions are in expression/messages.h,
// those that need a table in engine/errors/messages.h. tests/layers checks that messages occur only
// in such files.
#pragma once

namespace stator::messages {

// Violations of the model, and the envelope around them.
inline constexpr const char* kOneError = "{} validation error detected: {}";
inline constexpr const char* kSeveralErrors = "{} validation errors detected: {}";
inline constexpr const char* kViolation = "Value '{}' at '{}' failed to satisfy constraint: {}";
inline constexpr const char* kUnquotedViolation = "Value at '{}' failed to satisfy constraint: {}";
inline constexpr const char* kMissing =
    "Value null at '{}' failed to satisfy constraint: Member must not be null";
inline constexpr const char* kLengthAtLeast = "Member must have length greater than or equal to {}";
inline constexpr const char* kLengthAtMost = "Member must have length less than or equal to {}";
inline constexpr const char* kValueAtLeast = "Member must have value greater than or equal to {}";
inline constexpr const char* kValueAtMost = "Member must have value less than or equal to {}";
inline constexpr const char* kEnumSet = "Member must satisfy enum value set: {}";
inline constexpr const char* kNamePattern =
    "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+";
inline constexpr const char* kTableKeys =
    "Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member "
    "must have length greater than or equal to 3, Member must satisfy regular expression pattern: "
    "[a-zA-Z0-9_.-]+]";
// The current layer's message for a wrong enumeration value. It does not name the member.
inline constexpr const char* kEnumSetAlone =
    "Failed to satisfy constraint: Member must satisfy enum value set: [{}]";
inline constexpr const char* kReturnValuesSet = "ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE";
inline constexpr const char* kConditionalOperatorSet = "ALL, OR";
inline constexpr const char* kBatchedWrites =
    "Map value must satisfy constraint: [Member must have length less than or equal to {}, Member "
    "must have length greater than or equal to 1]";

// Parameters that are absent, or not allowed together.
inline constexpr const char* kTableNameRequired =
    "The parameter 'TableName' is required but was not present in the request";
inline constexpr const char* kRequestItemsRequired =
    "The requestItems parameter is required for BatchWriteItem";
inline constexpr const char* kMixedParameters =
    "Can not use both expression and non-expression parameters in the same request: Non-expression "
    "parameters: {{{}}} Expression parameters: {{{}}}";
inline constexpr const char* kNamesWithoutExpression =
    "ExpressionAttributeNames can only be specified when using expressions";
inline constexpr const char* kValuesWithoutExpression =
    "ExpressionAttributeValues can only be specified when using expressions";
// Other layers append the list of missing expressions.
inline constexpr const char* kWithoutExpressions = "{}: {}";
inline constexpr const char* kInvalidReturnValues = "ReturnValues can only be ALL_OLD or NONE";
inline constexpr const char* kTooManyGets = "Too many items requested for the BatchGetItem call";
inline constexpr const char* kTooManyWrites =
    "Too many items requested for the BatchWriteItem call";
inline constexpr const char* kTableTwice =
    "One or more parameter values were invalid: Table names contain duplicates";
inline constexpr const char* kOneAction =
    "TransactItems can only contain one of Check, Put, Update or Delete";

// Query and Scan.
inline constexpr const char* kNoKeyCondition =
    "Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
    "request.";
inline constexpr const char* kSelectSpecific =
    "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
    "SPECIFIC_ATTRIBUTES";
inline constexpr const char* kSelectProjected =
    "ALL_PROJECTED_ATTRIBUTES can be used only when {} using an IndexName";
inline constexpr const char* kSelectCount =
    "Cannot specify the {} when choosing to get only the Count";
inline constexpr const char* kSelectOther = "Cannot specify the {} when choosing to get {}";
inline constexpr const char* kSegmentAlone =
    "The TotalSegments parameter is required but was not present in the request when Segment "
    "parameter is present";
inline constexpr const char* kTotalSegmentsAlone =
    "The Segment parameter is required but was not present in the request when parameter "
    "TotalSegments is present";
inline constexpr const char* kSegmentTooLarge =
    "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: "
    "{} is not less than TotalSegments: {}";
inline constexpr const char* kStartKeyWith = "The provided starting key is invalid: {}";

// Attribute values.
inline constexpr const char* kInvalid = "One or more parameter values were invalid: {}";
inline constexpr const char* kValueNestedTooDeeply =
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
    "beyond supported limit";
inline constexpr const char* kEmptyAttributeName = "Empty attribute name";
inline constexpr const char* kEmptyValue =
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";
inline constexpr const char* kManyTypes =
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
    "supported datatypes";
inline constexpr const char* kFalseNull =
    "One or more parameter values were invalid: Null attribute value types must have the value of "
    "true";
inline constexpr const char* kEmptyStringSet =
    "One or more parameter values were invalid: An string set  may not be empty";
inline constexpr const char* kEmptyNumberSet =
    "One or more parameter values were invalid: An number set  may not be empty";
inline constexpr const char* kEmptyBinarySet =
    "One or more parameter values were invalid: Binary sets should not be empty";
inline constexpr const char* kDuplicateStrings =
    "One or more parameter values were invalid: Input collection [{}] contains duplicates.";
inline constexpr const char* kDuplicateNumbers =
    "One or more parameter values were invalid: Input collection contains duplicates.";
inline constexpr const char* kOlderDuplicateNumbers = "Input collection contains duplicates";
inline constexpr const char* kDuplicateBinaries =
    "One or more parameter values were invalid: Input collection [{}]of type BS contains "
    "duplicates.";
inline constexpr const char* kInvalidExpressionValue =
    "ExpressionAttributeValues contains invalid value: {} for key {}";
// Only for in-process requests: JSON with such text is malformed.
inline constexpr const char* kNoUtf8 =
    "One or more parameter values were invalid: A string is not valid UTF-8";

// Legacy parameters.
inline constexpr const char* kOperatorAlone =
    "ConditionalOperator cannot be used without Filter or Expected";
inline constexpr const char* kOperatorOfOne =
    "ConditionalOperator can only be used when Filter or Expected has two or more elements";
inline constexpr const char* kConditionCount = "Conditions can be of length 1 or 2 only";
inline constexpr const char* kNotIndexable =
    "Attempted conditional constraint is not an indexable operation";
inline constexpr const char* kReversedRange =
    "The BETWEEN condition was provided a range where the lower bound is greater than the upper "
    "bound";
// These follow kInvalid.
inline constexpr const char* kOperandCount =
    "Invalid number of argument(s) for the {} ComparisonOperator";
inline constexpr const char* kOperandType =
    "ComparisonOperator {} is not valid for {} AttributeValue type";
inline constexpr const char* kOperandTypes =
    "AttributeValues inside AttributeValueList must be of same type";
inline constexpr const char* kForAttribute = "{} for Attribute: {}";
inline constexpr const char* kExistsWithOperator =
    "Exists and ComparisonOperator cannot be used together";
inline constexpr const char* kValueWithList =
    "Value and AttributeValueList cannot be used together";
inline constexpr const char* kOperandMissing =
    "Value or AttributeValueList must be used with ComparisonOperator: {}";
inline constexpr const char* kListWithoutOperator =
    "AttributeValueList can only be used with a ComparisonOperator";
inline constexpr const char* kValueOfAbsent = "Value cannot be used when Exists is false";
inline constexpr const char* kValueMissing = "Value must be provided when Exists is {}";
inline constexpr const char* kActionWithoutValue =
    "Only DELETE action is allowed when no attribute value is specified";
inline constexpr const char* kDeleteOfType =
    "DELETE action with value is not supported for the type {}";
inline constexpr const char* kAddOfType = "ADD action is not supported for the type {}";
inline constexpr const char* kAttributeTwice = "Duplicate value in attribute name: {}";

inline constexpr const char* kNotSupported =
    "One or more parameter values were invalid: {} is not supported";

// Schemas of tables and indexes.
inline constexpr const char* kKeysUndefined =
    "Invalid KeySchema: Some index key attribute have no definition";
inline constexpr const char* kFirstKeyNotHash =
    "Invalid KeySchema: The first KeySchemaElement is not a HASH key type";
inline constexpr const char* kSecondKeyNotRange =
    "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type";
inline constexpr const char* kKeyTwice =
    "Both the Hash Key and the Range Key element in the KeySchema have the same name";
inline constexpr const char* kKeySchemaElement = "KeySchemaElement(attributeName={}, keyType={})";
inline constexpr const char* kUndefinedKeys =
    "Some index key attributes are not defined in AttributeDefinitions. Keys: [{}], "
    "AttributeDefinitions: [{}]";
inline constexpr const char* kElementTwice =
    "The KeySchema contains multiple key attributes with the same name";
// These follow kInvalid.
inline constexpr const char* kHashAfterRange =
    "All HASH key attributes must precede RANGE key attributes in the KeySchema";
inline constexpr const char* kTooManyKeys =
    "The KeySchema exceeds the maximum allowed number of {} key attributes";
inline constexpr const char* kOnDemandOutOfRange =
    "Requested {} for OnDemandThroughput for {} is outside of valid range";
inline constexpr const char* kWarmBelowOnDemand =
    "Requested {} for WarmThroughput for {} is lower than initial throughput for OnDemand. See: "
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
    "on-demand-capacity-mode.html#on-demand-capacity-mode-initial";
inline constexpr const char* kWarmBelowProvisioned =
    "Requested {} for WarmThroughput for {} is lower than {} of ProvisionedThroughput";
inline constexpr const char* kWarmDecreased =
    "Requested {} for WarmThroughput for {} is lower than current WarmThroughput, decreasing "
    "WarmThroughput is not supported";
inline constexpr const char* kWarmEmpty =
    "WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified "
    "for index: {}";
inline constexpr const char* kProvisionedWithout =
    "ProvisionedThroughput must be specified when BillingMode is PROVISIONED";
inline constexpr const char* kNoIndexAction =
    "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
    "GlobalSecondaryIndexUpdate.Delete must not be null";
inline constexpr const char* kManyIndexActions =
    "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object";
inline constexpr const char* kNoIndexUpdates = "List of GlobalSecondaryIndexUpdates is empty";
inline constexpr const char* kNoDefinitions = "AttributeDefinitions is not specified for index: {}";
inline constexpr const char* kIndexChangedTwice =
    "Only one global secondary index update per index is allowed simultaneously. Index: {}";
inline constexpr const char* kOtherType =
    "Attributes cannot be redefined. Please check that your attribute has the same type as "
    "previously defined. Existing schema: {} New schema: {}";
inline constexpr const char* kOtherTypeSchema = "Schema:[{}]";
inline constexpr const char* kOtherTypeVector =
    "VectorIndexSchema:[VectorAttribute: key{{{}:L:{}}}]";
inline constexpr const char* kOtherTypeElement = "SchemaElement: key{{{}:{}:{}}}";

inline constexpr const char* kNothingToUpdate =
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
    "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
    "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, "
    "OnDemandThroughput, WarmThroughput or TableClass is required";
inline constexpr const char* kTooManyIndexesToUpdate =
    "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of {}";
inline constexpr const char* kIndexExists = "Attempting to create an index which already exists";
inline constexpr const char* kOneIndexChange =
    "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per "
    "table";
inline constexpr const char* kNoSuchIndex = "Requested resource not found";
inline constexpr const char* kSameThroughput =
    "The provisioned throughput for the {0} will not change. The requested value equals the "
    "current value. Current ReadCapacityUnits provisioned for {1}: {2}. Requested "
    "ReadCapacityUnits: {2}. Current WriteCapacityUnits provisioned for {1}: {3}. Requested "
    "WriteCapacityUnits: {3}. Refer to the Amazon DynamoDB Developer Guide for current limits and "
    "how to request higher limits.";
// These follow kInvalid. They name changes that one UpdateTable cannot combine.
inline constexpr const char* kOnlyOperation =
    "{} modification must be the only operation in the request";
inline constexpr const char* kWarmOnlyOperation =
    "WarmThroughput must be the only operation in the request";
inline constexpr const char* kWarmWithNewIndex =
    "Create global secondary index cannot be specified when updating WarmThroughput";
inline constexpr const char* kOnDemandWithOther =
    "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request";
inline constexpr const char* kStreamWithCapacity =
    "You cannot modify stream status while updating table IOPS";
inline constexpr const char* kIndexWithCapacity =
    "You cannot create or delete index while updating table IOPS";
inline constexpr const char* kIndexWithStream =
    "You cannot create or delete index while changing stream status";

inline constexpr const char* kOutOfBounds = "Given value {} for {} is out of bounds";

// These follow kInvalid.
inline constexpr const char* kPaidPerRequest =
    "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
    "PAY_PER_REQUEST";
inline constexpr const char* kThroughputMissing =
    "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
    "PROVISIONED";
inline constexpr const char* kOnDemandProvisioned =
    "{} for OnDemandThroughput{} cannot be specified when table BillingMode is PROVISIONED.";
inline constexpr const char* kNoProjectionType = "Unknown ProjectionType: null";
inline constexpr const char* kIncludesNothing =
    "ProjectionType is INCLUDE, but NonKeyAttributes is not specified";
inline constexpr const char* kIncludesMore =
    "ProjectionType is {}, but NonKeyAttributes is specified";
inline constexpr const char* kIncludedTwice = "Duplicate element in NonKeyAttributes: {}";
inline constexpr const char* kNoRangeKey =
    "Index KeySchema does not have a range key for index: {}";
inline constexpr const char* kOtherHashKey =
    "Index KeySchema does not have the same leading hash key as table KeySchema for index: {}. "
    "index hash key: {}, table hash key: {}";
inline constexpr const char* kIndexPaidPerRequest =
    "ProvisionedThroughput should not be specified for index: {} when BillingMode is "
    "PAY_PER_REQUEST";
inline constexpr const char* kIndexThroughputMissing =
    "ProvisionedThroughput must be specified for index: {}";
inline constexpr const char* kIndexThroughputNotGiven =
    "ProvisionedThroughput is not specified for index: {}";
inline constexpr const char* kNoLocalIndexes = "List of LocalSecondaryIndexes is empty";
inline constexpr const char* kNoTableRangeKey =
    "Table KeySchema does not have a range key, which is required when specifying a "
    "LocalSecondaryIndex";
inline constexpr const char* kTooManyLocalIndexes =
    "Number of LocalSecondaryIndexes exceeds per-table limit of 5";
inline constexpr const char* kNoGlobalIndexes = "List of GlobalSecondaryIndexes is empty";
inline constexpr const char* kTooManyGlobalIndexes =
    "GlobalSecondaryIndex count exceeds the per-table limit of 20";
inline constexpr const char* kNoIndexKeys = "Index KeySchema is empty";
inline constexpr const char* kNoVectorIndexes = "List of VectorIndexes is empty";
inline constexpr const char* kTooManyVectorIndexes =
    "VectorIndex count exceeds the per-table limit of 5";
inline constexpr const char* kVectorsProvisioned =
    "Vector indexes are only supported for PAY_PER_REQUEST tables";
inline constexpr const char* kDimensionsOutOfRange =
    "Number of dimensions must be between 1 and 4096 inclusive.";
inline constexpr const char* kSearchSchemaUndefined =
    "One element in SearchSchema is not defined in attribute definitions";
inline constexpr const char* kConflictingDimensions =
    "Conflicting attribute definition for '{}'. All VectorIndexes on the same vector attribute "
    "must use the same dimensions.";
inline constexpr const char* kVectorAttributeDefined =
    "Conflicting attribute definition for '{}'. An attribute cannot be defined in "
    "AttributeDefinitions when used as a VectorAttribute.";
// DynamoDB's messages for the next five errors are unknown.
inline constexpr const char* kSearchSchemaTwice =
    "Each attribute must occur once in SearchSchema. Attribute: {}";
inline constexpr const char* kSearchSchemaHashes = "SearchSchema must have at most 1 HASH element";
inline constexpr const char* kSearchSchemaFilters =
    "SearchSchema must have at most 18 INLINE_FILTER elements";
inline constexpr const char* kVectorIndexActions =
    "Exactly one of VectorIndexUpdate.Create and VectorIndexUpdate.Delete must be given";
inline constexpr const char* kNoVectorIndexUpdates = "List of VectorIndexUpdates is empty";
inline constexpr const char* kSearchVectorValues =
    "Search vector contains invalid values. All values in the search vector must be a 32-bit "
    "floating-point number attribute";
inline constexpr const char* kMissingField = "missing field `{}` at line 1 column {}";
inline constexpr const char* kTopKOutOfRange =
    "Provided TopK value '{}' is out of valid range. The value must be between 1 and 100 inclusive";
inline constexpr const char* kIndexTwice = "Duplicate index name: {}";
inline constexpr const char* kTooManyIncluded =
    "The total number of NonKeyAttributes exceeds the per-table limit of {}";
inline constexpr const char* kAttributesUnused =
    "Number of attributes in KeySchema does not exactly match number of attributes defined in "
    "AttributeDefinitions";
inline constexpr const char* kDefinitionsUnused =
    "Some AttributeDefinitions are not used. AttributeDefinitions: [{}], keys used: [{}]";
inline constexpr const char* kDefinedTwice = "Attribute Name is duplicated: {}";
// These do not follow kInvalid.
inline constexpr const char* kNullTagKey = "The Tag Key provided is invalid, Key: null";
inline constexpr const char* kNullTagValue = "The Tag Value provided is invalid, Value: null";
// This follows kInvalid.
inline constexpr const char* kUpdateOfOtherAction =
    "UpdateExpression can only be specified for an Update action";

// JSON types that the model does not allow.
inline constexpr const char* kListForBody = "Start of list found where not expected";
inline constexpr const char* kListForScalar = "Unrecognized collection type class java.lang.{}";
inline constexpr const char* kListForBytes =
    "Unrecognized collection type class java.nio.ByteBuffer";
inline constexpr const char* kListForStructure =
    "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.{}";
inline constexpr const char* kListForMap =
    "Unrecognized collection type java.util.Map<java.lang.String, {}>";
inline constexpr const char* kStructureUnexpected =
    "Start of structure or map found where not expected";
inline constexpr const char* kScalarForCollection = "Unexpected field type";
inline constexpr const char* kScalarForValue = "Unexpected value type in payload";
inline constexpr const char* kScalarForNestedCollection =
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class "
    "java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and "
    "java.lang.Class are in module java.base of loader 'bootstrap')";
inline constexpr const char* kConversion = "{} cannot be converted to {}";
inline constexpr const char* kNoBoolean = "Unexpected token received from parser";
inline constexpr const char* kNoBytes = "only base-64-encoded strings are convertible to bytes";
inline constexpr const char* kBase64Length =
    "Base64 encoded length is expected a multiple of 4 bytes but found: {}";
inline constexpr const char* kBase64Character = "Invalid Base64 character";
inline constexpr const char* kBase64End = "Invalid last non-pad Base64 character dectected";

// Streams. All but the first follow kInvalid.
inline constexpr const char* kInvalidStreamArn = "Invalid StreamArn";
inline constexpr const char* kCreatedWithoutView =
    "Table is being created with a stream enabled, UpdateViewType is required";
inline constexpr const char* kCreatedWithView =
    "Table is being created with a stream disabled, UpdateViewType should not be specified";
inline constexpr const char* kEnabledWithoutView =
    "If stream is being enabled then UpdateViewType is required";
inline constexpr const char* kDisabledWithView =
    "If stream is being disabled, then UpdateViewType must not be specified";
inline constexpr const char* kListStreamsLimit =
    "Limit cannot be greater than the maximum allowed size: 100";
inline constexpr const char* kDescribeStreamLimit = "Limit cannot be greater than the maximum: 100";
inline constexpr const char* kGetRecordsLimit = "Limit should be less than or equal to 1000";
inline constexpr const char* kShardFilterWithoutType = "ShardFilter must have a Type";
inline constexpr const char* kShardFilterWithoutShard =
    "ShardFilter of Type CHILD_SHARDS must have a ShardId";
inline constexpr const char* kSequenceNumberNeeded =
    "SequenceNumber must be passed for this iterator type";
inline constexpr const char* kSequenceNumberUnwanted =
    "SequenceNumber should not be passed for this iterator type";
inline constexpr const char* kTimestampNeeded = "Timestamp must be passed for this iterator type";
inline constexpr const char* kTimestampUnwanted =
    "Timestamp should not be passed for this iterator type";

}  // namespace stator::messages
