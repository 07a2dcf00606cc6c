// SPDX-License-Identifier: Apache-2.0
// DynamoDB makes one kind of change per request. The order is: deleted indexes, capacity, new
// indexes (one per request), other settings.
#include "cli/table_plan.h"
#include "api/json/item_json.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "api/admin/document.h"
#include "api/model/enums.h"
#include "api/wire/wire.h"
#include "cli/progress.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "recipes/common/requests.h"

namespace stator::cli {
namespace {

template <class Definition>
const std::vector<Definition>& indexes_of(const std::optional<std::vector<Definition>>& indexes) {
  static const std::vector<Definition> none;
  return indexes ? *indexes : none;
}

template <class Description>
const Description* named(const std::vector<Description>& indexes, const std::string& name) {
  const auto found = std::ranges::find_if(
      indexes, [&](const Description& index) { return index.definition.name == name; });
  return found == indexes.end() ? nullptr : &*found;
}

bool same_projection(const Projection& a, const Projection& b) {
  return a.type == b.type &&
         std::ranges::is_permutation(a.non_key_attributes, b.non_key_attributes);
}

template <class T>
bool wants_other(const std::optional<T>& wanted, const std::optional<T>& found) {
  return wanted && wanted != found;
}

bool wants_warmer(const std::optional<Throughput>& wanted, const std::optional<Throughput>& found) {
  const Throughput now = found.value_or(Throughput());
  return wanted && (wanted->read > now.read || wanted->write > now.write);
}

class TablePlan {
 public:
  TablePlan(const TemplateTable& wanted, const TableState& found)
      : wanted_(wanted), request_(wanted.request), found_(found), table_(found.table) {}

  Result<std::vector<TableStep>> steps() {
    STATOR_RETURN_IF_ERROR(check_what_stays());
    remove_indexes();
    change_capacity();
    add_indexes();
    change_settings();
    change_stream();
    change_time_to_live();
    change_recovery();
    change_tags();
    return std::move(steps_);
  }

 private:
  Failure conflict(const std::string& reason) const {
    return fail(Code::kConflict,
                fmt::format("table '{}' exists and cannot become what is wanted: {}",
                            request_.table, reason));
  }

  void add(std::string what, std::string operation, std::string request) {
    steps_.push_back({std::move(what), std::move(operation), std::move(request)});
  }
  void update(std::string what, UpdateTableRequest request) {
    request.table = request_.table;
    add(std::move(what), "UpdateTable", wire::to_json(request));
  }

  Result<void> check_what_stays() const {
    if (request_.key_schema != table_.key_schema) return conflict("it has another key schema");
    std::set<std::string> names;
    add_names(request_.key_schema, names);
    for (const IndexDefinition& index : indexes_of(request_.local_indexes)) {
      const IndexDescription* there = named(table_.local_indexes, index.name);
      if (there == nullptr) return conflict("it has no local index " + index.name);
      STATOR_RETURN_IF_ERROR(check_same(index, there->definition));
      add_names(index.key_schema, names);
    }
    if (table_.local_indexes.size() != indexes_of(request_.local_indexes).size()) {
      return conflict("it has another local index");
    }
    for (const IndexDefinition& index : indexes_of(request_.global_indexes)) {
      const IndexDescription* there = named(table_.global_indexes, index.name);
      if (there == nullptr) continue;
      STATOR_RETURN_IF_ERROR(check_same(index, there->definition));
      add_names(index.key_schema, names);
    }
    for (const VectorIndexDefinition& index : indexes_of(request_.vector_indexes)) {
      const VectorIndexDescription* there = named(table_.vector_indexes, index.name);
      if (there == nullptr) continue;
      VectorIndexDefinition same = there->definition;
      if (same_projection(index.projection, same.projection)) same.projection = index.projection;
      if (index != same) {
        return conflict("its vector index " + index.name +
                        " is another; give the index another name");
      }
      add_names(index.search_schema, names);
    }
    return check_types(names);
  }

  template <class Element>
  static void add_names(const std::vector<Element>& schema, std::set<std::string>& names) {
    for (const Element& element : schema) names.insert(element.name);
  }

  Result<void> check_same(const IndexDefinition& wanted, const IndexDefinition& found) const {
    const bool same_keys = wanted.key_schema == found.key_schema;
    if (same_keys && same_projection(wanted.projection, found.projection)) return {};
    return conflict(fmt::format("its index {} has another {}; give the index another name",
                                wanted.name, same_keys ? "projection" : "key schema"));
  }

