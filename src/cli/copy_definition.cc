// SPDX-License-Identifier: Apache-2.0
#include "cli/copy_definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "api/admin/document.h"
#include "api/json/item_json.h"
#include "api/validation/table_update.h"
#include "api/wire/wire.h"
#include "stator/recipes/common.h"

namespace stator::cli {
namespace {

// The members of DescribeTable's response that are copied, or that differ for each table.
constexpr std::array<std::string_view, 24> kKnownMembers = {"ArchivalSummary",
                                                            "AttributeDefinitions",
                                                            "BillingModeSummary",
                                                            "CreationDateTime",
                                                            "DeletionProtectionEnabled",
                                                            "GlobalSecondaryIndexes",
                                                            "ItemCount",
                                                            "KeySchema",
                                                            "LatestStreamArn",
                                                            "LatestStreamLabel",
                                                            "LocalSecondaryIndexes",
                                                            "OnDemandThroughput",
                                                            "ProvisionedThroughput",
                                                            "RestoreSummary",
                                                            "SSEDescription",
                                                            "StreamSpecification",
                                                            "TableArn",
                                                            "TableClassSummary",
                                                            "TableId",
                                                            "TableName",
                                                            "TableSizeBytes",
                                                            "TableStatus",
                                                            "VectorIndexes",
                                                            "WarmThroughput"};

std::optional<OnDemandThroughput> limits_of(const std::optional<OnDemandThroughput>& throughput) {
  return throughput == OnDemandThroughput() ? std::nullopt : throughput;
}

// The warm throughput if it is higher than the default, which every table has.
std::optional<Throughput> warmed(const CreateTableRequest& request,
                                 const std::optional<Throughput>& warm,
                                 const std::optional<Throughput>& provisioned) {
  const Throughput least = default_warm_throughput(request, provisioned);
  const bool is_set = warm && (warm->read > least.read || warm->write > least.write);
  return is_set ? warm : std::nullopt;
}

CreateTableRequest request_for(const TableDescription& source, const std::string& target) {
  const bool provisioned = source.billing_mode == BillingMode::kProvisioned;
  CreateTableRequest request{.table = target,
                             .attributes = source.attributes,
                             .key_schema = source.key_schema,
                             .billing_mode = source.billing_mode,
                             .table_class = source.table_class,
                             .deletion_protection = source.deletion_protection,
                             .encryption = source.encryption,
                             .stream = source.stream};
  if (provisioned) request.throughput = source.throughput;
  if (!provisioned) request.on_demand_throughput = limits_of(source.on_demand_throughput);
  request.warm_throughput = warmed(request, source.warm_throughput, request.throughput);
  for (const IndexDescription& index : source.local_indexes) {
    if (!request.local_indexes) request.local_indexes.emplace();
    request.local_indexes->push_back({.name = index.definition.name,
                                      .key_schema = index.definition.key_schema,
                                      .projection = index.definition.projection});
  }
  for (const IndexDescription& index : source.global_indexes) {
    IndexDefinition definition = index.definition;
    if (!provisioned) definition.throughput.reset();
    definition.on_demand_throughput =
        provisioned ? std::nullopt : limits_of(definition.on_demand_throughput);
    definition.warm_throughput = warmed(request, definition.warm_throughput, definition.throughput);
    if (!request.global_indexes) request.global_indexes.emplace();
    request.global_indexes->push_back(std::move(definition));
  }
  for (const VectorIndexDescription& index : source.vector_indexes) {
    if (!request.vector_indexes) request.vector_indexes.emplace();
    request.vector_indexes->push_back(index.definition);
  }
  return request;
}

class CopiedTableReader {
 public:
  CopiedTableReader(Client& from, const std::string& table, const std::string& target)
      : from_(from), name_(table), target_(target) {}

