// SPDX-License-Identifier: Apache-2.0
// The names of the API's enumerations. One table per enumeration serves reading, writing and
// messages; its order is that of DynamoDB's messages.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stator/client.h"
#include "stator/requests.h"
#include "stator/streams.h"

namespace stator::wire {

enum class ConditionalOperator { kAnd, kOr };
enum class AttributeAction { kAdd, kPut, kDelete };
enum class ComparisonOperator {
  kEq,
  kNe,
  kIn,
  kLe,
  kLt,
  kGe,
  kGt,
  kBetween,
  kNotNull,
  kNull,
  kContains,
  kNotContains,
  kBeginsWith
};

template <class E>
struct EnumName {
  E value;
  std::string_view name;
};

// One overload per enumeration; the argument only selects it.
std::span<const EnumName<ReturnValues>> names_of(ReturnValues);
std::span<const EnumName<ReturnConsumedCapacity>> names_of(ReturnConsumedCapacity);
std::span<const EnumName<ReturnItemCollectionMetrics>> names_of(ReturnItemCollectionMetrics);
std::span<const EnumName<ReturnValuesOnConditionCheckFailure>> names_of(
    ReturnValuesOnConditionCheckFailure);
std::span<const EnumName<Select>> names_of(Select);
std::span<const EnumName<ScalarType>> names_of(ScalarType);
std::span<const EnumName<KeyType>> names_of(KeyType);
std::span<const EnumName<ProjectionType>> names_of(ProjectionType);
std::span<const EnumName<BillingMode>> names_of(BillingMode);
std::span<const EnumName<TableClass>> names_of(TableClass);
std::span<const EnumName<TableStatus>> names_of(TableStatus);
std::span<const EnumName<EncryptionType>> names_of(EncryptionType);
std::span<const EnumName<SearchSchemaElementType>> names_of(SearchSchemaElementType);
std::span<const EnumName<VectorDistanceFunction>> names_of(VectorDistanceFunction);
std::span<const EnumName<TimeToLiveStatus>> names_of(TimeToLiveStatus);
std::span<const EnumName<StreamViewType>> names_of(StreamViewType);
std::span<const EnumName<StreamStatus>> names_of(StreamStatus);
std::span<const EnumName<ShardIteratorType>> names_of(ShardIteratorType);
std::span<const EnumName<ShardFilterType>> names_of(ShardFilterType);
std::span<const EnumName<StreamEvent>> names_of(StreamEvent);
std::span<const EnumName<ConditionalOperator>> names_of(ConditionalOperator);
std::span<const EnumName<AttributeAction>> names_of(AttributeAction);
std::span<const EnumName<ComparisonOperator>> names_of(ComparisonOperator);

// A projection without a type, which is checked after the keys of its index.
inline constexpr auto kNoProjectionType = static_cast<ProjectionType>(-1);

// Valid for the lifetime of the program. Empty if the table does not have the value.
template <class E>
std::string_view enum_name(E value) {
  for (const EnumName<E>& entry : names_of(value)) {
    if (entry.value == value) return entry.name;
  }
  return {};
}

// Case-sensitive. Absent if no value has this name.
template <class E>
std::optional<E> enum_from_name(std::string_view name) {
  for (const EnumName<E>& entry : names_of(E{})) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

// All names, as in DynamoDB's messages: "[HASH, RANGE]".
template <class E>
std::string enum_set_text() {
  std::string text = "[";
  for (const EnumName<E>& entry : names_of(E{})) {
    if (text.size() > 1) text += ", ";
    text += entry.name;
  }
  return text + "]";
}

}  // namespace stator::wire