  Result<void> check_types(const std::set<std::string>& names) const {
    for (const AttributeDefinition& attribute : request_.attributes) {
      const auto there =
          std::ranges::find(table_.attributes, attribute.name, &AttributeDefinition::name);
      if (names.contains(attribute.name) && there != table_.attributes.end() &&
          there->type != attribute.type) {
        return conflict("its attribute " + attribute.name + " has another type");
      }
    }
    return {};
  }

  void remove_indexes() {
    for (const IndexDescription& index : table_.global_indexes) {
      const std::string& name = index.definition.name;
      const auto& wanted = indexes_of(request_.global_indexes);
      if (std::ranges::find(wanted, name, &IndexDefinition::name) != wanted.end()) continue;
      update("remove index " + name, {.global_indexes = {{{.remove = name}}}});
      steps_.back().is_of_index = true;
    }
    for (const VectorIndexDescription& index : table_.vector_indexes) {
      const std::string& name = index.definition.name;
      const auto& wanted = indexes_of(request_.vector_indexes);
      if (std::ranges::find(wanted, name, &VectorIndexDefinition::name) != wanted.end()) continue;
      update("remove vector index " + name, {.vector_indexes = {{{.remove = name}}}});
      steps_.back().is_of_index = true;
    }
  }

  // Changes the billing mode and throughput in one request, because a table that becomes
  // provisioned needs the throughput of its indexes too. On-demand limits and warm throughput are
  // separate changes.
  void change_capacity() {
    const BillingMode mode = request_.billing_mode.value_or(BillingMode::kProvisioned);
    const bool switches = mode != table_.billing_mode;
    UpdateTableRequest change;
    std::vector<std::string> parts;
    if (switches) {
      change.billing_mode = mode;
      parts.push_back(fmt::format("billing mode {}", wire::enum_name(mode)));
    }
    if (request_.throughput && (switches || *request_.throughput != table_.throughput)) {
      change.throughput = request_.throughput;
      parts.emplace_back("throughput");
    }
    std::vector<GlobalIndexChange> indexes;
    for (const IndexDefinition& index : indexes_of(request_.global_indexes)) {
      if (change_index_capacity(index, switches, indexes)) {
        parts.push_back("capacity of index " + index.name);
      }
    }
    if (!indexes.empty()) change.global_indexes = std::move(indexes);
    if (!parts.empty()) update(fmt::format("{}", fmt::join(parts, ", ")), std::move(change));
    if (wants_other(request_.on_demand_throughput, table_.on_demand_throughput)) {
      update("on-demand throughput", {.on_demand_throughput = request_.on_demand_throughput});
    }
    if (wants_warmer(request_.warm_throughput, table_.warm_throughput)) {
      update("warm throughput", {.warm_throughput = request_.warm_throughput});
    }
  }

  bool change_index_capacity(const IndexDefinition& wanted, bool switches,
                             std::vector<GlobalIndexChange>& changes) const {
    const IndexDescription* there = named(table_.global_indexes, wanted.name);
    if (there == nullptr) return false;
    const IndexDefinition& found = there->definition;
    GlobalIndexUpdate update{.name = wanted.name};
    if (wanted.throughput && (switches || wanted.throughput != found.throughput)) {
      update.throughput = wanted.throughput;
    }
    if (wants_other(wanted.on_demand_throughput, found.on_demand_throughput)) {
      update.on_demand_throughput = wanted.on_demand_throughput;
    }
    if (wants_warmer(wanted.warm_throughput, found.warm_throughput)) {
      update.warm_throughput = wanted.warm_throughput;
    }
    if (!update.throughput && !update.on_demand_throughput && !update.warm_throughput) return false;
    changes.push_back({.update = std::move(update)});
    return true;
  }

  void add_indexes() {
    for (const IndexDefinition& index : indexes_of(request_.global_indexes)) {
      if (named(table_.global_indexes, index.name) != nullptr) continue;
      update("add index " + index.name, {.attributes = attributes_in(index.key_schema),
                                         .global_indexes = {{{.create = index}}}});
      steps_.back().is_of_index = true;
    }
    for (const VectorIndexDefinition& index : indexes_of(request_.vector_indexes)) {
      if (named(table_.vector_indexes, index.name) != nullptr) continue;
      update("add vector index " + index.name, {.attributes = attributes_in(index.search_schema),
                                                .vector_indexes = {{{.create = index}}}});
      steps_.back().is_of_index = true;
    }
  }