  Result<CopiedTable> read() {
    STATOR_ASSIGN_OR_RETURN(TableState state, read_state(from_, name_, ReadTags::kYes));
    if (state.table.status == TableStatus::kCreating ||
        state.table.status == TableStatus::kDeleting) {
      return fail(Code::kResourceInUse,
                  "table '" + name_ + "' is being created or deleted; try again later");
    }
    copied_.source = std::move(state.table);
    copied_.wanted.resource = name_;
    copied_.wanted.request = request_for(copied_.source, target_);
    if (state.time_to_live.status == TimeToLiveStatus::kEnabled ||
        state.time_to_live.status == TimeToLiveStatus::kEnabling) {
      copied_.wanted.time_to_live = state.time_to_live.attribute;
    }
    copied_.wanted.recovery = state.recovery;
    if (state.recovery.enabled) not_copied("point-in-time recovery", "states before the copy");
    for (Tag& tag : state.tags) {
      if (tag.key.starts_with("aws:")) {
        not_copied("tag " + tag.key, "reserved for AWS");
      } else {
        copied_.wanted.request.tags.push_back(std::move(tag));
      }
    }
    STATOR_RETURN_IF_ERROR(read_policies());
    STATOR_RETURN_IF_ERROR(read_insights());
    STATOR_RETURN_IF_ERROR(read_the_rest());
    return std::move(copied_);
  }

 private:
  void not_copied(const std::string& what, const std::string& detail) {
    copied_.wanted.ignored.push_back(what + ": " + detail);
  }

  // Returns an empty item if the source does not have the operation or has nothing to return. Also
  // returns an empty item for a permanent error, which is recorded as not copied.
  Result<Item> ask_for(const std::string& what, const std::string& operation, const Item& request) {
    auto response = ask(from_, operation, request);
    if (response) return response;
    const Error& error = response.error();
    if (error.retryable()) return response;
    if (error.code != Code::kUnknownOperation && error.code != Code::kPolicyNotFound) {
      not_copied(what, "could not be read: " + error.message);
    }
    return Item();
  }

  Result<void> read_policies() {
    const TableDescription& source = copied_.source;
    STATOR_ASSIGN_OR_RETURN(const Item policy, ask_for("resource policy", "GetResourcePolicy",
                                                       {{"ResourceArn", source.arn}}));
    copied_.policy = text_of(policy, "Policy");
    if (!source.stream || !source.latest_stream_arn) return {};
    not_copied("stream", "its records; the target's stream has another ARN and starts empty");
    STATOR_ASSIGN_OR_RETURN(const Item of_stream,
                            ask_for("resource policy of the stream", "GetResourcePolicy",
                                    {{"ResourceArn", *source.latest_stream_arn}}));
    copied_.stream_policy = text_of(of_stream, "Policy");
    return {};
  }

  Result<void> read_insights() {
    Item request{{"TableName", name_}};
    for (;;) {
      STATOR_ASSIGN_OR_RETURN(const Item page,
                              ask_for("contributor insights", "ListContributorInsights", request));
      for (const AttributeValue& value : list_of(page, "ContributorInsightsSummaries")) {
        const Item& summary = as_map(value);
        if (!text_of(summary, "ContributorInsightsStatus").starts_with("ENABL")) continue;
        Item enable{{"TableName", target_}, {"ContributorInsightsAction", "ENABLE"}};
        for (const char* member : {"IndexName", "ContributorInsightsMode"}) {
          if (summary.contains(member)) enable[member] = summary.at(member);
        }
        copied_.insights.push_back(std::move(enable));
      }
      if (!page.contains("NextToken")) return {};
      request["NextToken"] = page.at("NextToken");
    }
  }

  Result<void> read_the_rest() {
    STATOR_ASSIGN_OR_RETURN(const Item described,
                            ask(from_, "DescribeTable", {{"TableName", name_}}));
    for (const auto& [member, value] : map_of(described, "Table")) {
      if (std::ranges::find(kKnownMembers, member) != kKnownMembers.end()) continue;
      not_copied(member, wire::item_to_plain_json({{member, value}}));
    }
    STATOR_ASSIGN_OR_RETURN(
        const Item kinesis,
        ask_for("Kinesis streams", "DescribeKinesisStreamingDestination", {{"TableName", name_}}));
    for (const AttributeValue& value : list_of(kinesis, "KinesisDataStreamDestinations")) {
      if (text_of(as_map(value), "DestinationStatus") == "DISABLED") continue;
      not_copied("Kinesis stream", text_of(as_map(value), "StreamArn"));
    }
    STATOR_ASSIGN_OR_RETURN(const Item backups,
                            ask_for("backups", "ListBackups", {{"TableName", name_}}));
    if (!list_of(backups, "BackupSummaries").empty())
      not_copied("backups", "they stay at the source");
    return {};
  }

