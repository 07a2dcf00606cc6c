// SPDX-License-Identifier: Apache-2.0
#include "api/validation/table_update.h"

#include <algorithm>
#include <span>

#include "api/model/enums.h"
#include "api/model/messages.h"
#include "api/validation/table_rules.h"
#include "api/validation/validate_rules.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace stator {
namespace {

class TableUpdate {
 public:
  TableUpdate(const CreateTableRequest& current, const UpdateTableRequest& request)
      : current_(current), request_(request), settings_(current) {}

  Result<CreateTableRequest> run() {
    STATOR_RETURN_IF_ERROR(change_billing());
    STATOR_RETURN_IF_ERROR(change_warm_throughput(
        settings_.warm_throughput, request_.warm_throughput, settings_.throughput, "table"));
    if (request_.table_class) settings_.table_class = request_.table_class;
    if (request_.deletion_protection) settings_.deletion_protection = request_.deletion_protection;
    if (request_.encryption) settings_.encryption = request_.encryption;
    STATOR_RETURN_IF_ERROR(check_vector_attributes());
    STATOR_RETURN_IF_ERROR(add_attributes());
    STATOR_RETURN_IF_ERROR(check_one_index());
    STATOR_RETURN_IF_ERROR(change_indexes());
    STATOR_RETURN_IF_ERROR(change_vector_indexes());
    STATOR_RETURN_IF_ERROR(check_index_throughputs());
    STATOR_RETURN_IF_ERROR(finish_attributes());
    return std::move(settings_);
  }

 private:
  bool switches_mode() const {
    return request_.billing_mode && is_paid_per_request(current_) != is_paid_per_request(settings_);
  }

  Result<void> change_billing() {
    if (request_.billing_mode) settings_.billing_mode = request_.billing_mode;
    if (is_paid_per_request(settings_)) {
      if (request_.throughput) {
        return invalid(messages::kPaidPerRequest);
      }
      settings_.throughput.reset();
      if (request_.on_demand_throughput) {
        settings_.on_demand_throughput = request_.on_demand_throughput;
      }
    } else {
      STATOR_RETURN_IF_ERROR(refuse_on_demand(request_.on_demand_throughput, ""));
      settings_.on_demand_throughput.reset();
      if (request_.throughput) {
        STATOR_RETURN_IF_ERROR(
            check_changes(current_.throughput, *request_.throughput, "table", "the table"));
        settings_.throughput = request_.throughput;
      }
    }
    if (switches_mode() && settings_.global_indexes) {
      for (IndexDefinition& index : *settings_.global_indexes) {
        index.throughput.reset();
        index.on_demand_throughput.reset();
      }
    }
    return {};
  }

  static Result<void> check_changes(const std::optional<Throughput>& current,
                                    const Throughput& wanted, const std::string& what,
                                    const std::string& provisioned_for) {
    if (current != wanted) return {};
    return fail(Code::kValidation, fmt::format(messages::kSameThroughput, what, provisioned_for,
                                               wanted.read, wanted.write));
  }

  // A member of `wanted` that the request omits is 0.
  Result<void> change_warm_throughput(std::optional<Throughput>& warm,
                                      const std::optional<Throughput>& wanted,
                                      const std::optional<Throughput>& provisioned,
                                      std::string_view of) const {
    if (!wanted) return {};
    const Throughput now = warm.value_or(default_warm_throughput(settings_, provisioned));
    const auto decreases = [&](std::string_view member) {
      return invalid(fmt::format(messages::kWarmDecreased, member, of));
    };
    if (wanted->read != 0 && wanted->read < now.read) return decreases("ReadUnitsPerSecond");
    if (wanted->write != 0 && wanted->write < now.write) return decreases("WriteUnitsPerSecond");
    warm = Throughput{.read = std::max(now.read, wanted->read),
                      .write = std::max(now.write, wanted->write)};
    return {};
  }

  // An attribute cannot be a vector of one index and an element of another schema. Whatever the
  // request itself defines is reported as defined.
  Result<void> check_vector_attributes() const {
    for (const VectorIndexChange& change : vector_changes()) {
      if (!change.create) continue;
      const std::string& attribute = change.create->vector_attribute;
      const bool defines = request_.attributes && std::ranges::find(*request_.attributes, attribute,
                                                                    &AttributeDefinition::name) !=
                                                      request_.attributes->end();
      if (defines) return invalid(fmt::format(messages::kVectorAttributeDefined, attribute));
      const Schema existing = existing_schema(attribute);
      if (existing.empty()) continue;
      return redefined(schema_text(existing, current_.attributes), vector_text(*change.create));
    }
    if (!current_.vector_indexes || !request_.attributes) return {};
    for (const VectorIndexDefinition& index : *current_.vector_indexes) {
      const Schema made = made_schema(index.vector_attribute);
      if (made.empty()) continue;
      return redefined(vector_text(index), schema_text(made, *request_.attributes));
    }
    return {};
  }

