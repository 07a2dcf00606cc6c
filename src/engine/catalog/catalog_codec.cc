// SPDX-License-Identifier: Apache-2.0
// A definition is stored as an item in binary form, so that one checked decoder reads all of them.
// Enumerators are stored as the numbers in stored_codes.h. A new member needs a new kCatalogFormat,
// because readers reject unknown members.
#include "engine/catalog/catalog_codec.h"

#include <utility>

#include "engine/rows/stored_codes.h"

namespace stator {
namespace {

constexpr int kVersion = 1;
constexpr int kVersionWithBackfill = 2;  // has members that readers of version 1 must not ignore

Failure damaged(std::string_view what) {
  return fail(Code::kCorruption,
              "a table definition in the catalog is damaged: " + std::string(what));
}

Failure unknown_version(int64_t version) {
  return damaged("version " + std::to_string(version) + "; this version of Stator reads 1 and 2");
}

// ---- Encoding

template <class E>
  requires std::is_enum_v<E>
AttributeValue number(E value) {
  return {stored_code(value)};
}

AttributeValue encode(const KeySchema& schema) {
  List list;
  for (const KeySchemaElement& element : schema) {
    list.emplace_back(Map{{"Name", element.name}, {"Type", number(element.type)}});
  }
  return list;
}

AttributeValue encode(const std::vector<AttributeDefinition>& attributes) {
  List list;
  for (const AttributeDefinition& attribute : attributes) {
    list.emplace_back(Map{{"Name", attribute.name}, {"Type", number(attribute.type)}});
  }
  return list;
}

void put(Map& map, const char* name, const std::optional<Throughput>& throughput) {
  if (throughput) map[name] = Map{{"Read", throughput->read}, {"Write", throughput->write}};
}

void put(Map& map, const char* name, const std::optional<OnDemandThroughput>& throughput) {
  if (throughput) map[name] = Map{{"Read", throughput->max_read}, {"Write", throughput->max_write}};
}

void put(Map& map, const char* name, const std::optional<int64_t>& value) {
  if (value) map[name] = *value;
}

void put(Map& map, const char* name, const ThroughputChanges& changes) {
  if (changes == ThroughputChanges()) return;
  Map entry{{"Decreases", changes.decreases_today}};
  put(entry, "IncreasedMs", changes.increased_ms);
  put(entry, "DecreasedMs", changes.decreased_ms);
  map[name] = std::move(entry);
}

void put(Map& map, const char* name, const std::optional<EncryptionSpecification>& encryption) {
  if (!encryption) return;
  Map entry;
  if (encryption->enabled) entry["Enabled"] = *encryption->enabled;
  if (encryption->type) entry["Type"] = number(*encryption->type);
  if (encryption->key_id) entry["KeyId"] = *encryption->key_id;
  map[name] = std::move(entry);
}

void put(Map& map, const Projection& projection) {
  map["Projection"] = number(projection.type);
  List included;
  for (const std::string& attribute : projection.non_key_attributes) {
    included.emplace_back(attribute);
  }
  map["Included"] = std::move(included);
}

void put(Map& map, const char* name,
         const std::optional<std::vector<VectorIndexDefinition>>& indexes,
         const std::vector<SpaceId>& spaces) {
  if (!indexes) return;
  List list;
  for (std::size_t i = 0; i < indexes->size(); ++i) {
    const VectorIndexDefinition& index = (*indexes)[i];
    List schema;
    for (const SearchSchemaElement& element : index.search_schema) {
      schema.emplace_back(Map{{"Name", element.name}, {"Type", number(element.type)}});
    }
    Map entry{{"Name", index.name},
              {"Attribute", index.vector_attribute},
              {"SearchSchema", std::move(schema)},
              {"Dimensions", index.dimensions},
              {"Distance", number(index.distance_function)},
              {"Space", spaces[i]}};
    put(entry, index.projection);
    list.emplace_back(std::move(entry));
  }
  map[name] = std::move(list);
}

void put(Map& map, const char* name, const std::optional<std::vector<IndexDefinition>>& indexes,
         const std::vector<SpaceId>& spaces) {
  if (!indexes) return;
  List list;
  for (std::size_t i = 0; i < indexes->size(); ++i) {
    const IndexDefinition& index = (*indexes)[i];
    Map entry{{"Name", index.name}, {"KeySchema", encode(index.key_schema)}, {"Space", spaces[i]}};
    put(entry, index.projection);
    put(entry, "Throughput", index.throughput);
    put(entry, "OnDemand", index.on_demand_throughput);
    put(entry, "Warm", index.warm_throughput);
    list.emplace_back(std::move(entry));
  }
  map[name] = std::move(list);
}

void put(Map& map, const std::optional<RestoreSummary>& restored) {
  if (!restored) return;
  Map entry{{"TimeMs", restored->time_ms}};
  if (restored->source_backup_arn) entry["Backup"] = *restored->source_backup_arn;
  if (restored->source_table_arn) entry["Table"] = *restored->source_table_arn;
  map["Restored"] = std::move(entry);
}

// The members of a definition other than its settings.
void put_changes(Map& map, const TableDefinition& definition) {
  if (definition.expiry) {
    map["Expiry"] =
        Map{{"Attribute", definition.expiry->attribute}, {"Space", definition.expiry->space}};
  }
  if (!definition.unfinished.empty()) {
    List spaces;
    for (const SpaceId space : definition.unfinished) spaces.emplace_back(Map{{"Space", space}});
    map["Unfinished"] = std::move(spaces);
  }
  put(map, definition.restored);
  put(map, "OnDemandSinceMs", definition.on_demand_since_ms);
  put(map, "TableClassChangedMs", definition.table_class_changed_ms);
  put(map, "ThroughputChanges", definition.throughput_changes);
  Map indexes;
  for (const auto& [name, changes] : definition.index_throughput_changes) {
    put(indexes, name.c_str(), changes);
  }
  if (!indexes.empty()) map["IndexThroughputChanges"] = std::move(indexes);
}

// ---- Decoding. Each reader fails if a member has the wrong type, or is absent and not optional.

template <class T>
Result<const T*> member(const Map& map, const char* name) {
  const auto found = map.find(name);
  const T* value = found == map.end() ? nullptr : found->second.get_if<T>();
  if (value == nullptr) return damaged(name);
  return value;
}

Result<int64_t> integer(const Map& map, const char* name, int64_t min, int64_t max) {
  STATOR_ASSIGN_OR_RETURN(const Number* value, member<Number>(map, name));
  const auto integer = value->to_int64();
  if (!integer || *integer < min || *integer > max) return damaged(name);
  return *integer;
}

template <class E>
Result<E> enumerator(const Map& map, const char* name) {
  STATOR_ASSIGN_OR_RETURN(const int64_t code, integer(map, name, 0, INT64_MAX));
  const auto value = from_stored<E>(code);
  if (!value) return damaged(name);
  return *value;
}

Result<SpaceId> space(const Map& map) {
  STATOR_ASSIGN_OR_RETURN(const int64_t value, integer(map, "Space", kFirstTableSpace, UINT32_MAX));
  return static_cast<SpaceId>(value);
}

Result<std::string> text(const Map& map, const char* name) {
  STATOR_ASSIGN_OR_RETURN(const std::string* value, member<std::string>(map, name));
  return *value;
}

Result<KeySchema> key_schema(const Map& map) {
  STATOR_ASSIGN_OR_RETURN(const List* list, member<List>(map, "KeySchema"));
  KeySchema schema;
  for (const AttributeValue& value : *list) {
    const Map* entry = value.get_if<Map>();
    if (entry == nullptr) return damaged("KeySchema");
    KeySchemaElement element;
    STATOR_ASSIGN_OR_RETURN(element.name, text(*entry, "Name"));
    STATOR_ASSIGN_OR_RETURN(element.type, enumerator<KeyType>(*entry, "Type"));
    schema.push_back(std::move(element));
  }
  return schema;
}

Result<std::vector<AttributeDefinition>> attribute_definitions(const Map& map) {
  STATOR_ASSIGN_OR_RETURN(const List* list, member<List>(map, "Attributes"));
  std::vector<AttributeDefinition> attributes;
  for (const AttributeValue& value : *list) {
    const Map* entry = value.get_if<Map>();
    if (entry == nullptr) return damaged("Attributes");
    AttributeDefinition attribute;
    STATOR_ASSIGN_OR_RETURN(attribute.name, text(*entry, "Name"));
    STATOR_ASSIGN_OR_RETURN(attribute.type, enumerator<ScalarType>(*entry, "Type"));
    attributes.push_back(std::move(attribute));
  }
  return attributes;
}

template <class T>
Result<std::optional<T>> throughput(const Map& map, const char* name) {
  if (!map.contains(name)) return std::optional<T>();
  STATOR_ASSIGN_OR_RETURN(const Map* entry, member<Map>(map, name));
  STATOR_ASSIGN_OR_RETURN(const int64_t read, integer(*entry, "Read", INT64_MIN, INT64_MAX));
  STATOR_ASSIGN_OR_RETURN(const int64_t write, integer(*entry, "Write", INT64_MIN, INT64_MAX));
  return std::optional<T>(T{read, write});
}

Result<std::optional<int64_t>> optional_integer(const Map& map, const char* name) {
  if (!map.contains(name)) return std::optional<int64_t>();
  STATOR_ASSIGN_OR_RETURN(const int64_t value, integer(map, name, INT64_MIN, INT64_MAX));
  return std::optional(value);
}

Result<ThroughputChanges> throughput_changes(const Map& map, const char* name) {
  ThroughputChanges changes;
  if (!map.contains(name)) return changes;
  STATOR_ASSIGN_OR_RETURN(const Map* entry, member<Map>(map, name));
  STATOR_ASSIGN_OR_RETURN(changes.decreases_today, integer(*entry, "Decreases", 0, INT64_MAX));
  STATOR_ASSIGN_OR_RETURN(changes.increased_ms, optional_integer(*entry, "IncreasedMs"));
  STATOR_ASSIGN_OR_RETURN(changes.decreased_ms, optional_integer(*entry, "DecreasedMs"));
  return changes;
}

Result<EncryptionSpecification> encryption(const Map& map) {
  EncryptionSpecification encryption;
  if (map.contains("Enabled")) {
    STATOR_ASSIGN_OR_RETURN(const bool* enabled, member<bool>(map, "Enabled"));
    encryption.enabled = *enabled;
  }
  if (map.contains("Type")) {
    STATOR_ASSIGN_OR_RETURN(encryption.type, enumerator<EncryptionType>(map, "Type"));
  }
  if (map.contains("KeyId")) {
    STATOR_ASSIGN_OR_RETURN(encryption.key_id, text(map, "KeyId"));
  }
  return encryption;
}

Result<std::optional<RestoreSummary>> restored(const Map& map) {
  if (!map.contains("Restored")) return std::optional<RestoreSummary>();
  STATOR_ASSIGN_OR_RETURN(const Map* entry, member<Map>(map, "Restored"));
  RestoreSummary summary;
  STATOR_ASSIGN_OR_RETURN(summary.time_ms, integer(*entry, "TimeMs", INT64_MIN, INT64_MAX));
  if (entry->contains("Backup")) {
    STATOR_ASSIGN_OR_RETURN(summary.source_backup_arn, text(*entry, "Backup"));
  }
  if (entry->contains("Table")) {
    STATOR_ASSIGN_OR_RETURN(summary.source_table_arn, text(*entry, "Table"));
  }
  return std::optional(std::move(summary));
}

// The members of a definition other than its settings.
Result<void> read_changes(const Map& map, TableDefinition& definition) {
  if (map.contains("Expiry")) {
    STATOR_ASSIGN_OR_RETURN(const Map* entry, member<Map>(map, "Expiry"));
    ExpiryQueue queue;
    STATOR_ASSIGN_OR_RETURN(queue.attribute, text(*entry, "Attribute"));
    STATOR_ASSIGN_OR_RETURN(queue.space, space(*entry));
    definition.expiry = std::move(queue);
  }
  if (map.contains("Unfinished")) {
    STATOR_ASSIGN_OR_RETURN(const List* list, member<List>(map, "Unfinished"));
    for (const AttributeValue& value : *list) {
      const Map* entry = value.get_if<Map>();
      if (entry == nullptr) return damaged("Unfinished");
      STATOR_ASSIGN_OR_RETURN(const SpaceId id, space(*entry));
      definition.unfinished.push_back(id);
    }
  }
  STATOR_ASSIGN_OR_RETURN(definition.restored, restored(map));
  STATOR_ASSIGN_OR_RETURN(definition.on_demand_since_ms, optional_integer(map, "OnDemandSinceMs"));
  STATOR_ASSIGN_OR_RETURN(definition.table_class_changed_ms,
                          optional_integer(map, "TableClassChangedMs"));
  STATOR_ASSIGN_OR_RETURN(definition.throughput_changes,
                          throughput_changes(map, "ThroughputChanges"));
  if (map.contains("IndexThroughputChanges")) {
    STATOR_ASSIGN_OR_RETURN(const Map* indexes, member<Map>(map, "IndexThroughputChanges"));
    for (const auto& [name, unused] : *indexes) {
      STATOR_ASSIGN_OR_RETURN(definition.index_throughput_changes[name],
                              throughput_changes(*indexes, name.c_str()));
    }
  }
  return {};
}

Result<Projection> projection(const Map& map) {
  Projection projection;
  STATOR_ASSIGN_OR_RETURN(projection.type, enumerator<ProjectionType>(map, "Projection"));
  STATOR_ASSIGN_OR_RETURN(const List* included, member<List>(map, "Included"));
  for (const AttributeValue& value : *included) {
    const auto* name = value.get_if<std::string>();
    if (name == nullptr) return damaged("Included");
    projection.non_key_attributes.push_back(*name);
  }
  return projection;
}

Result<VectorIndexDefinition> vector_index_definition(const Map& map) {
  VectorIndexDefinition index;
  STATOR_ASSIGN_OR_RETURN(index.name, text(map, "Name"));
  STATOR_ASSIGN_OR_RETURN(index.vector_attribute, text(map, "Attribute"));
  STATOR_ASSIGN_OR_RETURN(const List* schema, member<List>(map, "SearchSchema"));
  for (const AttributeValue& value : *schema) {
    const Map* entry = value.get_if<Map>();
    if (entry == nullptr) return damaged("SearchSchema");
    SearchSchemaElement element;
    STATOR_ASSIGN_OR_RETURN(element.name, text(*entry, "Name"));
    STATOR_ASSIGN_OR_RETURN(element.type, enumerator<SearchSchemaElementType>(*entry, "Type"));
    index.search_schema.push_back(std::move(element));
  }
  STATOR_ASSIGN_OR_RETURN(index.projection, projection(map));
  STATOR_ASSIGN_OR_RETURN(index.dimensions, integer(map, "Dimensions", 1, 4096));
  STATOR_ASSIGN_OR_RETURN(index.distance_function,
                          enumerator<VectorDistanceFunction>(map, "Distance"));
  return index;
}

Result<IndexDefinition> index_definition(const Map& map) {
  IndexDefinition index;
  STATOR_ASSIGN_OR_RETURN(index.name, text(map, "Name"));
  STATOR_ASSIGN_OR_RETURN(index.key_schema, key_schema(map));
  STATOR_ASSIGN_OR_RETURN(index.projection, projection(map));
  STATOR_ASSIGN_OR_RETURN(index.throughput, throughput<Throughput>(map, "Throughput"));
  STATOR_ASSIGN_OR_RETURN(index.on_demand_throughput,
                          throughput<OnDemandThroughput>(map, "OnDemand"));
  STATOR_ASSIGN_OR_RETURN(index.warm_throughput, throughput<Throughput>(map, "Warm"));
  return index;
}

// `read_one` returns a definition.
template <class Definition, class Read>
Result<void> read_indexes(const Map& map, const char* name,
                          std::optional<std::vector<Definition>>& indexes,
                          std::vector<SpaceId>& spaces, Read read_one) {
  if (!map.contains(name)) return {};
  STATOR_ASSIGN_OR_RETURN(const List* list, member<List>(map, name));
  indexes.emplace();
  for (const AttributeValue& value : *list) {
    const Map* entry = value.get_if<Map>();
    if (entry == nullptr) return damaged(name);
    STATOR_ASSIGN_OR_RETURN(Definition index, read_one(*entry));
    STATOR_ASSIGN_OR_RETURN(const SpaceId id, space(*entry));
    indexes->push_back(std::move(index));
    spaces.push_back(id);
  }
  return {};
}

Result<void> read_log_settings(const Map& map, TableDefinition& definition) {
  if (map.contains("Stream")) {
    STATOR_ASSIGN_OR_RETURN(const Map* stream, member<Map>(map, "Stream"));
    STATOR_ASSIGN_OR_RETURN(const bool* enabled, member<bool>(*stream, "Enabled"));
    definition.settings.stream = StreamSpecification{.enabled = *enabled};
    if (stream->contains("View")) {
      STATOR_ASSIGN_OR_RETURN(definition.settings.stream->view,
                              enumerator<StreamViewType>(*stream, "View"));
    }
  }
  if (map.contains("Log")) {
    STATOR_ASSIGN_OR_RETURN(const int64_t id, integer(map, "Log", kFirstTableSpace, UINT32_MAX));
    definition.log_space = static_cast<SpaceId>(id);
  }
  if (map.contains("LatestStreamMs")) {
    STATOR_ASSIGN_OR_RETURN(definition.latest_stream_ms,
                            integer(map, "LatestStreamMs", INT64_MIN, INT64_MAX));
  }
  if (map.contains("RecoveryMs")) {
    STATOR_ASSIGN_OR_RETURN(definition.recovery_ms, integer(map, "RecoveryMs", 0, INT64_MAX));
    STATOR_ASSIGN_OR_RETURN(definition.recovery_since_ms,
                            integer(map, "RecoverySinceMs", INT64_MIN, INT64_MAX));
  }
  return {};
}

}  // namespace

std::string encode_table(const TableDefinition& definition) {
  const CreateTableRequest& settings = definition.settings;
  const bool is_plain = definition.unfinished.empty() && !definition.expiry;
  Item item{{"Version", is_plain ? kVersion : kVersionWithBackfill},
            {"Name", settings.table},
            {"Id", definition.id},
            {"CreatedMs", definition.created_ms},
            {"Space", definition.space},
            {"Attributes", encode(settings.attributes)},
            {"KeySchema", encode(settings.key_schema)}};
  put(item, "LocalIndexes", settings.local_indexes, definition.local_spaces);
  put(item, "GlobalIndexes", settings.global_indexes, definition.global_spaces);
  put(item, "VectorIndexes", settings.vector_indexes, definition.vector_spaces);
  if (settings.billing_mode) item["BillingMode"] = number(*settings.billing_mode);
  put(item, "Throughput", settings.throughput);
  put(item, "OnDemand", settings.on_demand_throughput);
  put(item, "Warm", settings.warm_throughput);
  if (settings.table_class) item["TableClass"] = number(*settings.table_class);
  if (settings.deletion_protection) item["DeletionProtection"] = *settings.deletion_protection;
  List tags;
  for (const Tag& tag : settings.tags)
    tags.emplace_back(Map{{"Key", tag.key}, {"Value", tag.value}});
  item["Tags"] = std::move(tags);
  put(item, "Encryption", settings.encryption);
  if (settings.resource_policy) item["ResourcePolicy"] = *settings.resource_policy;
  put_changes(item, definition);
  if (settings.stream) {
    Map stream{{"Enabled", settings.stream->enabled}};
    if (settings.stream->view) stream["View"] = number(*settings.stream->view);
    item["Stream"] = std::move(stream);
  }
  if (definition.log_space != 0) item["Log"] = definition.log_space;
  if (definition.latest_stream_ms) item["LatestStreamMs"] = *definition.latest_stream_ms;
  if (definition.recovery_ms != 0) {
    item["RecoveryMs"] = definition.recovery_ms;
    item["RecoverySinceMs"] = definition.recovery_since_ms;
  }
  return encode_item(item);
}

Result<TableDefinition> decode_table(std::string_view bytes) {
  STATOR_RETURN_IF_ERROR(validate_item(bytes));
  const Item item = decode_item(ItemView(bytes));
  STATOR_ASSIGN_OR_RETURN(const int64_t version, integer(item, "Version", 0, INT64_MAX));
  if (version != kVersion && version != kVersionWithBackfill) {
    return unknown_version(version);
  }
  TableDefinition definition;
  CreateTableRequest& settings = definition.settings;
  STATOR_ASSIGN_OR_RETURN(settings.table, text(item, "Name"));
  STATOR_ASSIGN_OR_RETURN(definition.id, text(item, "Id"));
  STATOR_ASSIGN_OR_RETURN(definition.created_ms, integer(item, "CreatedMs", INT64_MIN, INT64_MAX));
  STATOR_ASSIGN_OR_RETURN(definition.space, space(item));
  STATOR_ASSIGN_OR_RETURN(settings.attributes, attribute_definitions(item));
  STATOR_ASSIGN_OR_RETURN(settings.key_schema, key_schema(item));
  STATOR_RETURN_IF_ERROR(read_indexes(item, "LocalIndexes", settings.local_indexes,
                                      definition.local_spaces, index_definition));
  STATOR_RETURN_IF_ERROR(read_indexes(item, "GlobalIndexes", settings.global_indexes,
                                      definition.global_spaces, index_definition));
  STATOR_RETURN_IF_ERROR(read_indexes(item, "VectorIndexes", settings.vector_indexes,
                                      definition.vector_spaces, vector_index_definition));
  if (item.contains("BillingMode")) {
    STATOR_ASSIGN_OR_RETURN(settings.billing_mode, enumerator<BillingMode>(item, "BillingMode"));
  }
  STATOR_ASSIGN_OR_RETURN(settings.throughput, throughput<Throughput>(item, "Throughput"));
  STATOR_ASSIGN_OR_RETURN(settings.on_demand_throughput,
                          throughput<OnDemandThroughput>(item, "OnDemand"));
  STATOR_ASSIGN_OR_RETURN(settings.warm_throughput, throughput<Throughput>(item, "Warm"));
  if (item.contains("TableClass")) {
    STATOR_ASSIGN_OR_RETURN(settings.table_class, enumerator<TableClass>(item, "TableClass"));
  }
  if (item.contains("DeletionProtection")) {
    STATOR_ASSIGN_OR_RETURN(const bool* enabled, member<bool>(item, "DeletionProtection"));
    settings.deletion_protection = *enabled;
  }
  STATOR_ASSIGN_OR_RETURN(const List* tags, member<List>(item, "Tags"));
  for (const AttributeValue& value : *tags) {
    const Map* entry = value.get_if<Map>();
    if (entry == nullptr) return damaged("Tags");
    Tag tag;
    STATOR_ASSIGN_OR_RETURN(tag.key, text(*entry, "Key"));
    STATOR_ASSIGN_OR_RETURN(tag.value, text(*entry, "Value"));
    settings.tags.push_back(std::move(tag));
  }
  if (item.contains("Encryption")) {
    STATOR_ASSIGN_OR_RETURN(const Map* entry, member<Map>(item, "Encryption"));
    STATOR_ASSIGN_OR_RETURN(settings.encryption, encryption(*entry));
  }
  if (item.contains("ResourcePolicy")) {
    STATOR_ASSIGN_OR_RETURN(settings.resource_policy, text(item, "ResourcePolicy"));
  }
  STATOR_RETURN_IF_ERROR(read_changes(item, definition));
  STATOR_RETURN_IF_ERROR(read_log_settings(item, definition));
  if (encode_table(definition) != bytes) return damaged("unknown members");
  return definition;
}

Result<TableDefinition> table_in(const Item& record) {
  const auto found = record.find("Definition");
  const Binary* bytes = found == record.end() ? nullptr : found->second.get_if<Binary>();
  if (bytes == nullptr) return fail(Code::kCorruption, "a record has no table definition");
  return decode_table(bytes->bytes);
}

std::string encode_log(const LogDefinition& log) {
  List streams;
  for (const LoggedStream& stream : log.streams) {
    Map entry{{"CreatedMs", stream.created_ms}, {"View", number(stream.view)}};
    if (stream.ended_ms) entry["EndedMs"] = *stream.ended_ms;
    streams.emplace_back(std::move(entry));
  }
  return encode_item({{"Version", kVersion},
                      {"Space", log.space},
                      {"Table", log.table},
                      {"TableId", log.table_id},
                      {"KeySchema", encode(log.key_schema)},
                      {"Streams", std::move(streams)},
                      {"RecoveryMs", log.recovery_ms}});
}

Result<LogDefinition> decode_log(std::string_view bytes) {
  STATOR_RETURN_IF_ERROR(validate_item(bytes));
  const Item item = decode_item(ItemView(bytes));
  STATOR_ASSIGN_OR_RETURN(const int64_t version, integer(item, "Version", 0, INT64_MAX));
  if (version != kVersion) {
    return unknown_version(version);
  }
  LogDefinition log;
  STATOR_ASSIGN_OR_RETURN(log.space, space(item));
  STATOR_ASSIGN_OR_RETURN(log.table, text(item, "Table"));
  STATOR_ASSIGN_OR_RETURN(log.table_id, text(item, "TableId"));
  STATOR_ASSIGN_OR_RETURN(log.key_schema, key_schema(item));
  STATOR_ASSIGN_OR_RETURN(log.recovery_ms, integer(item, "RecoveryMs", 0, INT64_MAX));
  STATOR_ASSIGN_OR_RETURN(const List* streams, member<List>(item, "Streams"));
  for (const AttributeValue& value : *streams) {
    const Map* entry = value.get_if<Map>();
    if (entry == nullptr) return damaged("Streams");
    LoggedStream stream;
    STATOR_ASSIGN_OR_RETURN(stream.created_ms, integer(*entry, "CreatedMs", INT64_MIN, INT64_MAX));
    STATOR_ASSIGN_OR_RETURN(stream.view, enumerator<StreamViewType>(*entry, "View"));
    if (entry->contains("EndedMs")) {
      STATOR_ASSIGN_OR_RETURN(stream.ended_ms, integer(*entry, "EndedMs", INT64_MIN, INT64_MAX));
    }
    log.streams.push_back(stream);
  }
  if (encode_log(log) != bytes) return damaged("unknown members");
  return log;
}

}  // namespace stator
