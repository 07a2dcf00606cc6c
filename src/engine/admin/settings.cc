// SPDX-License-Identifier: Apache-2.0
// Settings that other AWS services act on. Contributor insights are stored and described only.
// Kinesis streams and auto scaling are unavailable, and responses say so.
#include <algorithm>

#include "engine/admin/support.h"
#include "engine/errors/admin_messages.h"
#include "engine/errors/messages.h"

namespace stator::admin {
namespace {

// ---- Contributor insights: per table and per index, in the member "Insights" of the settings.

constexpr std::string_view kOfTable = "table";
constexpr std::string_view kOfIndex = "index/";

Result<std::string> insights_key(const Table& table, const Item& request) {
  if (!request.contains("IndexName")) return std::string(kOfTable);
  const std::string index = text_of(request, "IndexName");
  if (table.index(index) == nullptr) {
    return fail(Code::kResourceNotFound, messages::index_not_found(index));
  }
  return std::string(kOfIndex) + index;
}

Item insights_response(const Item& request, std::string_view status, const std::string& mode) {
  Item response{{"TableName", text_of(request, "TableName")},
                {"ContributorInsightsStatus", status},
                {"ContributorInsightsMode", mode}};
  if (request.contains("IndexName")) response["IndexName"] = text_of(request, "IndexName");
  return response;
}

constexpr const char* kDefaultMode = "ACCESSED_AND_THROTTLED_KEYS";

Result<Item> update_contributor_insights(JobEngine& engine, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const TablePtr table,
                          find_resource(engine, text_of(request, "TableName")));
  STATOR_ASSIGN_OR_RETURN(const std::string key, insights_key(*table, request));
  const bool enable = text_of(request, "ContributorInsightsAction") == "ENABLE";
  std::string mode;
  STATOR_RETURN_IF_ERROR(change_settings(engine, *table, [&](Item& settings) -> Result<void> {
    Item insights = map_of(settings, "Insights");
    mode = text_of(map_of(insights, key), "Mode");
    if (request.contains("ContributorInsightsMode")) {
      mode = text_of(request, "ContributorInsightsMode");
    } else if (mode.empty()) {
      mode = kDefaultMode;
    }
    insights[key] = Item{{"Enabled", enable}, {"Mode", mode}, {"UpdatedMs", engine.now_ms()}};
    settings["Insights"] = std::move(insights);
    return {};
  }));
  return insights_response(request, enable ? "ENABLING" : "DISABLING", mode);
}

Result<Item> describe_contributor_insights(JobEngine& engine, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const TablePtr table,
                          find_resource(engine, text_of(request, "TableName")));
  STATOR_ASSIGN_OR_RETURN(const std::string key, insights_key(*table, request));
  STATOR_ASSIGN_OR_RETURN(const Item settings, settings_of(engine, *table));
  const Item& kept = map_of(map_of(settings, "Insights"), key);
  if (kept.empty()) {
    Item response = insights_response(request, "DISABLED", kDefaultMode);
    response.erase("ContributorInsightsMode");
    return response;
  }
  Item response = insights_response(request, boolean_of(kept, "Enabled") ? "ENABLED" : "DISABLED",
                                    text_of(kept, "Mode"));
  response["LastUpdateDateTime"] = seconds(integer_of(kept, "UpdatedMs"));
  return response;
}

// Returns one summary for each table and index whose insights were ever set. A page's token is the
// position of its last summary: the table's name, a slash and the key. Table names have no slash.
Result<Item> list_contributor_insights(JobEngine& engine, const Item& request) {
  const int64_t given = integer_of(request, "MaxResults");
  const std::size_t most = given > 0 ? static_cast<std::size_t>(given) : 100;
  const std::string after = text_of(request, "NextToken");
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  if (request.contains("TableName")) {
    STATOR_RETURN_IF_ERROR(find_resource(engine, text_of(request, "TableName")));
  }
  List summaries;
  std::string last;
  for (const auto& [name, table] : snapshot->tables) {
    if (request.contains("TableName") && name != text_of(request, "TableName")) continue;
    STATOR_ASSIGN_OR_RETURN(const Item settings, settings_of(engine, *table));
    for (const auto& [key, kept] : map_of(settings, "Insights")) {
      std::string place = name;
      place.append("/").append(key);
      if (place <= after) continue;
      if (summaries.size() == most) {
        return Item{{"ContributorInsightsSummaries", std::move(summaries)}, {"NextToken", last}};
      }
      Item summary{{"TableName", name},
                   {"ContributorInsightsStatus",
                    boolean_of(as_map(kept), "Enabled") ? "ENABLED" : "DISABLED"},
                   {"ContributorInsightsMode", text_of(as_map(kept), "Mode")}};
      if (key.starts_with(kOfIndex)) summary["IndexName"] = key.substr(kOfIndex.size());
      summaries.emplace_back(std::move(summary));
      last = place;
    }
  }
  return Item{{"ContributorInsightsSummaries", std::move(summaries)}};
}

// ---- Kinesis streams: unavailable

Result<Item> describe_destinations(JobEngine& engine, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const TablePtr table,
                          find_resource(engine, text_of(request, "TableName")));
  return Item{{"TableName", table->name()}, {"KinesisDataStreamDestinations", List()}};
}

Result<Item> refuse_destination(JobEngine& engine, const Item& request) {
  STATOR_RETURN_IF_ERROR(find_resource(engine, text_of(request, "TableName")));
  return fail(Code::kResourceNotFound, messages::stream_not_found(text_of(request, "StreamArn")));
}

// ---- Auto scaling

Result<Item> describe_auto_scaling(JobEngine& engine, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const TablePtr table,
                          find_resource(engine, text_of(request, "TableName")));
  return Item{
      {"TableAutoScalingDescription",
       Item{{"TableName", table->name()}, {"TableStatus", "ACTIVE"}, {"Replicas", List()}}}};
}

Result<Item> refuse_auto_scaling(JobEngine& engine, const Item& request) {
  STATOR_RETURN_IF_ERROR(find_resource(engine, text_of(request, "TableName")));
  return fail(Code::kValidation, messages::kNoAutoScaling);
}

}  // namespace

const Operation kDescribeContributorInsights{shapes::kDescribeContributorInsights,
                                             describe_contributor_insights};
const Operation kListContributorInsights{shapes::kListContributorInsights,
                                         list_contributor_insights};
const Operation kUpdateContributorInsights{shapes::kUpdateContributorInsights,
                                           update_contributor_insights};
const Operation kDescribeKinesisStreamingDestination{shapes::kTableName, describe_destinations};
const Operation kEnableKinesisStreamingDestination{shapes::kKinesisDestination, refuse_destination};
const Operation kDisableKinesisStreamingDestination{shapes::kKinesisDestination,
                                                    refuse_destination};
const Operation kUpdateKinesisStreamingDestination{shapes::kKinesisDestination, refuse_destination};
const Operation kDescribeTableReplicaAutoScaling{shapes::kTableName, describe_auto_scaling};
const Operation kUpdateTableReplicaAutoScaling{shapes::kUpdateTableReplicaAutoScaling,
                                               refuse_auto_scaling};

}  // namespace stator::admin