  template <class Element>
  std::vector<AttributeDefinition> attributes_in(const std::vector<Element>& schema) const {
    std::set<std::string> names;
    add_names(schema, names);
    std::vector<AttributeDefinition> attributes;
    std::ranges::copy_if(
        request_.attributes, std::back_inserter(attributes),
        [&](const AttributeDefinition& attribute) { return names.contains(attribute.name); });
    return attributes;
  }

  void change_settings() {
    const TableClass table_class = request_.table_class.value_or(TableClass::kStandard);
    if (table_class != table_.table_class.value_or(TableClass::kStandard)) {
      update(fmt::format("table class {}", wire::enum_name(table_class)),
             {.table_class = table_class});
    }
    const bool is_protected = request_.deletion_protection.value_or(false);
    if (is_protected != table_.deletion_protection) {
      update(is_protected ? "deletion protection" : "no deletion protection",
             {.deletion_protection = is_protected});
    }
    if (request_.encryption && is_encrypted_otherwise(*request_.encryption)) {
      update("encryption", {.encryption = request_.encryption});
    }
  }

  // The template can name a key by its id, but the description has its ARN.
  bool is_encrypted_otherwise(const EncryptionSpecification& wanted) const {
    if (wanted.enabled.value_or(false) != table_.encryption.has_value()) return true;
    return table_.encryption && wanted.key_id &&
           !table_.encryption->key_id.value_or("").ends_with(*wanted.key_id);
  }

  void change_stream() {
    if (request_.stream == table_.stream) return;
    if (table_.stream) update("no stream", {.stream = StreamSpecification{}});
    if (request_.stream) {
      const auto view = request_.stream->view.value_or(StreamViewType::kNewAndOldImages);
      update(fmt::format("stream {}", wire::enum_name(view)), {.stream = request_.stream});
    }
  }

  void set_time_to_live(std::string what, TimeToLiveSpecification specification) {
    add(std::move(what), "UpdateTimeToLive",
        wire::to_json(UpdateTimeToLiveRequest{request_.table, std::move(specification)}));
  }
  void change_time_to_live() {
    const DescribeTimeToLiveResult& found = found_.time_to_live;
    const bool is_on =
        found.status == TimeToLiveStatus::kEnabled || found.status == TimeToLiveStatus::kEnabling;
    const std::string now = is_on ? found.attribute : "";
    if (now == wanted_.time_to_live) return;
    if (is_on) set_time_to_live("no time to live", {.enabled = false, .attribute = now});
    if (wanted_.time_to_live.empty()) return;
    set_time_to_live("time to live on " + wanted_.time_to_live,
                     {.enabled = true, .attribute = wanted_.time_to_live});
  }

  void change_recovery() {
    const Recovery& wanted = wanted_.recovery;
    const bool is_same = wanted.enabled == found_.recovery.enabled &&
                         !(wanted.enabled && wants_other(wanted.days, found_.recovery.days));
    if (is_same) return;
    Item specification{{"PointInTimeRecoveryEnabled", wanted.enabled}};
    if (wanted.days) specification["RecoveryPeriodInDays"] = *wanted.days;
    add(wanted.enabled ? "point-in-time recovery" : "no point-in-time recovery",
        "UpdateContinuousBackups",
        wire::document_to_json({{"TableName", request_.table},
                                {"PointInTimeRecoverySpecification", std::move(specification)}}));
  }

  void change_tags() {
    if (request_.tags.empty()) return;
    List set;
    List removed;
    std::vector<std::string> set_names;
    std::vector<std::string> removed_names;
    for (const Tag& tag : request_.tags) {
      if (std::ranges::find(found_.tags, tag) != found_.tags.end()) continue;
      set.emplace_back(Item{{"Key", tag.key}, {"Value", tag.value}});
      set_names.push_back(tag.key);
    }
    for (const Tag& tag : found_.tags) {
      const bool stays =
          tag.key.starts_with("aws:") ||
          std::ranges::find(request_.tags, tag.key, &Tag::key) != request_.tags.end();
      if (stays) continue;
      removed.emplace_back(tag.key);
      removed_names.push_back(tag.key);
    }
    if (!removed.empty()) {
      add(fmt::format("no tags {}", fmt::join(removed_names, ", ")), "UntagResource",
          wire::document_to_json({{"ResourceArn", table_.arn}, {"TagKeys", std::move(removed)}}));
    }
    if (!set.empty()) {
      add(fmt::format("tags {}", fmt::join(set_names, ", ")), "TagResource",
          wire::document_to_json({{"ResourceArn", table_.arn}, {"Tags", std::move(set)}}));
    }
  }

