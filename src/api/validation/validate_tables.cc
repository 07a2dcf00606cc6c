// SPDX-License-Identifier: Apache-2.0
// Tables: names, key schemas, indexes, projections, billing.
#include <algorithm>
#include <map>
#include <set>

#include "api/model/enums.h"
#include "api/model/messages.h"
#include "api/validation/attribute_check.h"
#include "api/validation/table_rules.h"
#include "api/validation/table_update.h"
#include "api/validation/validate.h"
#include "api/validation/validate_rules.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace stator {
namespace {

constexpr std::size_t kLocalIndexesMax = 5;
constexpr std::size_t kIncludedMax = 20;           // in one index
constexpr std::size_t kNonKeyAttributesMax = 100;  // of all indexes together
constexpr std::size_t kKeyAttributesMax = 4;       // of one type, of a global index
constexpr std::size_t kTableNameBytesMax = 255;
constexpr std::size_t kVectorIndexesMax = 5;
constexpr std::size_t kInlineFiltersMax = 18;  // of one vector index
constexpr int64_t kDimensionsMax = 4096;
constexpr std::size_t kTagsMax = 50;
constexpr int64_t kThroughputMax = 1'000'000'000'000;
constexpr int64_t kTablesListedMax = 100;

using Indexes = std::optional<std::vector<IndexDefinition>>;

std::size_t count_of(const KeySchema& schema, KeyType type) {
  return static_cast<std::size_t>(std::ranges::count(
      schema, type, [](const KeySchemaElement& element) { return element.type; }));
}

// The schema in the form of DynamoDB's messages.
std::string schema_text(const KeySchema& schema) {
  std::vector<std::string> elements;
  for (const KeySchemaElement& element : schema) {
    elements.push_back(
        fmt::format(messages::kKeySchemaElement, element.name, wire::enum_name(element.type)));
  }
  return fmt::format("[{}]", fmt::join(elements, ", "));
}

void add_key_schema(const KeySchema& schema, const std::string& path, std::size_t most,
                    Constraints& constraints) {
  if (schema.size() > most) constraints.count(schema.size(), path, 0, most, schema_text(schema));
  for (std::size_t i = 0; i < schema.size(); ++i) {
    constraints.length(schema[i].name, fmt::format("{}.{}.member.attributeName", path, i + 1), 1,
                       kTableNameBytesMax);
  }
}

void add_projection(const Projection& projection, const std::string& path,
                    Constraints& constraints) {
  const std::vector<std::string>& included = projection.non_key_attributes;
  if (included.size() > kIncludedMax) {
    constraints.count(included.size(), path + ".projection.nonKeyAttributes", 1, kIncludedMax,
                      fmt::format("[{}]", fmt::join(included, ", ")));
  }
  for (const std::string& name : included) {
    constraints.length(name, path + ".projection.nonKeyAttributes", 1, kTableNameBytesMax);
  }
}

void add_indexes(const Indexes& indexes, std::string_view member, std::size_t key_attributes,
                 Constraints& constraints) {
  if (!indexes) return;
  for (std::size_t i = 0; i < indexes->size(); ++i) {
    add_index((*indexes)[i], fmt::format("{}.{}.member", member, i + 1), key_attributes,
              constraints);
  }
}

Result<void> check_billing(const CreateTableRequest& request) {
  if (is_paid_per_request(request)) {
    if (request.throughput) {
      return invalid(messages::kPaidPerRequest);
    }
    return check_on_demand(request.on_demand_throughput, "table");
  }
  if (!request.throughput) {
    return invalid(messages::kThroughputMissing);
  }
  STATOR_RETURN_IF_ERROR(refuse_on_demand(request.on_demand_throughput, ""));
  return check_bounds(*request.throughput);
}

Result<void> check_defined(const KeySchema& schema, const std::set<std::string>& defined) {
  std::vector<std::string> names;
  for (const KeySchemaElement& element : schema) names.push_back(element.name);
  for (const std::string& name : names) {
    if (defined.contains(name)) continue;
    return invalid(
        fmt::format(messages::kUndefinedKeys, fmt::join(names, ", "), fmt::join(defined, ", ")));
  }
  return {};
}

// Checks that names are distinct and that HASH elements precede RANGE elements. `most` limits the
// elements of each type: 1, or more for a global index.
Result<void> check_key_schema(const KeySchema& schema, std::size_t most) {
  std::set<std::string_view> names;
  for (const KeySchemaElement& element : schema) names.insert(element.name);
  if (names.size() != schema.size()) {
    return fail(Code::kValidation, most == 1 ? messages::kKeyTwice : messages::kElementTwice);
  }
  if (schema.front().type != KeyType::kHash) {
    return fail(Code::kValidation, messages::kFirstKeyNotHash);
  }
  if (most == 1 && schema.size() == 2 && schema[1].type != KeyType::kRange) {
    return fail(Code::kValidation, messages::kSecondKeyNotRange);
  }
  const auto type_of = [](const KeySchemaElement& element) { return element.type; };
  if (!std::ranges::is_sorted(schema, {}, type_of)) {
    return invalid(messages::kHashAfterRange);
  }
  for (const KeyType type : {KeyType::kHash, KeyType::kRange}) {
    if (count_of(schema, type) > most) {
      return invalid(fmt::format(messages::kTooManyKeys, wire::enum_name(type)));
    }
  }
  return {};
}

Result<void> check_projection(const Projection& projection) {
  if (projection.type == wire::kNoProjectionType) return invalid(messages::kNoProjectionType);
  const bool has_attributes = !projection.non_key_attributes.empty();
  if (projection.type == ProjectionType::kInclude && !has_attributes) {
    return invalid(messages::kIncludesNothing);
  }
  if (projection.type != ProjectionType::kInclude && has_attributes) {
    return invalid(fmt::format(messages::kIncludesMore, wire::enum_name(projection.type)));
  }
  std::set<std::string_view> names;
  for (const std::string& name : projection.non_key_attributes) {
    if (!names.insert(name).second) {
      return invalid(fmt::format(messages::kIncludedTwice, name));
    }
  }
  return {};
}

Result<void> check_local_index(const CreateTableRequest& table, const IndexDefinition& index) {
  if (count_of(index.key_schema, KeyType::kRange) == 0) {
    return invalid(fmt::format(messages::kNoRangeKey, index.name));
  }
  const std::string& hash = table.key_schema.front().name;
  if (index.key_schema.front().name != hash) {
    return invalid(
        fmt::format(messages::kOtherHashKey, index.name, index.key_schema.front().name, hash));
  }
  return {};
}

Result<void> check_global_index(const CreateTableRequest& table, const IndexDefinition& index) {
  if (is_paid_per_request(table) && index.throughput) {
    return invalid(fmt::format(messages::kIndexPaidPerRequest, index.name));
  }
  if (!is_paid_per_request(table) && !index.throughput) {
    return invalid(fmt::format(messages::kIndexThroughputNotGiven, index.name));
  }
  if (index.throughput) STATOR_RETURN_IF_ERROR(check_bounds(*index.throughput));
  if (!is_paid_per_request(table)) {
    return refuse_on_demand(index.on_demand_throughput, " for index: " + index.name);
  }
  return check_on_demand(index.on_demand_throughput, "index : " + index.name);
}

Result<void> check_index_counts(const CreateTableRequest& request) {
  if (const Indexes& local = request.local_indexes) {
    if (local->empty()) return invalid(messages::kNoLocalIndexes);
    if (count_of(request.key_schema, KeyType::kRange) == 0) {
      return invalid(messages::kNoTableRangeKey);
    }
    if (local->size() > kLocalIndexesMax) {
      return invalid(messages::kTooManyLocalIndexes);
    }
  }
  if (const Indexes& global = request.global_indexes) {
    if (global->empty()) return invalid(messages::kNoGlobalIndexes);
    if (global->size() > kGlobalIndexesMax) {
      return invalid(messages::kTooManyGlobalIndexes);
    }
  }
  return {};
}

Result<void> check_all_used(const CreateTableRequest& request,
                            const std::set<std::string>& defined) {
  if (!request.local_indexes && !request.global_indexes && !request.vector_indexes) {
    if (defined.size() == request.key_schema.size()) return {};
    return invalid(messages::kAttributesUnused);
  }
  const std::set<std::string> used = used_attributes(request);
  if (used == defined) return {};
  return invalid(
      fmt::format(messages::kDefinitionsUnused, fmt::join(defined, ", "), fmt::join(used, ", ")));
}

}  // namespace

