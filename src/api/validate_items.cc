// SPDX-License-Identifier: Apache-2.0
// Single items and ranges of them.
#include "api/attribute_check.h"
#include "api/enums.h"
#include "api/validate.h"
#include "api/validate_rules.h"
#include "fmt/format.h"

namespace stator {
namespace {

constexpr int64_t kSegmentsMax = 1'000'000;
constexpr int64_t kLimitMax = INT32_MAX;

void add_table_name(const std::string& table, Constraints& constraints) {
  if (!table.empty()) constraints.table_name(table, "tableName");
}

// Only UpdateItem has images to choose from.
Result<void> check_return_values(ReturnValues values) {
  if (values == ReturnValues::kNone || values == ReturnValues::kAllOld) return {};
  return fail(Code::kValidation, "Return values set to invalid value");
}

template <class Request>
void add_range_constraints(const Request& request, Constraints& constraints) {
  add_table_name(request.table, constraints);
  if (request.index) constraints.resource_name(*request.index, "indexName");
  if (request.limit) constraints.range(*request.limit, "limit", 1, kLimitMax);
}

// `verb` is how the service speaks of the operation: Querying, Scanning.
template <class Request>
Result<void> check_select(const Request& request, std::string_view verb) {
  if (!request.select) return {};
  const std::string_view projection = request.legacy ? "AttributesToGet" : "ProjectionExpression";
  switch (*request.select) {
    case Select::kSpecificAttributes:
      if (request.projection) return {};
      return fail(Code::kValidation,
                  "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
                  "SPECIFIC_ATTRIBUTES");
    case Select::kAllProjectedAttributes:
      if (!request.index) {
        return fail(Code::kValidation,
                    fmt::format("ALL_PROJECTED_ATTRIBUTES can be used only when {} using an "
                                "IndexName",
                                verb));
      }
      break;
    case Select::kCount:
      if (!request.projection) return {};
      return fail(
          Code::kValidation,
          fmt::format("Cannot specify the {} when choosing to get only the Count", projection));
    case Select::kAllAttributes:
      break;
  }
  if (!request.projection) return {};
  return fail(Code::kValidation, fmt::format("Cannot specify the {} when choosing to get {}",
                                             projection, wire::enum_name(*request.select)));
}

Result<void> check_segments(const ScanRequest& request) {
  if (request.segment && !request.total_segments) {
    return fail(Code::kValidation,
                "The TotalSegments parameter is required but was not present in the request when "
                "Segment parameter is present");
  }
  if (!request.segment && request.total_segments) {
    return fail(Code::kValidation,
                "The Segment parameter is required but was not present in the request when "
                "parameter TotalSegments is present");
  }
  if (request.segment && *request.segment >= *request.total_segments) {
    return fail(Code::kValidation,
                fmt::format("The Segment parameter is zero-based and must be less than parameter "
                            "TotalSegments: Segment: {} is not less than TotalSegments: {}",
                            *request.segment, *request.total_segments));
  }
  return {};
}

Result<void> check_start_key(const std::optional<Item>& key) {
  if (!key) return {};
  return check_attributes(*key);
}

}  // namespace

Failure invalid(std::string_view text) {
  return fail(Code::kValidation,
              fmt::format("One or more parameter values were invalid: {}", text));
}

Result<void> check_table_given(const std::string& table) {
  if (!table.empty()) return {};
  return fail(Code::kValidation,
              "The parameter 'TableName' is required but was not present in the request");
}

Result<void> check_not_empty(bool empty, std::string_view path, std::string_view value) {
  Constraints constraints;
  if (empty) constraints.count(0, path, 1, 1, value);
  return constraints.result();
}

Result<void> check_placeholders(bool has_expression, const std::optional<Names>& names,
                                const std::optional<Values>& values, std::string_view absent) {
  if (names && !has_expression) {
    return fail(Code::kValidation,
                "ExpressionAttributeNames can only be specified when using expressions");
  }
  if (names) {
    for (const auto& [placeholder, name] : *names) STATOR_CHECK_OK(check_text(name));
  }
  if (values && !has_expression) {
    return fail(Code::kValidation,
                fmt::format("ExpressionAttributeValues can only be specified when using "
                            "expressions: {}",
                            absent));
  }
  return {};
}

void add_constraints(const PutItemRequest& request, Constraints& constraints) {
  add_table_name(request.table, constraints);
}

void add_constraints(const GetItemRequest& request, Constraints& constraints) {
  add_table_name(request.table, constraints);
}

void add_constraints(const UpdateItemRequest& request, Constraints& constraints) {
  add_table_name(request.table, constraints);
}

void add_constraints(const DeleteItemRequest& request, Constraints& constraints) {
  add_table_name(request.table, constraints);
}

void add_constraints(const QueryRequest& request, Constraints& constraints) {
  add_range_constraints(request, constraints);
}

void add_constraints(const ScanRequest& request, Constraints& constraints) {
  add_range_constraints(request, constraints);
  if (request.segment) constraints.range(*request.segment, "segment", 0, kSegmentsMax - 1);
  if (request.total_segments) {
    constraints.range(*request.total_segments, "totalSegments", 1, kSegmentsMax);
  }
}

Result<void> validate(const PutItemRequest& request) {
  STATOR_CHECK_OK(check_table_given(request.table));
  STATOR_CHECK_OK(check_constraints(request));
  STATOR_CHECK_OK(check_return_values(request.return_values));
  STATOR_CHECK_OK(check_placeholders(request.condition.has_value(), request.names, request.values,
                                     "ConditionExpression is null"));
  return check_attributes(request.item);
}

Result<void> validate(const GetItemRequest& request) {
  STATOR_CHECK_OK(check_table_given(request.table));
  STATOR_CHECK_OK(check_constraints(request));
  STATOR_CHECK_OK(check_placeholders(request.projection.has_value(), request.names));
  return check_attributes(request.key);
}

Result<void> validate(const UpdateItemRequest& request) {
  STATOR_CHECK_OK(check_table_given(request.table));
  STATOR_CHECK_OK(check_constraints(request));
  STATOR_CHECK_OK(check_placeholders(request.update || request.condition, request.names,
                                     request.values,
                                     "UpdateExpression and ConditionExpression are null"));
  return check_attributes(request.key);
}

Result<void> validate(const DeleteItemRequest& request) {
  STATOR_CHECK_OK(check_table_given(request.table));
  STATOR_CHECK_OK(check_constraints(request));
  STATOR_CHECK_OK(check_return_values(request.return_values));
  STATOR_CHECK_OK(check_placeholders(request.condition.has_value(), request.names, request.values,
                                     "ConditionExpression is null"));
  return check_attributes(request.key);
}

Result<void> validate(const QueryRequest& request) {
  STATOR_CHECK_OK(check_table_given(request.table));
  STATOR_CHECK_OK(check_constraints(request));
  STATOR_CHECK_OK(check_placeholders(request.key_condition || request.filter || request.projection,
                                     request.names));
  STATOR_CHECK_OK(check_placeholders(request.key_condition || request.filter, {}, request.values,
                                     "FilterExpression and KeyConditionExpression are null"));
  STATOR_CHECK_OK(check_select(request, "Querying"));
  if (!request.key_condition) {
    return fail(Code::kValidation,
                "Either the KeyConditions or KeyConditionExpression parameter must be specified in "
                "the request.");
  }
  return check_start_key(request.exclusive_start_key);
}

Result<void> validate(const ScanRequest& request) {
  STATOR_CHECK_OK(check_table_given(request.table));
  STATOR_CHECK_OK(check_constraints(request));
  STATOR_CHECK_OK(check_placeholders(request.filter || request.projection, request.names));
  STATOR_CHECK_OK(check_placeholders(request.filter.has_value(), {}, request.values,
                                     "FilterExpression is null"));
  STATOR_CHECK_OK(check_select(request, "Scanning"));
  STATOR_CHECK_OK(check_segments(request));
  return check_start_key(request.exclusive_start_key);
}

}  // namespace stator
