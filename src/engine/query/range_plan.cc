// SPDX-License-Identifier: Apache-2.0
#include "engine/query/range_plan.h"

#include <algorithm>
#include <utility>

#include "engine/errors/messages.h"
#include "engine/items/key_checks.h"
#include "engine/items/request_expressions.h"

namespace stator {
namespace {

Failure no_such_index(const Table& table, const QueryRequest& request) {
  if (table.vector_index(*request.index) == nullptr) {
    return fail(Code::kValidation, messages::no_such_index(*request.index));
  }
  return fail(Code::kValidation, request.consistent_read ? messages::kConsistentGlobalIndex
                                                         : messages::kQueryOfVectors);
}
Failure no_such_index(const Table& table, const ScanRequest& request) {
  if (table.vector_index(*request.index) == nullptr) {
    return fail(Code::kValidation, messages::no_such_index(*request.index));
  }
  return fail(Code::kValidation, messages::kScanOfVectors);
}

template <class Request>
Result<const Index*> find_index(const Table& table, const Request& request) {
  const std::optional<std::string>& name = request.index;
  const bool consistent_read = request.consistent_read;
  if (!name) return nullptr;
  const Index* index = table.index(*name);
  if (index == nullptr) return no_such_index(table, request);
  if (!index->complete) return fail(Code::kValidation, messages::backfilling_index(*name));
  if (consistent_read && !index->local) {
    return fail(Code::kValidation, messages::kConsistentGlobalIndex);
  }
  return index;
}

std::string join(const std::set<std::string, std::less<>>& names) {
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ", ") + name;
  return joined;
}

std::set<std::string, std::less<>> not_projected(const Index& index,
                                                 std::set<std::string, std::less<>> attributes) {
  std::erase_if(attributes, [&](const std::string& name) { return index.projects(name); });
  return attributes;
}

// Checks Select and the projection against the attributes that the index projects.
Result<void> plan_attributes(RangePlan& plan, const std::optional<Select>& select) {
  plan.count_only = select == Select::kCount;
  if (plan.index == nullptr) return {};
  const Index& index = *plan.index;
  const bool wants_all = select == Select::kAllAttributes;
  if (!index.local) {
    if (wants_all && !index.projects_all()) {
      return fail(Code::kValidation, messages::select_all_on_index(index.definition.name));
    }
    if (plan.projection) {
      const auto missing = not_projected(index, plan.projection->attributes());
      if (!missing.empty()) {
        return fail(Code::kValidation,
                    messages::not_projected(index.definition.name, join(missing)));
      }
    }
    return {};
  }
  plan.fetches_items =
      (wants_all && !index.projects_all()) ||
      (plan.projection && !not_projected(index, plan.projection->attributes()).empty());
  return {};
}

template <class Request>
Result<void> parse_expressions(RangePlan& plan, const Request& request,
                               Placeholders& placeholders) {
  const ExpressionLimits limits = limits_of(request.legacy, kLayerOf<Request>);
  if (request.filter) {
    STATOR_ASSIGN_OR_RETURN(plan.filter, Condition::parse(*request.filter, ConditionRole::kFilter,
                                                          placeholders, limits));
  }
  if (request.projection) {
    STATOR_ASSIGN_OR_RETURN(plan.projection,
                            ProjectionExpression::parse(*request.projection, placeholders, limits));
  }
  STATOR_RETURN_IF_ERROR(placeholders.check_all_used());
  if (plan.projection) {
    STATOR_RETURN_IF_ERROR(check_keys_unopened(*plan.table, plan.projection->opened_attributes()));
  }
  if (plan.filter) {
    STATOR_RETURN_IF_ERROR(check_keys_unopened(*plan.table, plan.filter->opened_attributes()));
  }
  return {};
}

// A query's filter can use only attributes that the index projects, and no key attributes.
Result<void> check_query_filter(const RangePlan& plan, const KeySchema& schema, bool legacy) {
  if (!plan.filter) return {};
  const auto attributes = plan.filter->attributes();
  for (const KeySchemaElement& element : schema) {
    if (attributes.contains(element.name)) {
      return fail(Code::kValidation, messages::filter_on_key(element.name, legacy));
    }
  }
  if (plan.index == nullptr) return {};
  const auto missing = not_projected(*plan.index, attributes);
  if (missing.empty()) return {};
  return fail(Code::kValidation,
              messages::filter_not_projected(plan.index->definition.name, join(missing)));
}

template <class Request>
Result<RangePlan> begin_plan(const Table& table, const Request& request) {
  RangePlan plan{.table = &table};
  auto index = find_index(table, request);
  if (!index) {
    STATOR_RETURN_IF_ERROR(check_expressions(request));
    return failure_of(std::move(index));
  }
  plan.index = *index;
  if (request.limit) plan.limit = static_cast<std::size_t>(std::max<int64_t>(1, *request.limit));
  plan.consistent = request.consistent_read;
  return plan;
}

}  // namespace

