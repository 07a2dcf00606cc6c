// SPDX-License-Identifier: Apache-2.0
// Single items, ranges of them, and searches.
#include <algorithm>
#include <cmath>

#include "api/model/enums.h"
#include "api/model/messages.h"
#include "api/validation/attribute_check.h"
#include "api/validation/validate.h"
#include "api/validation/validate_rules.h"
#include "fmt/format.h"

namespace stator {
namespace {

constexpr int64_t kSegmentsMax = 1'000'000;
constexpr int64_t kLimitMax = INT32_MAX;
constexpr std::size_t kSearchVectorMax = 4096;
constexpr int64_t kTopKMax = 100;

// For PutItem and DeleteItem. UpdateItem accepts all values.
Result<void> check_return_values(ReturnValues values) {
  if (values == ReturnValues::kNone || values == ReturnValues::kAllOld) return {};
  return fail(Code::kValidation, counted(messages::kInvalidReturnValues));
}

template <class Request>
Result<void> check_item(const Request&, const Item& item) {
  constexpr Layer kLayer = kLayerOf<Request>;
  return worded(kLayer, check_attributes(item, kLayer));
}

// Checks the placeholders of a write.
template <class Request>
Result<void> check_placeholders_of(const Request& request, bool has_expression) {
  constexpr Layer kLayer = kLayerOf<Request>;
  return worded(kLayer,
                check_placeholders(has_expression, request.names, request.values, {}, kLayer));
}

template <class Request>
void add_range_constraints(const Request& request, Constraints& constraints) {
  constraints.item_operation_table(request.table);
  if (request.index) constraints.resource_name(*request.index, "indexName");
}

// `verb` is the operation in DynamoDB's messages: Querying, Scanning.
template <class Request>
Result<void> check_select(const Request& request, std::string_view verb) {
  if (!request.select) return {};
  const std::string_view projection = request.legacy ? "AttributesToGet" : "ProjectionExpression";
  switch (*request.select) {
    case Select::kSpecificAttributes:
      if (request.projection) return {};
      return fail(Code::kValidation, kLayerOf<Request> == Layer::kOlder
                                         ? messages::kSelectSpecific
                                         : counted(messages::kSelectSpecific));
    case Select::kAllProjectedAttributes:
      if (!request.index) {
        return fail(Code::kValidation, fmt::format(messages::kSelectProjected, verb));
      }
      break;
    case Select::kCount:
      if (!request.projection) return {};
      return fail(Code::kValidation, fmt::format(messages::kSelectCount, projection));
    case Select::kAllAttributes:
      break;
  }
  if (!request.projection) return {};
  return fail(Code::kValidation,
              fmt::format(messages::kSelectOther, projection, wire::enum_name(*request.select)));
}

Result<void> check_segments(const ScanRequest& request) {
  if (request.segment && !request.total_segments) {
    return fail(Code::kValidation, messages::kSegmentAlone);
  }
  if (!request.segment && request.total_segments) {
    return fail(Code::kValidation, messages::kTotalSegmentsAlone);
  }
  if (request.segment && *request.segment >= *request.total_segments) {
    return fail(Code::kValidation,
                fmt::format(messages::kSegmentTooLarge, *request.segment, *request.total_segments));
  }
  return {};
}

Result<void> check_start_key(const std::optional<Item>& key, Layer layer) {
  if (!key) return {};
  auto checked = check_attributes(*key, layer);
  if (checked || layer != Layer::kOlder) return checked;
  return fail(Code::kValidation, fmt::format(messages::kStartKeyWith, checked.error().message));
}

}  // namespace

Failure invalid(std::string_view text) {
  return fail(Code::kValidation, fmt::format(messages::kInvalid, text));
}

Result<void> check_placeholders(bool has_expression, const std::optional<Names>& names,
                                const std::optional<Values>& values, std::string_view absent,
                                Layer layer) {
  if (names && !has_expression) {
    return fail(Code::kValidation, messages::kNamesWithoutExpression);
  }
  if (names) {
    for (const auto& [placeholder, name] : *names) STATOR_RETURN_IF_ERROR(check_text(name));
  }
  if (values && !has_expression) {
    return fail(Code::kValidation, values_without_expression(layer, absent));
  }
  return {};
}

std::string values_without_expression(Layer layer, std::string_view absent) {
  if (layer == Layer::kCounted) return messages::kValuesWithoutExpression;
  return fmt::format(messages::kWithoutExpressions, messages::kValuesWithoutExpression, absent);
}

void add_constraints(const PutItemRequest& request, Constraints& constraints) {
  constraints.item_operation_table(request.table);
}

void add_constraints(const GetItemRequest& request, Constraints& constraints) {
  constraints.item_operation_table(request.table);
}

void add_constraints(const UpdateItemRequest& request, Constraints& constraints) {
  constraints.item_operation_table(request.table);
}

void add_constraints(const DeleteItemRequest& request, Constraints& constraints) {
  constraints.item_operation_table(request.table);
}

// Query's limit has another message than Scan's, because another layer checks it.
void add_constraints(const QueryRequest& request, Constraints& constraints) {
  add_range_constraints(request, constraints);
  if (request.limit && *request.limit < 1) {
    constraints.violated_unquoted("Limit", fmt::format(messages::kValueAtLeast, 1));
  }
}

void add_constraints(const ScanRequest& request, Constraints& constraints) {
  add_range_constraints(request, constraints);
  if (request.limit) constraints.range(*request.limit, "limit", 1, kLimitMax);
  if (request.segment) constraints.range(*request.segment, "segment", 0, kSegmentsMax - 1);
  if (request.total_segments) {
    constraints.range(*request.total_segments, "totalSegments", 1, kSegmentsMax);
  }
}

void add_constraints(const SearchVectorsRequest& request, Constraints& constraints) {
  constraints.item_operation_table(request.table);
  constraints.resource_name(request.index, "indexName");
  constraints.count(request.vector.size(), "searchVector", 1, kSearchVectorMax, "[...]");
  constraints.range(request.top_k, "topK", 1, INT64_MAX);
}

Result<void> check_parameters(const PutItemRequest& request) {
  return check_placeholders_of(request, request.condition.has_value());
}

Result<void> check_parameters(const GetItemRequest& request) {
  return check_placeholders(request.projection.has_value(), request.names);
}

Result<void> check_parameters(const UpdateItemRequest& request) {
  return check_placeholders_of(request, request.update || request.condition);
}

Result<void> check_parameters(const DeleteItemRequest& request) {
  return check_placeholders_of(request, request.condition.has_value());
}

Result<void> check_parameters(const QueryRequest& request) {
  STATOR_RETURN_IF_ERROR(check_placeholders(
      request.key_condition || request.filter || request.projection, request.names));
  return check_placeholders(request.key_condition || request.filter, {}, request.values,
                            "FilterExpression and KeyConditionExpression are null");
}

Result<void> check_parameters(const ScanRequest& request) {
  STATOR_RETURN_IF_ERROR(check_placeholders(request.filter || request.projection, request.names));
  return check_placeholders(request.filter.has_value(), {}, request.values,
                            "FilterExpression is null");
}

Result<void> validate(const PutItemRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  STATOR_RETURN_IF_ERROR(check_parameters(request));
  STATOR_RETURN_IF_ERROR(check_item(request, request.item));
  return check_return_values(request.return_values);
}

Result<void> validate(const GetItemRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  STATOR_RETURN_IF_ERROR(check_parameters(request));
  return check_item(request, request.key);
}

Result<void> validate(const UpdateItemRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  STATOR_RETURN_IF_ERROR(check_parameters(request));
  return check_item(request, request.key);
}

Result<void> validate(const DeleteItemRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  STATOR_RETURN_IF_ERROR(check_parameters(request));
  STATOR_RETURN_IF_ERROR(check_item(request, request.key));
  return check_return_values(request.return_values);
}

Result<void> validate(const QueryRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  STATOR_RETURN_IF_ERROR(check_parameters(request));
  STATOR_RETURN_IF_ERROR(check_start_key(request.exclusive_start_key, Layer::kCurrent));
  STATOR_RETURN_IF_ERROR(check_select(request, "Querying"));
  if (request.key_condition) return {};
  return fail(Code::kValidation, messages::kNoKeyCondition);
}

Result<void> validate(const ScanRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  STATOR_RETURN_IF_ERROR(check_parameters(request));
  STATOR_RETURN_IF_ERROR(check_start_key(request.exclusive_start_key, Layer::kOlder));
  STATOR_RETURN_IF_ERROR(check_select(request, "Scanning"));
  return check_segments(request);
}

Result<void> validate(const SearchVectorsRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  if (request.top_k > kTopKMax) {
    return fail(Code::kValidation, fmt::format(messages::kTopKOutOfRange, request.top_k));
  }
  if (!std::ranges::all_of(request.vector, [](float number) { return std::isfinite(number); })) {
    return fail(Code::kValidation, messages::kSearchVectorValues);
  }
  STATOR_RETURN_IF_ERROR(
      check_placeholders(request.condition || request.projection, request.names));
  return check_placeholders(request.condition.has_value(), {}, request.values,
                            "SearchConditionExpression is null");
}

}  // namespace stator
