// SPDX-License-Identifier: Apache-2.0
#include "api/admin/table_parameters.h"

#include "api/admin/document.h"
#include "api/model/enums.h"

namespace stator {
namespace {

template <class E>
std::optional<E> optional_enum_of(const Item& document, std::string_view member) {
  return wire::enum_from_name<E>(text_of(document, member));
}
template <class E>
E enum_of(const Item& document, std::string_view member, E otherwise = {}) {
  return optional_enum_of<E>(document, member).value_or(otherwise);
}

// Applies `read` to the member, which is a structure.
template <class F>
auto structure_of(const Item& document, std::string_view member, F read)
    -> std::optional<decltype(read(document))> {
  if (!document.contains(member)) return std::nullopt;
  return read(map_of(document, member));
}

// Applies `read` to each element of the member, which is a list of structures.
template <class F>
auto structures_of(const Item& document, std::string_view member, F read) {
  std::vector<decltype(read(document))> structures;
  for (const AttributeValue& element : list_of(document, member)) {
    structures.push_back(read(as_map(element)));
  }
  return structures;
}

template <class F>
auto optional_structures_of(const Item& document, std::string_view member, F read)
    -> std::optional<decltype(structures_of(document, member, read))> {
  if (!document.contains(member)) return std::nullopt;
  return structures_of(document, member, read);
}

AttributeDefinition attribute_definition(const Item& document) {
  return {.name = text_of(document, "AttributeName"),
          .type = enum_of<ScalarType>(document, "AttributeType")};
}

KeySchemaElement key_schema_element(const Item& document) {
  return {.name = text_of(document, "AttributeName"),
          .type = enum_of<KeyType>(document, "KeyType")};
}

SearchSchemaElement search_schema_element(const Item& document) {
  return {.name = text_of(document, "AttributeName"),
          .type = enum_of<SearchSchemaElementType>(document, "SearchSchemaElementType")};
}

Projection projection_of(const Item& index) {
  const Item& document = map_of(index, "Projection");
  Projection projection{.type = enum_of(document, "ProjectionType", wire::kNoProjectionType),
                        .non_key_attributes = {}};
  for (const AttributeValue& name : list_of(document, "NonKeyAttributes")) {
    projection.non_key_attributes.push_back(as_text(name));
  }
  return projection;
}

Throughput throughput(const Item& document) {
  return {.read = integer_of(document, "ReadCapacityUnits"),
          .write = integer_of(document, "WriteCapacityUnits")};
}

Throughput warm_throughput(const Item& document) {
  return {.read = integer_of(document, "ReadUnitsPerSecond"),
          .write = integer_of(document, "WriteUnitsPerSecond")};
}

OnDemandThroughput on_demand_throughput(const Item& document) {
  return {.max_read = integer_of(document, "MaxReadRequestUnits", -1),
          .max_write = integer_of(document, "MaxWriteRequestUnits", -1)};
}

EncryptionSpecification encryption(const Item& document) {
  EncryptionSpecification specification{.type =
                                            optional_enum_of<EncryptionType>(document, "SSEType")};
  if (document.contains("Enabled")) specification.enabled = boolean_of(document, "Enabled");
  if (document.contains("KMSMasterKeyId")) {
    specification.key_id = text_of(document, "KMSMasterKeyId");
  }
  return specification;
}

IndexDefinition index_definition(const Item& document) {
  return {
      .name = text_of(document, "IndexName"),
      .key_schema = structures_of(document, "KeySchema", key_schema_element),
      .projection = projection_of(document),
      .throughput = structure_of(document, "ProvisionedThroughput", throughput),
      .on_demand_throughput = structure_of(document, "OnDemandThroughput", on_demand_throughput),
      .warm_throughput = structure_of(document, "WarmThroughput", warm_throughput)};
}

VectorIndexDefinition vector_index_definition(const Item& document) {
  return {.name = text_of(document, "IndexName"),
          .vector_attribute = text_of(map_of(document, "VectorAttribute"), "AttributeName"),
          .search_schema = structures_of(document, "SearchSchema", search_schema_element),
          .projection = projection_of(document),
          .dimensions = integer_of(document, "Dimensions"),
          .distance_function = enum_of<VectorDistanceFunction>(document, "DistanceFunction")};
}

}  // namespace

CreateTableRequest table_parameters(const Item& members) {
  return {
      .table = text_of(members, "TableName"),
      .attributes = structures_of(members, "AttributeDefinitions", attribute_definition),
      .key_schema = structures_of(members, "KeySchema", key_schema_element),
      .local_indexes = optional_structures_of(members, "LocalSecondaryIndexes", index_definition),
      .global_indexes = optional_structures_of(members, "GlobalSecondaryIndexes", index_definition),
      .billing_mode = optional_enum_of<BillingMode>(members, "BillingMode"),
      .throughput = structure_of(members, "ProvisionedThroughput", throughput),
      .on_demand_throughput = structure_of(members, "OnDemandThroughput", on_demand_throughput),
      .encryption = structure_of(members, "SSESpecification", encryption),
      .vector_indexes = optional_structures_of(members, "VectorIndexes", vector_index_definition)};
}

}  // namespace stator
