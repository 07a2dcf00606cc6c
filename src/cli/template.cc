// SPDX-License-Identifier: Apache-2.0
#include "cli/template.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/template_properties.h"

namespace stator::cli {
namespace {

// Properties that are accepted but not applied: of a table, a secondary index and a stream.
constexpr std::string_view kIgnoredOfIndex = "ContributorInsightsSpecification";
constexpr std::string_view kIgnoredOfStream = "ResourcePolicy";
constexpr std::array<std::string_view, 4> kIgnored = {
    "ContributorInsightsSpecification", "ImportSourceSpecification", "KinesisStreamSpecification",
    "ResourcePolicy"};

Result<std::vector<AttributeDefinition>> read_attributes(const TemplateValues& values,
                                                         const Properties& table) {
  STATOR_ASSIGN_OR_RETURN(const std::vector<YamlNode> nodes, table.list("AttributeDefinitions"));
  std::vector<AttributeDefinition> attributes;
  for (const YamlNode& node : nodes) {
    STATOR_ASSIGN_OR_RETURN(const Properties attribute,
                            Properties::of(values, node, {"AttributeName", "AttributeType"}));
    STATOR_ASSIGN_OR_RETURN(std::string name, attribute.required_text("AttributeName"));
    STATOR_ASSIGN_OR_RETURN(const auto type,
                            attribute.choice<ScalarType>("AttributeType", {{"S", ScalarType::kS},
                                                                           {"N", ScalarType::kN},
                                                                           {"B", ScalarType::kB}}));
    if (!type) return attribute.wrong("AttributeType", "is missing");
    attributes.push_back({.name = std::move(name), .type = *type});
  }
  return attributes;
}

Result<KeySchema> read_key_schema(const TemplateValues& values, const Properties& owner) {
  STATOR_ASSIGN_OR_RETURN(const std::vector<YamlNode> nodes, owner.list("KeySchema"));
  KeySchema schema;
  for (const YamlNode& node : nodes) {
    STATOR_ASSIGN_OR_RETURN(const Properties element,
                            Properties::of(values, node, {"AttributeName", "KeyType"}));
    STATOR_ASSIGN_OR_RETURN(std::string name, element.required_text("AttributeName"));
    STATOR_ASSIGN_OR_RETURN(
        const auto type,
        element.choice<KeyType>("KeyType", {{"HASH", KeyType::kHash}, {"RANGE", KeyType::kRange}}));
    if (!type) return element.wrong("KeyType", "is missing");
    schema.push_back({.name = std::move(name), .type = *type});
  }
  return schema;
}

// Reads a property with two integers, such as ProvisionedThroughput.
template <class T>
Result<std::optional<T>> read_pair(const TemplateValues& values, const Properties& owner,
                                   std::string_view property, std::string_view first,
                                   std::string_view second) {
  STATOR_ASSIGN_OR_RETURN(const std::optional<YamlNode> node, owner.node(property));
  if (!node) return std::optional<T>();
  STATOR_ASSIGN_OR_RETURN(const Properties pair, Properties::of(values, *node, {first, second}));
  STATOR_ASSIGN_OR_RETURN(const std::optional<int64_t> read, pair.integer(first));
  STATOR_ASSIGN_OR_RETURN(const std::optional<int64_t> write, pair.integer(second));
  T units;
  auto& [read_units, write_units] = units;
  if (read) read_units = *read;
  if (write) write_units = *write;
  return std::optional(units);
}

// The capacity settings, which tables and global indexes have in common.
template <class T>
Result<void> read_capacity(const TemplateValues& values, const Properties& owner, T& target) {
  STATOR_ASSIGN_OR_RETURN(target.throughput,
                          read_pair<Throughput>(values, owner, "ProvisionedThroughput",
                                                "ReadCapacityUnits", "WriteCapacityUnits"));
  STATOR_ASSIGN_OR_RETURN(
      target.on_demand_throughput,
      read_pair<OnDemandThroughput>(values, owner, "OnDemandThroughput", "MaxReadRequestUnits",
                                    "MaxWriteRequestUnits"));
  STATOR_ASSIGN_OR_RETURN(target.warm_throughput,
                          read_pair<Throughput>(values, owner, "WarmThroughput",
                                                "ReadUnitsPerSecond", "WriteUnitsPerSecond"));
  return {};
}

Result<Projection> read_projection(const TemplateValues& values, const Properties& index) {
  STATOR_ASSIGN_OR_RETURN(const std::optional<YamlNode> node, index.node("Projection"));
  if (!node) return index.wrong("Projection", "is missing");
  STATOR_ASSIGN_OR_RETURN(const Properties given,
                          Properties::of(values, *node, {"ProjectionType", "NonKeyAttributes"}));
  STATOR_ASSIGN_OR_RETURN(
      const auto type,
      given.choice<ProjectionType>("ProjectionType", {{"ALL", ProjectionType::kAll},
                                                      {"KEYS_ONLY", ProjectionType::kKeysOnly},
                                                      {"INCLUDE", ProjectionType::kInclude}}));
  STATOR_ASSIGN_OR_RETURN(const std::vector<YamlNode> names, given.list("NonKeyAttributes"));
  Projection projection{.type = type.value_or(ProjectionType::kAll)};
  for (const YamlNode& name : names) {
    if (!name.is_scalar()) return template_error(name, "expected an attribute name");
    projection.non_key_attributes.push_back(name.scalar);
  }
  return projection;
}

Result<std::optional<std::vector<IndexDefinition>>> read_indexes(
    const TemplateValues& values, const Properties& table, std::string_view property,
    std::vector<std::string>& ignored) {
  STATOR_ASSIGN_OR_RETURN(const std::vector<YamlNode> nodes, table.list(property));
  if (nodes.empty()) return std::optional<std::vector<IndexDefinition>>();
  std::vector<IndexDefinition> indexes;
  for (const YamlNode& node : nodes) {
    STATOR_ASSIGN_OR_RETURN(
        const Properties given,
        Properties::of(values, node,
                       {"IndexName", "KeySchema", "Projection", "ProvisionedThroughput",
                        "OnDemandThroughput", "WarmThroughput", kIgnoredOfIndex}));
    IndexDefinition index;
    STATOR_ASSIGN_OR_RETURN(index.name, given.required_text("IndexName"));
    STATOR_ASSIGN_OR_RETURN(index.key_schema, read_key_schema(values, given));
    STATOR_ASSIGN_OR_RETURN(index.projection, read_projection(values, given));
    STATOR_RETURN_IF_ERROR(read_capacity(values, given, index));
    STATOR_ASSIGN_OR_RETURN(const std::optional<YamlNode> insights, given.node(kIgnoredOfIndex));
    if (insights) ignored.push_back("index " + index.name + ": " + std::string(kIgnoredOfIndex));
    indexes.push_back(std::move(index));
  }
  return std::optional(std::move(indexes));
}

Result<VectorIndexDefinition> read_vector_index(const TemplateValues& values,
                                                const YamlNode& node) {
  STATOR_ASSIGN_OR_RETURN(const Properties given,
                          Properties::of(values, node,
                                         {"IndexName", "VectorAttribute", "SearchSchema",
                                          "Projection", "Dimensions", "DistanceFunction"}));
  VectorIndexDefinition index;
  STATOR_ASSIGN_OR_RETURN(index.name, given.required_text("IndexName"));
  STATOR_ASSIGN_OR_RETURN(const std::optional<YamlNode> attribute, given.node("VectorAttribute"));
  if (!attribute) return given.wrong("VectorAttribute", "is missing");
  STATOR_ASSIGN_OR_RETURN(const Properties vector,
                          Properties::of(values, *attribute, {"AttributeName"}));
  STATOR_ASSIGN_OR_RETURN(index.vector_attribute, vector.required_text("AttributeName"));
  STATOR_ASSIGN_OR_RETURN(const std::vector<YamlNode> elements, given.list("SearchSchema"));
  for (const YamlNode& element : elements) {
    STATOR_ASSIGN_OR_RETURN(
        const Properties named,
        Properties::of(values, element, {"AttributeName", "SearchSchemaElementType"}));
    SearchSchemaElement& added = index.search_schema.emplace_back();
    STATOR_ASSIGN_OR_RETURN(added.name, named.required_text("AttributeName"));
    STATOR_ASSIGN_OR_RETURN(const auto type,
                            named.choice<SearchSchemaElementType>(
                                "SearchSchemaElementType",
                                {{"HASH", SearchSchemaElementType::kHash},
                                 {"INLINE_FILTER", SearchSchemaElementType::kInlineFilter}}));
    if (!type) return named.wrong("SearchSchemaElementType", "is missing");
    added.type = *type;
  }
  STATOR_ASSIGN_OR_RETURN(index.projection, read_projection(values, given));
  STATOR_ASSIGN_OR_RETURN(const std::optional<int64_t> dimensions, given.integer("Dimensions"));
  if (!dimensions) return given.wrong("Dimensions", "is missing");
  index.dimensions = *dimensions;
  STATOR_ASSIGN_OR_RETURN(
      const auto function,
      given.choice<VectorDistanceFunction>("DistanceFunction",
                                           {{"COSINE", VectorDistanceFunction::kCosine},
                                            {"DOT_PRODUCT", VectorDistanceFunction::kDotProduct},
                                            {"EUCLIDEAN", VectorDistanceFunction::kEuclidean}}));
  if (!function) return given.wrong("DistanceFunction", "is missing");
  index.distance_function = *function;
  return index;
}

Result<std::optional<std::vector<VectorIndexDefinition>>> read_vector_indexes(
    const TemplateValues& values, const Properties& table) {
  STATOR_ASSIGN_OR_RETURN(const std::vector<YamlNode> nodes, table.list("VectorIndexes"));
  if (nodes.empty()) return std::optional<std::vector<VectorIndexDefinition>>();
  std::vector<VectorIndexDefinition> indexes;
  for (const YamlNode& node : nodes) {
    STATOR_ASSIGN_OR_RETURN(VectorIndexDefinition index, read_vector_index(values, node));
    indexes.push_back(std::move(index));
  }
  return std::optional(std::move(indexes));
}

Result<std::vector<Tag>> read_tags(const TemplateValues& values, const Properties& table) {
  STATOR_ASSIGN_OR_RETURN(const std::vector<YamlNode> nodes, table.list("Tags"));
  std::vector<Tag> tags;
  for (const YamlNode& node : nodes) {
    STATOR_ASSIGN_OR_RETURN(const Properties tag, Properties::of(values, node, {"Key", "Value"}));
    STATOR_ASSIGN_OR_RETURN(std::string key, tag.required_text("Key"));
    STATOR_ASSIGN_OR_RETURN(std::string value, tag.required_text("Value"));
    tags.push_back({.key = std::move(key), .value = std::move(value)});
  }
  return tags;
}

Result<std::optional<StreamSpecification>> read_stream(const TemplateValues& values,
                                                       const Properties& table,
                                                       std::vector<std::string>& ignored) {
  STATOR_ASSIGN_OR_RETURN(const std::optional<YamlNode> node, table.node("StreamSpecification"));
  if (!node) return std::optional<StreamSpecification>();
  STATOR_ASSIGN_OR_RETURN(const Properties given,
                          Properties::of(values, *node, {"StreamViewType", kIgnoredOfStream}));
  STATOR_ASSIGN_OR_RETURN(const std::optional<YamlNode> policy, given.node(kIgnoredOfStream));
  if (policy) ignored.push_back("StreamSpecification: " + std::string(kIgnoredOfStream));
  STATOR_ASSIGN_OR_RETURN(
      const auto view,
      given.choice<StreamViewType>("StreamViewType",
                                   {{"NEW_IMAGE", StreamViewType::kNewImage},
                                    {"OLD_IMAGE", StreamViewType::kOldImage},
                                    {"NEW_AND_OLD_IMAGES", StreamViewType::kNewAndOldImages},
                                    {"KEYS_ONLY", StreamViewType::kKeysOnly}}));
  if (!view) return given.wrong("StreamViewType", "is missing");
  return std::optional(StreamSpecification{.enabled = true, .view = view});
}

Result<std::optional<EncryptionSpecification>> read_encryption(const TemplateValues& values,
                                                               const Properties& table) {
  STATOR_ASSIGN_OR_RETURN(const std::optional<YamlNode> node, table.node("SSESpecification"));
  if (!node) return std::optional<EncryptionSpecification>();
  STATOR_ASSIGN_OR_RETURN(
      const Properties given,
      Properties::of(values, *node, {"SSEEnabled", "SSEType", "KMSMasterKeyId"}));
  EncryptionSpecification encryption;
  STATOR_ASSIGN_OR_RETURN(encryption.enabled, given.boolean("SSEEnabled"));
  STATOR_ASSIGN_OR_RETURN(
      encryption.type, given.choice<EncryptionType>("SSEType", {{"AES256", EncryptionType::kAes256},
                                                                {"KMS", EncryptionType::kKms}}));
  STATOR_ASSIGN_OR_RETURN(encryption.key_id, given.text("KMSMasterKeyId"));
  return std::optional(std::move(encryption));
}

// The attribute; empty if items do not expire.
Result<std::string> read_time_to_live(const TemplateValues& values, const Properties& table) {
  STATOR_ASSIGN_OR_RETURN(const std::optional<YamlNode> node,
                          table.node("TimeToLiveSpecification"));
  if (!node) return std::string();
  STATOR_ASSIGN_OR_RETURN(const Properties given,
                          Properties::of(values, *node, {"AttributeName", "Enabled"}));
  STATOR_ASSIGN_OR_RETURN(const std::optional<bool> enabled, given.boolean("Enabled"));
  if (!enabled) return given.wrong("Enabled", "is missing");
  STATOR_ASSIGN_OR_RETURN(const std::optional<std::string> attribute, given.text("AttributeName"));
  if (!*enabled) return std::string();
  if (!attribute || attribute->empty()) return given.wrong("AttributeName", "is missing");
  return *attribute;
}

Result<Recovery> read_recovery(const TemplateValues& values, const Properties& table) {
  STATOR_ASSIGN_OR_RETURN(const std::optional<YamlNode> node,
                          table.node("PointInTimeRecoverySpecification"));
  if (!node) return Recovery();
  STATOR_ASSIGN_OR_RETURN(
      const Properties given,
      Properties::of(values, *node, {"PointInTimeRecoveryEnabled", "RecoveryPeriodInDays"}));
  Recovery recovery;
  STATOR_ASSIGN_OR_RETURN(const std::optional<bool> enabled,
                          given.boolean("PointInTimeRecoveryEnabled"));
  recovery.enabled = enabled.value_or(false);
  STATOR_ASSIGN_OR_RETURN(recovery.days, given.integer("RecoveryPeriodInDays"));
  return recovery;
}

Result<void> add_ignored(const Properties& properties, std::vector<std::string>& ignored) {
  for (const std::string_view name : kIgnored) {
    STATOR_ASSIGN_OR_RETURN(const std::optional<YamlNode> node, properties.node(name));
    if (node) ignored.emplace_back(name);
  }
  return {};
}

Result<TemplateTable> read_table(const TemplateValues& values, const std::string& resource,
                                 const YamlNode& node) {
  STATOR_ASSIGN_OR_RETURN(const Properties given,
                          Properties::of(values, node,
                                         {"TableName",
                                          "AttributeDefinitions",
                                          "KeySchema",
                                          "BillingMode",
                                          "GlobalSecondaryIndexes",
                                          "VectorIndexes",
                                          "LocalSecondaryIndexes",
                                          "ProvisionedThroughput",
                                          "OnDemandThroughput",
                                          "WarmThroughput",
                                          "TableClass",
                                          "DeletionProtectionEnabled",
                                          "Tags",
                                          "StreamSpecification",
                                          "SSESpecification",
                                          "TimeToLiveSpecification",
                                          "PointInTimeRecoverySpecification",
                                          kIgnored[0],
                                          kIgnored[1],
                                          kIgnored[2],
                                          kIgnored[3]}));
  TemplateTable table{.resource = resource};
  CreateTableRequest& request = table.request;
  STATOR_ASSIGN_OR_RETURN(const std::optional<std::string> name, given.text("TableName"));
  request.table = name.value_or(resource);
  STATOR_ASSIGN_OR_RETURN(request.attributes, read_attributes(values, given));
  STATOR_ASSIGN_OR_RETURN(request.key_schema, read_key_schema(values, given));
  STATOR_ASSIGN_OR_RETURN(request.global_indexes,
                          read_indexes(values, given, "GlobalSecondaryIndexes", table.ignored));
  STATOR_ASSIGN_OR_RETURN(request.local_indexes,
                          read_indexes(values, given, "LocalSecondaryIndexes", table.ignored));
  STATOR_ASSIGN_OR_RETURN(request.vector_indexes, read_vector_indexes(values, given));
  STATOR_ASSIGN_OR_RETURN(
      request.billing_mode,
      given.choice<BillingMode>("BillingMode", {{"PROVISIONED", BillingMode::kProvisioned},
                                                {"PAY_PER_REQUEST", BillingMode::kPayPerRequest}}));
  STATOR_RETURN_IF_ERROR(read_capacity(values, given, request));
  STATOR_ASSIGN_OR_RETURN(
      request.table_class,
      given.choice<TableClass>(
          "TableClass", {{"STANDARD", TableClass::kStandard},
                         {"STANDARD_INFREQUENT_ACCESS", TableClass::kStandardInfrequentAccess}}));
  STATOR_ASSIGN_OR_RETURN(request.deletion_protection, given.boolean("DeletionProtectionEnabled"));
  STATOR_ASSIGN_OR_RETURN(request.tags, read_tags(values, given));
  STATOR_ASSIGN_OR_RETURN(request.stream, read_stream(values, given, table.ignored));
  STATOR_ASSIGN_OR_RETURN(request.encryption, read_encryption(values, given));
  STATOR_ASSIGN_OR_RETURN(table.time_to_live, read_time_to_live(values, given));
  STATOR_ASSIGN_OR_RETURN(table.recovery, read_recovery(values, given));
  STATOR_RETURN_IF_ERROR(add_ignored(given, table.ignored));
  return table;
}

// https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-resource-simpletable.html
Result<TemplateTable> read_simple_table(const TemplateValues& values, const std::string& resource,
                                        const YamlNode& node) {
  STATOR_ASSIGN_OR_RETURN(
      const Properties given,
      Properties::of(values, node,
                     {"TableName", "PrimaryKey", "ProvisionedThroughput", "Tags",
                      "SSESpecification", "PointInTimeRecoverySpecification"}));
  TemplateTable table{.resource = resource};
  CreateTableRequest& request = table.request;
  STATOR_ASSIGN_OR_RETURN(const std::optional<std::string> name, given.text("TableName"));
  request.table = name.value_or(resource);
  AttributeDefinition key{.name = "id", .type = ScalarType::kS};
  STATOR_ASSIGN_OR_RETURN(const std::optional<YamlNode> key_node, given.node("PrimaryKey"));
  if (key_node) {
    STATOR_ASSIGN_OR_RETURN(const Properties primary,
                            Properties::of(values, *key_node, {"Name", "Type"}));
    STATOR_ASSIGN_OR_RETURN(const std::optional<std::string> key_name, primary.text("Name"));
    STATOR_ASSIGN_OR_RETURN(const auto type,
                            primary.choice<ScalarType>("Type", {{"String", ScalarType::kS},
                                                                {"Number", ScalarType::kN},
                                                                {"Binary", ScalarType::kB}}));
    if (key_name) key.name = *key_name;
    if (type) key.type = *type;
  }
  request.key_schema = {{.name = key.name, .type = KeyType::kHash}};
  request.attributes = {std::move(key)};
  STATOR_ASSIGN_OR_RETURN(request.throughput,
                          read_pair<Throughput>(values, given, "ProvisionedThroughput",
                                                "ReadCapacityUnits", "WriteCapacityUnits"));
  request.billing_mode =
      request.throughput ? BillingMode::kProvisioned : BillingMode::kPayPerRequest;
  STATOR_ASSIGN_OR_RETURN(const std::optional<YamlNode> tags, given.node("Tags"));
  if (tags && !tags->is_map()) return given.wrong("Tags", "expected a map");
  for (std::size_t i = 0; tags && i < tags->map.size(); ++i) {
    const auto& [tag, value] = tags->map[i];
    STATOR_ASSIGN_OR_RETURN(const std::optional<YamlNode> resolved, values.resolve(value));
    if (resolved && !resolved->is_scalar()) {
      return template_error(value, "Tags: expected a string for '" + tag + "'");
    }
    if (resolved) request.tags.push_back({.key = tag, .value = resolved->scalar});
  }
  STATOR_ASSIGN_OR_RETURN(request.encryption, read_encryption(values, given));
  STATOR_ASSIGN_OR_RETURN(table.recovery, read_recovery(values, given));
  return table;
}

// Returns std::nullopt for a resource of another type, or with a condition that is false.
Result<std::optional<TemplateTable>> read_resource(const TemplateValues& values,
                                                   const std::string& name, const YamlNode& node) {
  const YamlNode* type = node.find("Type");
  if (type == nullptr || !type->is_scalar()) return template_error(node, "Type is missing");
  const bool is_table = type->scalar == "AWS::DynamoDB::Table";
  if (type->scalar == "AWS::DynamoDB::GlobalTable") {
    return template_error(*type,
                          "AWS::DynamoDB::GlobalTable spans regions, which a table here "
                          "cannot; make it an AWS::DynamoDB::Table");
  }
  if (!is_table && type->scalar != "AWS::Serverless::SimpleTable") {
    return std::optional<TemplateTable>();
  }
  if (const YamlNode* condition = node.find("Condition"); condition != nullptr) {
    STATOR_ASSIGN_OR_RETURN(const bool holds, values.condition(*condition, condition->scalar));
    if (!holds) return std::optional<TemplateTable>();
  }
  const YamlNode* properties = node.find("Properties");
  const YamlNode none{.kind = YamlNode::Kind::kMap, .line = node.line};
  if (properties == nullptr) properties = &none;
  STATOR_ASSIGN_OR_RETURN(TemplateTable table, is_table
                                                   ? read_table(values, name, *properties)
                                                   : read_simple_table(values, name, *properties));
  return std::optional(std::move(table));
}

// Every given parameter must be declared in the template, except pseudo parameters (AWS::…).
Result<void> check_parameters(const YamlNode& document, const TemplateParameters& parameters) {
  const YamlNode* declared = document.find("Parameters");
  for (const auto& [name, value] : parameters) {
    if (name.starts_with("AWS::") || (declared != nullptr && declared->find(name) != nullptr)) {
      continue;
    }
    return fail(Code::kInvalidArgument, "the template has no parameter '" + name + "'");
  }
  return {};
}

}  // namespace

Result<std::vector<TemplateTable>> read_template(const std::string& text,
                                                 const TemplateParameters& parameters) {
  STATOR_ASSIGN_OR_RETURN(const YamlNode document, read_yaml(text));
  const YamlNode* resources = document.find("Resources");
  if (resources == nullptr || !resources->is_map()) {
    return fail(Code::kInvalidArgument,
                "not a CloudFormation or SAM template: it has no map named Resources");
  }
  STATOR_RETURN_IF_ERROR(check_parameters(document, parameters));
  const TemplateValues values(document, parameters);
  std::vector<TemplateTable> tables;
  for (const auto& [name, node] : resources->map) {
    auto table = read_resource(values, name, node);
    if (!table) return fail(table.error().code, name + ": " + table.error().message);
    if (*table) tables.push_back(**std::move(table));
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto same_name = [&](const TemplateTable& other) {
      return other.request.table == tables[i].request.table;
    };
    if (std::find_if(tables.begin(), tables.begin() + static_cast<std::ptrdiff_t>(i), same_name) !=
        tables.begin() + static_cast<std::ptrdiff_t>(i)) {
      return fail(Code::kInvalidArgument, tables[i].resource + ": another resource has the table " +
                                              tables[i].request.table + " too");
    }
  }
  return tables;
}

}  // namespace stator::cli