bool is_paid_per_request(const CreateTableRequest& settings) {
  return settings.billing_mode == BillingMode::kPayPerRequest;
}

std::set<std::string> attribute_names(const std::vector<AttributeDefinition>& attributes) {
  std::set<std::string> names;
  for (const AttributeDefinition& attribute : attributes) names.insert(attribute.name);
  return names;
}

void add_throughput(const std::optional<Throughput>& throughput, const std::string& path,
                    Constraints& constraints) {
  if (!throughput) return;
  // check_bounds() reports values beyond the upper bound, with another message.
  constraints.range(throughput->write, path + ".writeCapacityUnits", 1, INT64_MAX);
  constraints.range(throughput->read, path + ".readCapacityUnits", 1, INT64_MAX);
}

void add_index(const IndexDefinition& index, const std::string& path, std::size_t key_attributes,
               Constraints& constraints) {
  constraints.resource_name(index.name, path + ".indexName");
  add_key_schema(index.key_schema, path + ".keySchema", key_attributes, constraints);
  add_throughput(index.throughput, path + ".provisionedThroughput", constraints);
  add_projection(index.projection, path, constraints);
}

void add_vector_index(const VectorIndexDefinition& index, const std::string& path,
                      Constraints& constraints) {
  constraints.resource_name(index.name, path + ".indexName");
  constraints.length(index.vector_attribute, path + ".vectorAttribute.attributeName", 1,
                     kTableNameBytesMax);
  for (std::size_t i = 0; i < index.search_schema.size(); ++i) {
    constraints.length(index.search_schema[i].name,
                       fmt::format("{}.searchSchema.{}.member.attributeName", path, i + 1), 1,
                       kTableNameBytesMax);
  }
  constraints.range(index.dimensions, path + ".dimensions", 1, INT64_MAX);
  add_projection(index.projection, path, constraints);
}