// ---- Key conditions

KeyRange range_within(const std::string& prefix, const KeyCondition::Range& condition) {
  using enum KeyCondition::Operator;
  std::string at = prefix;  // the rows whose sort key is the operand begin with this
  if (condition.op == kBeginsWith) {
    append_key_prefix(at, condition.operand);
  } else {
    append_key_component(at, condition.operand);
  }
  switch (condition.op) {
    case kLess:
      return {.begin = prefix, .end = at};
    case kLessOrEqual:
      return {.begin = prefix, .end = prefix_end(at)};
    case kGreater:
      return {.begin = prefix_end(at), .end = prefix_end(prefix)};
    case kGreaterOrEqual:
      return {.begin = at, .end = prefix_end(prefix)};
    case kBetween: {
      std::string upper = prefix;
      append_key_component(upper, condition.upper);
      return {.begin = at, .end = prefix_end(upper)};
    }
    case kEqual:
    case kBeginsWith:
      break;
  }
  return {.begin = at, .end = prefix_end(at)};
}

namespace {

struct QueryRange {
  std::string partition;
  KeyRange rows;
};

QueryRange query_range(const RangePlan& plan, const KeyCondition& condition) {
  std::string components;
  for (const AttributeValue& value : condition.hash) append_key_component(components, value);
  QueryRange range;
  range.partition = partition_key(plan.table->secret(), plan.shape().space, components);
  std::string prefix = range.partition;
  for (const AttributeValue& value : condition.equal) append_key_component(prefix, value);
  range.rows = condition.range ? range_within(prefix, *condition.range)
                               : KeyRange{.begin = prefix, .end = prefix_end(prefix)};
  return range;
}

// ---- Start of a page

bool fits(const KeyShape& shape, const Item& key) {
  const auto present = [&](const AttributeDefinition& attribute) {
    const auto found = key.find(attribute.name);
    return found != key.end() && found->second.type() == attribute_type(attribute.type);
  };
  return std::ranges::all_of(shape.hash, present) && std::ranges::all_of(shape.range, present);
}

}  // namespace

Result<std::string> start_row(const RangePlan& plan, const Item& start_key) {
  std::set<std::string_view> names;
  for (const KeyShape* shape : {&plan.table->key(), &plan.shape()}) {
    for (const auto* attributes : {&shape->hash, &shape->range}) {
      for (const AttributeDefinition& attribute : *attributes) names.insert(attribute.name);
    }
  }
  if (start_key.size() != names.size()) {
    return fail(Code::kValidation,
                plan.index ? messages::kStartKeyInvalid : messages::kStartKeySize);
  }
  if (!fits(plan.table->key(), start_key) || !fits(plan.shape(), start_key)) {
    return fail(Code::kValidation, messages::kStartKeyInvalid);
  }
  const auto checked = check_no_empty_key(plan.shape(), start_key);
  if (!checked || !check_no_empty_key(plan.table->key(), start_key)) {
    return fail(Code::kValidation, messages::kStartKeyInvalid);
  }
  if (plan.index == nullptr) {
    return item_row_key(plan.table->secret(), plan.table->key(), start_key);
  }
  auto key = index_row_key(plan.table->secret(), plan.table->key(), plan.index->key, start_key);
  if (!key) return fail(Code::kValidation, messages::kStartKeyInvalid);
  return std::move(*key);
}