  // Adds the definitions of the keys of new indexes. DynamoDB ignores all others.
  Result<void> add_attributes() {
    if (!request_.attributes) return {};
    std::set<std::string_view> wanted;
    for (const GlobalIndexChange& change : global_changes()) {
      if (!change.create) continue;
      for (const KeySchemaElement& element : change.create->key_schema) wanted.insert(element.name);
    }
    for (const VectorIndexChange& change : vector_changes()) {
      if (!change.create) continue;
      for (const SearchSchemaElement& element : change.create->search_schema) {
        wanted.insert(element.name);
      }
    }
    for (const AttributeDefinition& attribute : *request_.attributes) {
      if (!wanted.contains(attribute.name)) continue;
      const auto known =
          std::ranges::find(settings_.attributes, attribute.name, &AttributeDefinition::name);
      if (known == settings_.attributes.end()) {
        settings_.attributes.push_back(attribute);
      } else if (known->type != attribute.type) {
        return redefined(schema_text(existing_schema(attribute.name), current_.attributes),
                         schema_text(made_schema(attribute.name), *request_.attributes));
      }
    }
    return {};
  }

  // The elements of a key schema or a search schema, for a message.
  struct SchemaElement {
    std::string_view name;
    std::string_view type;
  };
  using Schema = std::vector<SchemaElement>;

  // Sets `found` to the schema if it has the attribute and no earlier schema had it.
  static void find_in(const auto& schema, std::string_view attribute, Schema& found) {
    Schema elements;
    for (const auto& element : schema) {
      elements.push_back({element.name, wire::enum_name(element.type)});
    }
    const bool has = std::ranges::find(elements, attribute, &SchemaElement::name) != elements.end();
    if (found.empty() && has) found = std::move(elements);
  }

  // The first existing schema that has the attribute; empty if there is none.
  Schema existing_schema(std::string_view attribute) const {
    Schema existing;
    find_in(current_.key_schema, attribute, existing);
    for (const auto* indexes : {&current_.local_indexes, &current_.global_indexes}) {
      if (!*indexes) continue;
      for (const IndexDefinition& index : **indexes) {
        find_in(index.key_schema, attribute, existing);
      }
    }
    if (current_.vector_indexes) {
      for (const VectorIndexDefinition& index : *current_.vector_indexes) {
        find_in(index.search_schema, attribute, existing);
      }
    }
    return existing;
  }

  // The same, of the indexes that the request creates.
  Schema made_schema(std::string_view attribute) const {
    Schema made;
    for (const GlobalIndexChange& change : global_changes()) {
      if (change.create) find_in(change.create->key_schema, attribute, made);
    }
    for (const VectorIndexChange& change : vector_changes()) {
      if (change.create) find_in(change.create->search_schema, attribute, made);
    }
    return made;
  }

  static Failure redefined(const std::string& existing, const std::string& made) {
    return invalid(fmt::format(messages::kOtherType, existing, made));
  }

  static std::string vector_text(const VectorIndexDefinition& index) {
    return fmt::format(messages::kOtherTypeVector, index.vector_attribute, index.dimensions);
  }

  // Attributes that are missing in `attributes` are printed with their types in the table.
  std::string schema_text(const Schema& schema,
                          const std::vector<AttributeDefinition>& attributes) const {
    std::vector<std::string> elements;
    for (const SchemaElement& element : schema) {
      auto found = std::ranges::find(attributes, element.name, &AttributeDefinition::name);
      if (found == attributes.end()) {
        found = std::ranges::find(current_.attributes, element.name, &AttributeDefinition::name);
        if (found == current_.attributes.end()) continue;
      }
      elements.push_back(fmt::format(messages::kOtherTypeElement, element.name,
                                     wire::enum_name(found->type), element.type));
    }
    return fmt::format(messages::kOtherTypeSchema, fmt::join(elements, ", "));
  }

  std::span<const GlobalIndexChange> global_changes() const {
    if (!request_.global_indexes) return {};
    return *request_.global_indexes;
  }
  std::span<const VectorIndexChange> vector_changes() const {
    if (!request_.vector_indexes) return {};
    return *request_.vector_indexes;
  }

  Result<void> check_one_index() const {
    const auto makes_or_drops = [](const GlobalIndexChange& change) { return !change.update; };
    const auto changes =
        static_cast<std::size_t>(std::ranges::count_if(global_changes(), makes_or_drops)) +
        vector_changes().size();
    if (changes <= 1) return {};
    return fail(Code::kLimitExceeded, messages::kOneIndexChange);
  }

  Result<void> change_vector_indexes() {
    for (const VectorIndexChange& change : vector_changes()) {
      auto& indexes = settings_.vector_indexes;
      if (change.create) {
        if (has_index(change.create->name)) {
          return fail(Code::kValidation, messages::kIndexExists);
        }
        if (!indexes) indexes.emplace();
        indexes->push_back(*change.create);
        continue;
      }
      const auto found =
          indexes ? std::ranges::find(*indexes, *change.remove, &VectorIndexDefinition::name)
                  : std::vector<VectorIndexDefinition>::iterator();
      if (!indexes || found == indexes->end()) return no_such_index();
      indexes->erase(found);
      if (indexes->empty()) indexes.reset();
    }
    return {};
  }