void add_attributes(const std::vector<AttributeDefinition>& attributes, Constraints& constraints) {
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    constraints.length(attributes[i].name,
                       fmt::format("attributeDefinitions.{}.member.attributeName", i + 1), 1,
                       kTableNameBytesMax);
  }
}

Result<void> check_bounds(const Throughput& throughput) {
  const auto out_of_bounds = [](int64_t value, std::string_view member) {
    return fail(Code::kValidation, fmt::format(messages::kOutOfBounds, value, member));
  };
  if (throughput.read > kThroughputMax) return out_of_bounds(throughput.read, "ReadCapacityUnits");
  if (throughput.write > kThroughputMax) {
    return out_of_bounds(throughput.write, "WriteCapacityUnits");
  }
  return {};
}

Result<void> check_on_demand(const std::optional<OnDemandThroughput>& throughput,
                             std::string_view of) {
  if (!throughput) return {};
  for (const auto& [value, member] : {std::pair(throughput->max_read, "MaxReadRequestUnits"),
                                      std::pair(throughput->max_write, "MaxWriteRequestUnits")}) {
    if (value == 0 || value < -1) {
      return invalid(fmt::format(messages::kOnDemandOutOfRange, member, of));
    }
  }
  return {};
}

Result<void> check_index_keys(const CreateTableRequest& settings,
                              const std::set<std::string>& defined) {
  STATOR_RETURN_IF_ERROR(check_index_counts(settings));
  for (const Indexes* indexes : {&settings.local_indexes, &settings.global_indexes}) {
    if (!*indexes) continue;
    const bool local = indexes == &settings.local_indexes;
    for (const IndexDefinition& index : **indexes) {
      if (index.key_schema.empty()) return invalid(messages::kNoIndexKeys);
      STATOR_RETURN_IF_ERROR(check_defined(index.key_schema, defined));
      STATOR_RETURN_IF_ERROR(check_key_schema(index.key_schema, local ? 1 : kKeyAttributesMax));
    }
  }
  return {};
}

Result<void> check_index_settings(const CreateTableRequest& settings) {
  std::set<std::string_view> names;
  std::size_t projected = 0;
  for (const Indexes* indexes : {&settings.local_indexes, &settings.global_indexes}) {
    if (!*indexes) continue;
    const bool local = indexes == &settings.local_indexes;
    for (const IndexDefinition& index : **indexes) {
      STATOR_RETURN_IF_ERROR(local ? check_local_index(settings, index)
                                   : check_global_index(settings, index));
      STATOR_RETURN_IF_ERROR(check_projection(index.projection));
      projected += index.projection.non_key_attributes.size();
      if (!names.insert(index.name).second) {
        return invalid(fmt::format(messages::kIndexTwice, index.name));
      }
    }
  }
  if (settings.vector_indexes) {
    for (const VectorIndexDefinition& index : *settings.vector_indexes) {
      STATOR_RETURN_IF_ERROR(check_projection(index.projection));
      projected += index.projection.non_key_attributes.size();
      if (!names.insert(index.name).second) {
        return invalid(fmt::format(messages::kIndexTwice, index.name));
      }
    }
  }
  if (projected > kNonKeyAttributesMax) {
    return invalid(fmt::format(messages::kTooManyIncluded, kNonKeyAttributesMax));
  }
  return {};
}