namespace {

bool contains(const KeyRange& range, const std::string& key) {
  return key >= range.begin && (range.end.empty() || key < range.end);
}

// Removes the rows that earlier pages have examined.
void continue_after(RangePlan& plan, std::string row) {
  if (plan.direction == Direction::kForward) {
    plan.range.begin = std::move(row) + '\0';
  } else {
    plan.range.end = std::move(row);
  }
}

template <class Request>
Result<void> check_parts(const Request& request, Placeholders& placeholders) {
  const ExpressionLimits limits = limits_of(request.legacy, kLayerOf<Request>);
  if (request.filter) {
    STATOR_RETURN_IF_ERROR(
        Condition::parse(*request.filter, ConditionRole::kFilter, placeholders, limits));
  }
  if (request.projection) {
    STATOR_RETURN_IF_ERROR(ProjectionExpression::parse(*request.projection, placeholders, limits));
  }
  return placeholders.check_all_used();
}

}  // namespace

Result<void> check_expressions(const QueryRequest& request) {
  STATOR_ASSIGN_OR_RETURN(Placeholders placeholders,
                          checked_placeholders(request.names, request.values, Layer::kCurrent));
  STATOR_RETURN_IF_ERROR(KeyCondition::check(request.key_condition.value_or(""), placeholders,
                                             limits_of(request.legacy, Layer::kCurrent)));
  return check_parts(request, placeholders);
}

Result<void> check_expressions(const ScanRequest& request) {
  STATOR_ASSIGN_OR_RETURN(Placeholders placeholders,
                          checked_placeholders(request.names, request.values, Layer::kOlder));
  return check_parts(request, placeholders);
}

Result<RangePlan> plan_query(const Table& table, const QueryRequest& request) {
  STATOR_ASSIGN_OR_RETURN(RangePlan plan, begin_plan(table, request));
  plan.direction = request.forward ? Direction::kForward : Direction::kBackward;
  STATOR_ASSIGN_OR_RETURN(Placeholders placeholders,
                          checked_placeholders(request.names, request.values, Layer::kCurrent));
  const KeySchema& schema =
      plan.index ? plan.index->definition.key_schema : table.definition().settings.key_schema;
  STATOR_ASSIGN_OR_RETURN(const KeyCondition condition,
                          KeyCondition::parse(request.key_condition.value_or(""), placeholders,
                                              schema, table.definition().settings.attributes,
                                              limits_of(request.legacy, Layer::kCurrent)));
  STATOR_RETURN_IF_ERROR(parse_expressions(plan, request, placeholders));
  STATOR_RETURN_IF_ERROR(check_query_filter(plan, schema, request.legacy));
  STATOR_RETURN_IF_ERROR(plan_attributes(plan, request.select));

  const QueryRange range = query_range(plan, condition);
  plan.range = range.rows;
  for (std::size_t i = 0; i < plan.shape().hash.size(); ++i) {
    plan.hash.emplace(plan.shape().hash[i].name, condition.hash[i]);
  }
  if (request.exclusive_start_key) {
    STATOR_ASSIGN_OR_RETURN(std::string row, start_row(plan, *request.exclusive_start_key));
    if (!contains(range.rows, row)) {
      const bool of_sort_key = condition.range || !condition.equal.empty();
      return fail(Code::kValidation,
                  of_sort_key ? messages::kStartKeyPredicate : messages::kStartKeyOutside);
    }
    continue_after(plan, std::move(row));
  }
  return plan;
}

Result<RangePlan> plan_scan(const Table& table, const ScanRequest& request) {
  STATOR_ASSIGN_OR_RETURN(RangePlan plan, begin_plan(table, request));
  STATOR_ASSIGN_OR_RETURN(Placeholders placeholders,
                          checked_placeholders(request.names, request.values, Layer::kOlder));
  STATOR_RETURN_IF_ERROR(parse_expressions(plan, request, placeholders));
  STATOR_RETURN_IF_ERROR(plan_attributes(plan, request.select));
  plan.range = request.segment && request.total_segments
                   ? segment_range(plan.shape().space, static_cast<uint64_t>(*request.segment),
                                   static_cast<uint64_t>(*request.total_segments))
                   : space_range(plan.shape().space);
  if (request.exclusive_start_key) {
    STATOR_ASSIGN_OR_RETURN(std::string row, start_row(plan, *request.exclusive_start_key));
    if (!contains(plan.range, row)) {
      return fail(Code::kValidation,
                  messages::start_key_segment(std::to_string(request.total_segments.value_or(1)),
                                              std::to_string(request.segment.value_or(0))));
    }
    continue_after(plan, std::move(row));
  }
  return plan;
}

}  // namespace stator