  const TemplateTable& wanted_;
  const CreateTableRequest& request_;
  const TableState& found_;
  const TableDescription& table_;
  std::vector<TableStep> steps_;
};

Result<std::vector<Tag>> list_tags(Client& client, const std::string& arn) {
  std::vector<Tag> tags;
  Item request{{"ResourceArn", arn}};
  for (;;) {
    STATOR_ASSIGN_OR_RETURN(const Item page, ask(client, "ListTagsOfResource", request));
    for (const AttributeValue& tag : list_of(page, "Tags")) {
      tags.push_back({.key = text_of(as_map(tag), "Key"), .value = text_of(as_map(tag), "Value")});
    }
    if (!page.contains("NextToken")) return tags;
    request["NextToken"] = page.at("NextToken");
  }
}

// A server without this operation has no continuous backups.
Result<Recovery> describe_recovery(Client& client, const std::string& table) {
  const auto response = ask(client, "DescribeContinuousBackups", {{"TableName", table}});
  if (!response) {
    if (response.error().code == Code::kUnknownOperation) return Recovery();
    return Failure(response.error());
  }
  const Item& found =
      map_of(map_of(*response, "ContinuousBackupsDescription"), "PointInTimeRecoveryDescription");
  Recovery recovery{.enabled = text_of(found, "PointInTimeRecoveryStatus") == "ENABLED"};
  if (found.contains("RecoveryPeriodInDays")) {
    recovery.days = integer_of(found, "RecoveryPeriodInDays");
  }
  return recovery;
}

constexpr std::chrono::milliseconds kTablePoll{100};

// DynamoDB refuses another change of time to live until then.
Result<void> wait_until_expiry_is_settled(Client& client, const std::string& table) {
  for (;;) {
    STATOR_ASSIGN_OR_RETURN(const DescribeTimeToLiveResult found,
                            client.describe_time_to_live({.table = table}));
    if (found.status == TimeToLiveStatus::kEnabled || found.status == TimeToLiveStatus::kDisabled) {
      return {};
    }
    std::this_thread::sleep_for(kTablePoll);
  }
}

}  // namespace

Result<Item> ask(Client& client, const std::string& operation, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const std::string response,
                          client.call(operation, wire::document_to_json(request)));
  return wire::item_from_plain_json(response);
}

Result<TableState> read_state(Client& client, const std::string& table, ReadTags tags) {
  TableState state;
  STATOR_ASSIGN_OR_RETURN(DescribeTableResult described, client.describe_table({.table = table}));
  state.table = std::move(described.table);
  STATOR_ASSIGN_OR_RETURN(state.time_to_live, client.describe_time_to_live({.table = table}));
  STATOR_ASSIGN_OR_RETURN(state.recovery, describe_recovery(client, table));
  if (tags == ReadTags::kYes) {
    STATOR_ASSIGN_OR_RETURN(state.tags, list_tags(client, state.table.arn));
  }
  return state;
}

Result<std::vector<TableStep>> steps_to(const TemplateTable& wanted, const TableState& found) {
  return TablePlan(wanted, found).steps();
}

// Shows the progress of indexes from the item counts of the table and the index, which Stator keeps
// current.
Result<void> wait_until_active(Client& client, const std::string& table) {
  std::map<std::string, Progress> building;
  for (;;) {
    STATOR_ASSIGN_OR_RETURN(const DescribeTableResult found,
                            client.describe_table({.table = table}));
    if (recipes::is_active(found.table)) return {};
    for (const IndexDescription& index : found.table.global_indexes) {
      if (index.status == TableStatus::kActive) continue;
      const std::string& name = index.definition.name;
      building.try_emplace(name, "index " + name, ProgressUnit::kItems, found.table.item_count)
          .first->second.advance_to(index.item_count);
    }
    std::this_thread::sleep_for(kTablePoll);
  }
}

Result<void> carry_out(Client& client, const std::string& table, const TableStep& step) {
  STATOR_RETURN_IF_ERROR(wait_until_active(client, table));
  if (step.operation == "UpdateTimeToLive") {
    STATOR_RETURN_IF_ERROR(wait_until_expiry_is_settled(client, table));
  }
  auto done = client.call(step.operation, step.request);
  return done ? Result<void>() : failure_of(std::move(done));
}

}  // namespace stator::cli