namespace {

Result<void> check_vector_index(const CreateTableRequest& settings,
                                const VectorIndexDefinition& index) {
  if (index.dimensions > kDimensionsMax) return invalid(messages::kDimensionsOutOfRange);
  const auto defined = attribute_names(settings.attributes);
  std::set<std::string_view> names;
  std::size_t hashes = 0;
  for (const SearchSchemaElement& element : index.search_schema) {
    if (!defined.contains(element.name)) return invalid(messages::kSearchSchemaUndefined);
    if (!names.insert(element.name).second) {
      return invalid(fmt::format(messages::kSearchSchemaTwice, element.name));
    }
    if (element.type == SearchSchemaElementType::kHash) ++hashes;
  }
  if (hashes > 1) return invalid(messages::kSearchSchemaHashes);
  if (index.search_schema.size() - hashes > kInlineFiltersMax) {
    return invalid(messages::kSearchSchemaFilters);
  }
  if (defined.contains(index.vector_attribute)) {
    return invalid(fmt::format(messages::kVectorAttributeDefined, index.vector_attribute));
  }
  return {};
}

}  // namespace

Result<void> check_vector_indexes(const CreateTableRequest& settings) {
  if (!settings.vector_indexes) return {};
  if (settings.vector_indexes->empty()) return invalid(messages::kNoVectorIndexes);
  if (settings.vector_indexes->size() > kVectorIndexesMax) {
    return invalid(messages::kTooManyVectorIndexes);
  }
  if (!is_paid_per_request(settings)) return invalid(messages::kVectorsProvisioned);
  std::map<std::string_view, int64_t> dimensions;
  for (const VectorIndexDefinition& index : *settings.vector_indexes) {
    STATOR_RETURN_IF_ERROR(check_vector_index(settings, index));
    const auto known = dimensions.emplace(index.vector_attribute, index.dimensions).first;
    if (known->second != index.dimensions) {
      return invalid(fmt::format(messages::kConflictingDimensions, index.vector_attribute));
    }
  }
  return {};
}

Result<void> check_warm(const CreateTableRequest& settings, const std::optional<Throughput>& warm,
                        const std::optional<Throughput>& provisioned, std::string_view of) {
  if (!warm) return {};
  const Throughput least = default_warm_throughput(settings, provisioned);
  const auto is_below = [&](std::string_view member, std::string_view units) {
    if (is_paid_per_request(settings)) {
      return invalid(fmt::format(messages::kWarmBelowOnDemand, member, of));
    }
    return invalid(fmt::format(messages::kWarmBelowProvisioned, member, of, units));
  };
  if (warm->read != 0 && warm->read < least.read) {
    return is_below("ReadUnitsPerSecond", "ReadCapacityUnits");
  }
  if (warm->write != 0 && warm->write < least.write) {
    return is_below("WriteUnitsPerSecond", "WriteCapacityUnits");
  }
  return {};
}

std::set<std::string> used_attributes(const CreateTableRequest& settings) {
  std::set<std::string> used;
  const auto use = [&used](const KeySchema& schema) {
    for (const KeySchemaElement& element : schema) used.insert(element.name);
  };
  use(settings.key_schema);
  for (const Indexes* indexes : {&settings.local_indexes, &settings.global_indexes}) {
    if (!*indexes) continue;
    for (const IndexDefinition& index : **indexes) use(index.key_schema);
  }
  if (settings.vector_indexes) {
    for (const VectorIndexDefinition& index : *settings.vector_indexes) {
      for (const SearchSchemaElement& element : index.search_schema) used.insert(element.name);
    }
  }
  return used;
}

Result<void> refuse_on_demand(const std::optional<OnDemandThroughput>& throughput,
                              std::string_view of) {
  if (!throughput) return {};
  const char* member = throughput->max_read != -1 ? "MaxReadRequestUnits" : "MaxWriteRequestUnits";
  return invalid(fmt::format(messages::kOnDemandProvisioned, member, of));
}

Result<void> check_texts(const VectorIndexDefinition& index) {
  STATOR_RETURN_IF_ERROR(check_text(index.vector_attribute));
  for (const std::string& name : index.projection.non_key_attributes) {
    STATOR_RETURN_IF_ERROR(check_text(name));
  }
  return {};
}

