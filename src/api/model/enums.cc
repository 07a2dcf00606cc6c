// SPDX-License-Identifier: Apache-2.0
#include "api/model/enums.h"

namespace stator::wire {

std::span<const EnumName<ReturnValues>> names_of(ReturnValues) {
  static constexpr EnumName<ReturnValues> kNames[] = {
      {ReturnValues::kAllNew, "ALL_NEW"},         {ReturnValues::kUpdatedOld, "UPDATED_OLD"},
      {ReturnValues::kAllOld, "ALL_OLD"},         {ReturnValues::kNone, "NONE"},
      {ReturnValues::kUpdatedNew, "UPDATED_NEW"},
  };
  return kNames;
}

std::span<const EnumName<ReturnConsumedCapacity>> names_of(ReturnConsumedCapacity) {
  static constexpr EnumName<ReturnConsumedCapacity> kNames[] = {
      {ReturnConsumedCapacity::kIndexes, "INDEXES"},
      {ReturnConsumedCapacity::kTotal, "TOTAL"},
      {ReturnConsumedCapacity::kNone, "NONE"},
  };
  return kNames;
}

std::span<const EnumName<ReturnItemCollectionMetrics>> names_of(ReturnItemCollectionMetrics) {
  static constexpr EnumName<ReturnItemCollectionMetrics> kNames[] = {
      {ReturnItemCollectionMetrics::kSize, "SIZE"},
      {ReturnItemCollectionMetrics::kNone, "NONE"},
  };
  return kNames;
}

std::span<const EnumName<ReturnValuesOnConditionCheckFailure>> names_of(
    ReturnValuesOnConditionCheckFailure) {
  static constexpr EnumName<ReturnValuesOnConditionCheckFailure> kNames[] = {
      {ReturnValuesOnConditionCheckFailure::kAllOld, "ALL_OLD"},
      {ReturnValuesOnConditionCheckFailure::kNone, "NONE"},
  };
  return kNames;
}

std::span<const EnumName<Select>> names_of(Select) {
  static constexpr EnumName<Select> kNames[] = {
      {Select::kSpecificAttributes, "SPECIFIC_ATTRIBUTES"},
      {Select::kCount, "COUNT"},
      {Select::kAllAttributes, "ALL_ATTRIBUTES"},
      {Select::kAllProjectedAttributes, "ALL_PROJECTED_ATTRIBUTES"},
  };
  return kNames;
}

std::span<const EnumName<ScalarType>> names_of(ScalarType) {
  static constexpr EnumName<ScalarType> kNames[] = {
      {ScalarType::kB, "B"}, {ScalarType::kN, "N"}, {ScalarType::kS, "S"}};
  return kNames;
}

std::span<const EnumName<KeyType>> names_of(KeyType) {
  static constexpr EnumName<KeyType> kNames[] = {{KeyType::kHash, "HASH"},
                                                 {KeyType::kRange, "RANGE"}};
  return kNames;
}

std::span<const EnumName<ProjectionType>> names_of(ProjectionType) {
  static constexpr EnumName<ProjectionType> kNames[] = {
      {ProjectionType::kAll, "ALL"},
      {ProjectionType::kInclude, "INCLUDE"},
      {ProjectionType::kKeysOnly, "KEYS_ONLY"},
  };
  return kNames;
}

std::span<const EnumName<BillingMode>> names_of(BillingMode) {
  static constexpr EnumName<BillingMode> kNames[] = {
      {BillingMode::kProvisioned, "PROVISIONED"},
      {BillingMode::kPayPerRequest, "PAY_PER_REQUEST"},
  };
  return kNames;
}

std::span<const EnumName<TableClass>> names_of(TableClass) {
  static constexpr EnumName<TableClass> kNames[] = {
      {TableClass::kStandard, "STANDARD"},
      {TableClass::kStandardInfrequentAccess, "STANDARD_INFREQUENT_ACCESS"},
  };
  return kNames;
}

std::span<const EnumName<TableStatus>> names_of(TableStatus) {
  static constexpr EnumName<TableStatus> kNames[] = {
      {TableStatus::kCreating, "CREATING"},
      {TableStatus::kUpdating, "UPDATING"},
      {TableStatus::kDeleting, "DELETING"},
      {TableStatus::kActive, "ACTIVE"},
  };
  return kNames;
}

std::span<const EnumName<EncryptionType>> names_of(EncryptionType) {
  static constexpr EnumName<EncryptionType> kNames[] = {{EncryptionType::kAes256, "AES256"},
                                                        {EncryptionType::kKms, "KMS"}};
  return kNames;
}

std::span<const EnumName<SearchSchemaElementType>> names_of(SearchSchemaElementType) {
  static constexpr EnumName<SearchSchemaElementType> kNames[] = {
      {SearchSchemaElementType::kHash, "HASH"},
      {SearchSchemaElementType::kInlineFilter, "INLINE_FILTER"},
  };
  return kNames;
}

std::span<const EnumName<VectorDistanceFunction>> names_of(VectorDistanceFunction) {
  static constexpr EnumName<VectorDistanceFunction> kNames[] = {
      {VectorDistanceFunction::kDotProduct, "DOT_PRODUCT"},
      {VectorDistanceFunction::kCosine, "COSINE"},
      {VectorDistanceFunction::kEuclidean, "EUCLIDEAN"},
  };
  return kNames;
}

std::span<const EnumName<TimeToLiveStatus>> names_of(TimeToLiveStatus) {
  static constexpr EnumName<TimeToLiveStatus> kNames[] = {
      {TimeToLiveStatus::kEnabling, "ENABLING"},
      {TimeToLiveStatus::kDisabling, "DISABLING"},
      {TimeToLiveStatus::kEnabled, "ENABLED"},
      {TimeToLiveStatus::kDisabled, "DISABLED"},
  };
  return kNames;
}

std::span<const EnumName<StreamViewType>> names_of(StreamViewType) {
  static constexpr EnumName<StreamViewType> kNames[] = {
      {StreamViewType::kNewImage, "NEW_IMAGE"},
      {StreamViewType::kOldImage, "OLD_IMAGE"},
      {StreamViewType::kNewAndOldImages, "NEW_AND_OLD_IMAGES"},
      {StreamViewType::kKeysOnly, "KEYS_ONLY"},
  };
  return kNames;
}

std::span<const EnumName<StreamStatus>> names_of(StreamStatus) {
  static constexpr EnumName<StreamStatus> kNames[] = {
      {StreamStatus::kEnabling, "ENABLING"},
      {StreamStatus::kEnabled, "ENABLED"},
      {StreamStatus::kDisabling, "DISABLING"},
      {StreamStatus::kDisabled, "DISABLED"},
  };
  return kNames;
}

std::span<const EnumName<ShardIteratorType>> names_of(ShardIteratorType) {
  static constexpr EnumName<ShardIteratorType> kNames[] = {
      {ShardIteratorType::kTrimHorizon, "TRIM_HORIZON"},
      {ShardIteratorType::kLatest, "LATEST"},
      {ShardIteratorType::kAtSequenceNumber, "AT_SEQUENCE_NUMBER"},
      {ShardIteratorType::kAfterSequenceNumber, "AFTER_SEQUENCE_NUMBER"},
      {ShardIteratorType::kAtTimestamp, "AT_TIMESTAMP"},
  };
  return kNames;
}

std::span<const EnumName<ShardFilterType>> names_of(ShardFilterType) {
  static constexpr EnumName<ShardFilterType> kNames[] = {
      {ShardFilterType::kChildShards, "CHILD_SHARDS"}};
  return kNames;
}

std::span<const EnumName<StreamEvent>> names_of(StreamEvent) {
  static constexpr EnumName<StreamEvent> kNames[] = {
      {StreamEvent::kInsert, "INSERT"},
      {StreamEvent::kModify, "MODIFY"},
      {StreamEvent::kRemove, "REMOVE"},
  };
  return kNames;
}

std::span<const EnumName<ConditionalOperator>> names_of(ConditionalOperator) {
  static constexpr EnumName<ConditionalOperator> kNames[] = {{ConditionalOperator::kOr, "OR"},
                                                             {ConditionalOperator::kAnd, "AND"}};
  return kNames;
}

std::span<const EnumName<AttributeAction>> names_of(AttributeAction) {
  static constexpr EnumName<AttributeAction> kNames[] = {{AttributeAction::kAdd, "ADD"},
                                                         {AttributeAction::kDelete, "DELETE"},
                                                         {AttributeAction::kPut, "PUT"}};
  return kNames;
}

std::span<const EnumName<ComparisonOperator>> names_of(ComparisonOperator) {
  static constexpr EnumName<ComparisonOperator> kNames[] = {
      {ComparisonOperator::kIn, "IN"},
      {ComparisonOperator::kNull, "NULL"},
      {ComparisonOperator::kBetween, "BETWEEN"},
      {ComparisonOperator::kLt, "LT"},
      {ComparisonOperator::kNotContains, "NOT_CONTAINS"},
      {ComparisonOperator::kEq, "EQ"},
      {ComparisonOperator::kGt, "GT"},
      {ComparisonOperator::kNotNull, "NOT_NULL"},
      {ComparisonOperator::kNe, "NE"},
      {ComparisonOperator::kLe, "LE"},
      {ComparisonOperator::kBeginsWith, "BEGINS_WITH"},
      {ComparisonOperator::kGe, "GE"},
      {ComparisonOperator::kContains, "CONTAINS"},
  };
  return kNames;
}

}  // namespace stator::wire