  Client& from_;
  const std::string& name_;
  const std::string& target_;
  CopiedTable copied_;
};

}  // namespace

Result<CopiedTable> read_copied_table(Client& from, const std::string& table,
                                      const std::string& target) {
  return CopiedTableReader(from, table, target).read();
}

Result<void> check_same_definition(const CopiedTable& table, const TableState& target) {
  STATOR_ASSIGN_OR_RETURN(const std::vector<TableStep> steps, steps_to(table.wanted, target));
  const auto other = std::ranges::find_if(steps, &TableStep::is_of_index);
  if (other == steps.end()) return {};
  return fail(Code::kConflict, fmt::format("table '{}' exists and has other indexes than '{}': {}",
                                           target.table.table, table.source.table, other->what));
}

Result<TableDescription> create_copy(Client& to, const CopiedTable& table) {
  CreateTableRequest request = table.wanted.request;
  request.stream.reset();
  request.deletion_protection.reset();
  request.encryption.reset();
  return create_table_if_missing(to, request);
}

std::string with_arn(const std::string& policy, const std::string& from, const std::string& to) {
  const auto goes_on = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
  };
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = policy.find(from); at != std::string::npos; at = policy.find(from, done)) {
    const std::size_t end = at + from.size();
    const bool is_longer = end < policy.size() && goes_on(static_cast<unsigned char>(policy[end]));
    result.append(policy, done, at - done).append(is_longer ? from : to);
    done = end;
  }
  return result.append(policy, done);
}

Result<std::vector<std::string>> copy_settings(Client& to, const CopiedTable& table) {
  const std::string& name = table.wanted.request.table;
  std::vector<std::string> refused;
  const auto carry_out_step = [&](const TableStep& step) -> Result<void> {
    auto done = carry_out(to, name, step);
    if (done || done.error().retryable()) return done;
    refused.push_back(step.what + ": " + done.error().message);
    return {};
  };
  STATOR_ASSIGN_OR_RETURN(const TableState state, read_state(to, name, ReadTags::kYes));
  STATOR_ASSIGN_OR_RETURN(const std::vector<TableStep> steps, steps_to(table.wanted, state));
  for (const TableStep& step : steps) STATOR_RETURN_IF_ERROR(carry_out_step(step));
  STATOR_RETURN_IF_ERROR(wait_until_active(to, name));

  const TableDescription& source = table.source;
  STATOR_ASSIGN_OR_RETURN(const DescribeTableResult target, to.describe_table({.table = name}));
  const auto put_policy = [&](const std::string& what, const std::string& arn, std::string policy) {
    policy = with_arn(policy, source.arn, target.table.arn);
    return carry_out_step(
        {.what = what,
         .operation = "PutResourcePolicy",
         .request = wire::document_to_json({{"ResourceArn", arn}, {"Policy", std::move(policy)}})});
  };
  if (!table.policy.empty()) {
    STATOR_RETURN_IF_ERROR(put_policy("resource policy", target.table.arn, table.policy));
  }
  if (!table.stream_policy.empty() && target.table.latest_stream_arn) {
    const std::string& stream = *target.table.latest_stream_arn;
    STATOR_RETURN_IF_ERROR(
        put_policy("resource policy of the stream", stream,
                   with_arn(table.stream_policy, *source.latest_stream_arn, stream)));
  }
  for (const Item& insights : table.insights) {
    STATOR_RETURN_IF_ERROR(carry_out_step({.what = "contributor insights",
                                           .operation = "UpdateContributorInsights",
                                           .request = wire::document_to_json(insights)}));
  }
  return refused;
}

}  // namespace stator::cli