  Result<void> change_indexes() {
    for (const GlobalIndexChange& change : global_changes()) {
      if (change.update) {
        STATOR_RETURN_IF_ERROR(update_index(*change.update));
      } else if (change.create) {
        STATOR_RETURN_IF_ERROR(create_index(*change.create));
      } else {
        STATOR_RETURN_IF_ERROR(remove_index(*change.remove));
      }
    }
    if (settings_.global_indexes && settings_.global_indexes->empty()) {
      settings_.global_indexes.reset();
    }
    return {};
  }

  template <class List>
  static auto named(List& indexes, const std::string& name) {
    return std::ranges::find(indexes, name, &IndexDefinition::name);
  }

  bool has_global_index(const std::string& name) const {
    return settings_.global_indexes &&
           named(*settings_.global_indexes, name) != settings_.global_indexes->end();
  }

  bool has_index(const std::string& name) const {
    const bool is_local = settings_.local_indexes &&
                          named(*settings_.local_indexes, name) != settings_.local_indexes->end();
    const bool is_of_vectors =
        settings_.vector_indexes &&
        std::ranges::find(*settings_.vector_indexes, name, &VectorIndexDefinition::name) !=
            settings_.vector_indexes->end();
    return is_local || is_of_vectors || has_global_index(name);
  }

  Result<void> update_index(const GlobalIndexUpdate& update) {
    if (!has_global_index(update.name)) return no_such_index();
    IndexDefinition& index = *named(*settings_.global_indexes, update.name);
    const std::string of = "index : " + index.name;
    if (update.throughput) {
      if (is_paid_per_request(settings_)) {
        return invalid(messages::kPaidPerRequest);
      }
      STATOR_RETURN_IF_ERROR(check_changes(index.throughput, *update.throughput,
                                           "index " + index.name, "index " + index.name));
      index.throughput = update.throughput;
    }
    if (update.on_demand_throughput) {
      if (!is_paid_per_request(settings_)) {
        return refuse_on_demand(update.on_demand_throughput, " for index: " + index.name);
      }
      STATOR_RETURN_IF_ERROR(check_on_demand(update.on_demand_throughput, of));
      index.on_demand_throughput = update.on_demand_throughput;
    }
    return change_warm_throughput(index.warm_throughput, update.warm_throughput, index.throughput,
                                  "index " + index.name);
  }

  Result<void> create_index(const IndexDefinition& index) {
    if (has_index(index.name)) {
      return fail(Code::kValidation, messages::kIndexExists);
    }
    if (!settings_.global_indexes) settings_.global_indexes.emplace();
    if (settings_.global_indexes->size() >= kGlobalIndexesMax) {
      return fail(Code::kLimitExceeded,
                  fmt::format(messages::kTooManyIndexesToUpdate, kGlobalIndexesMax));
    }
    settings_.global_indexes->push_back(index);
    return check_warm(settings_, index.warm_throughput, index.throughput, "index " + index.name);
  }

  Result<void> remove_index(const std::string& name) {
    if (!has_global_index(name)) return no_such_index();
    settings_.global_indexes->erase(named(*settings_.global_indexes, name));
    return {};
  }

  static Failure no_such_index() { return fail(Code::kResourceNotFound, messages::kNoSuchIndex); }

  Result<void> check_index_throughputs() const {
    if (!switches_mode() || is_paid_per_request(settings_) || !settings_.global_indexes) return {};
    std::vector<std::string_view> lacking;
    for (const IndexDefinition& index : *settings_.global_indexes) {
      if (!index.throughput) lacking.emplace_back(index.name);
    }
    if (lacking.empty()) return {};
    return invalid(fmt::format(messages::kIndexThroughputMissing, fmt::join(lacking, ",")));
  }

  // Checks the new settings, then removes definitions that no key or search schema uses.
  Result<void> finish_attributes() {
    STATOR_RETURN_IF_ERROR(check_index_keys(settings_, attribute_names(settings_.attributes)));
    STATOR_RETURN_IF_ERROR(check_vector_indexes(settings_));
    STATOR_RETURN_IF_ERROR(check_index_settings(settings_));
    const std::set<std::string> used = used_attributes(settings_);
    std::erase_if(settings_.attributes, [&](const AttributeDefinition& attribute) {
      return !used.contains(attribute.name);
    });
    return {};
  }

  const CreateTableRequest& current_;
  const UpdateTableRequest& request_;
  CreateTableRequest settings_;
};

}  // namespace

Result<CreateTableRequest> updated_settings(const CreateTableRequest& current,
                                            const UpdateTableRequest& request) {
  return TableUpdate(current, request).run();
}

Throughput default_warm_throughput(const CreateTableRequest& settings,
                                   const std::optional<Throughput>& provisioned) {
  constexpr Throughput kOnDemand = {.read = 12'000, .write = 4'000};
  return is_paid_per_request(settings) ? kOnDemand : provisioned.value_or(Throughput());
}

}  // namespace stator