// Names in key schemas need no check: they are among the defined attributes.
Result<void> check_texts(const CreateTableRequest& settings) {
  for (const AttributeDefinition& attribute : settings.attributes) {
    STATOR_RETURN_IF_ERROR(check_text(attribute.name));
  }
  for (const Indexes* indexes : {&settings.local_indexes, &settings.global_indexes}) {
    if (!*indexes) continue;
    for (const IndexDefinition& index : **indexes) {
      for (const std::string& name : index.projection.non_key_attributes) {
        STATOR_RETURN_IF_ERROR(check_text(name));
      }
    }
  }
  if (settings.vector_indexes) {
    for (const VectorIndexDefinition& index : *settings.vector_indexes) {
      STATOR_RETURN_IF_ERROR(check_texts(index));
    }
  }
  for (const Tag& tag : settings.tags) {
    STATOR_RETURN_IF_ERROR(check_text(tag.key));
    STATOR_RETURN_IF_ERROR(check_text(tag.value));
  }
  return {};
}

void add_constraints(const CreateTableRequest& request, Constraints& constraints) {
  constraints.table_operation_table(request.table);
  if (request.key_schema.empty()) constraints.count(0, "keySchema", 1, 2);
  add_key_schema(request.key_schema, "keySchema", 2, constraints);
  add_attributes(request.attributes, constraints);
  add_indexes(request.global_indexes, "globalSecondaryIndexes", kGlobalIndexKeysMax, constraints);
  add_indexes(request.local_indexes, "localSecondaryIndexes", 2, constraints);
  if (request.vector_indexes) {
    for (std::size_t i = 0; i < request.vector_indexes->size(); ++i) {
      add_vector_index((*request.vector_indexes)[i], fmt::format("vectorIndexes.{}.member", i + 1),
                       constraints);
    }
  }
  add_throughput(request.throughput, "provisionedThroughput", constraints);
  constraints.count(request.tags.size(), "tags", 0, kTagsMax, "[...]");
  for (std::size_t i = 0; i < request.tags.size(); ++i) {
    constraints.length(request.tags[i].key, fmt::format("tags.{}.member.key", i + 1), 1, 128);
    constraints.length(request.tags[i].value, fmt::format("tags.{}.member.value", i + 1), 0, 256);
  }
}

void add_constraints(const DescribeTableRequest& request, Constraints& constraints) {
  constraints.table_operation_table(request.table);
}

void add_constraints(const DeleteTableRequest& request, Constraints& constraints) {
  constraints.table_operation_table(request.table);
}

void add_constraints(const ListTablesRequest& request, Constraints& constraints) {
  if (request.exclusive_start_table) {
    const std::string& start = *request.exclusive_start_table;
    // DynamoDB reports the two violations by an empty name in this order.
    if (start.empty()) {
      constraints.violated(start, "exclusiveStartTableName", messages::kNamePattern);
    }
    constraints.resource_name(start, "exclusiveStartTableName");
  }
  if (request.limit) constraints.range(*request.limit, "limit", 1, kTablesListedMax);
}

Result<void> validate(const CreateTableRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  STATOR_RETURN_IF_ERROR(check_texts(request));
  STATOR_RETURN_IF_ERROR(check_billing(request));
  if (request.stream)
    STATOR_RETURN_IF_ERROR(
        check_stream(*request.stream, messages::kCreatedWithoutView, messages::kCreatedWithView));
  const std::set<std::string> defined = attribute_names(request.attributes);
  if (defined.size() != request.attributes.size()) {
    std::set<std::string_view> seen;
    const auto again = std::ranges::find_if(
        request.attributes,
        [&](const AttributeDefinition& attribute) { return !seen.insert(attribute.name).second; });
    return fail(Code::kValidation, fmt::format(messages::kDefinedTwice, again->name));
  }
  if (request.key_schema.size() > defined.size()) {
    return fail(Code::kValidation, messages::kKeysUndefined);
  }
  STATOR_RETURN_IF_ERROR(check_defined(request.key_schema, defined));
  STATOR_RETURN_IF_ERROR(check_key_schema(request.key_schema, 1));
  STATOR_RETURN_IF_ERROR(check_index_keys(request, defined));
  STATOR_RETURN_IF_ERROR(check_vector_indexes(request));
  STATOR_RETURN_IF_ERROR(check_all_used(request, defined));
  STATOR_RETURN_IF_ERROR(check_index_settings(request));
  STATOR_RETURN_IF_ERROR(check_warm(request, request.warm_throughput, request.throughput, "table"));
  if (!request.global_indexes) return {};
  for (const IndexDefinition& index : *request.global_indexes) {
    STATOR_RETURN_IF_ERROR(
        check_warm(request, index.warm_throughput, index.throughput, "index " + index.name));
  }
  return {};
}

Result<void> validate(const DescribeTableRequest& request) {
  return check_constraints(request);
}

Result<void> validate(const DeleteTableRequest& request) {
  return check_constraints(request);
}

Result<void> validate(const ListTablesRequest& request) {
  return check_constraints(request);
}

}  // namespace stator
