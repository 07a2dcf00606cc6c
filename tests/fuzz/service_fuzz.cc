// SPDX-License-Identifier: Apache-2.0
// Any lines as requests of every operation, to a server's database. Each response must be JSON that
// a client can read, or an error of the API, but never an internal error. After all requests, the
// table's items, pages and indexes must match. A line's first byte selects the operation.
#include <algorithm>
#include <future>
#include <map>
#include <optional>

#include "api/admin/document.h"
#include "api/wire/wire.h"
#include "base/check.h"
#include "engine/call_and_wait.h"
#include "engine/engine.h"
#include "server/dynamodb_service.h"
#include "storage/stores.h"

namespace {

using namespace stator;

constexpr int kLinesMax = 32;

template <class T>
bool readable(std::string_view json) {
  return wire::read_result<T>(json).has_value();
}

bool is_empty(std::string_view body) {
  return body.empty();
}

struct Operation {
  std::string_view target;
  bool (*readable)(std::string_view json);
};
// The most useful operations appear more than once.
constexpr Operation kOperations[] = {
    {"DynamoDB_20120810.PutItem", readable<WriteResult>},
    {"DynamoDB_20120810.UpdateItem", readable<WriteResult>},
    {"DynamoDB_20120810.DeleteItem", readable<WriteResult>},
    {"DynamoDB_20120810.GetItem", readable<GetItemResult>},
    {"DynamoDB_20120810.Query", readable<PageResult>},
    {"DynamoDB_20120810.Scan", readable<PageResult>},
    {"DynamoDB_20120810.BatchGetItem", readable<BatchGetItemResult>},
    {"DynamoDB_20120810.BatchWriteItem", readable<BatchWriteItemResult>},
    {"DynamoDB_20120810.TransactGetItems", readable<TransactGetItemsResult>},
    {"DynamoDB_20120810.TransactWriteItems", readable<TransactWriteItemsResult>},
    {"DynamoDB_20120810.CreateTable", readable<CreateTableResult>},
    {"DynamoDB_20120810.DescribeTable", readable<DescribeTableResult>},
    {"DynamoDB_20120810.ListTables", readable<ListTablesResult>},
    {"DynamoDB_20120810.DeleteTable", readable<DeleteTableResult>},
    {"DynamoDB_20120810.PutItem", readable<WriteResult>},
    {"DynamoDB_20120810.UpdateItem", readable<WriteResult>},
    {"DynamoDB_20120810.UpdateTable", readable<UpdateTableResult>},
    {"DynamoDB_20120810.UpdateTimeToLive", readable<UpdateTimeToLiveResult>},
    {"DynamoDB_20120810.DescribeTimeToLive", readable<DescribeTimeToLiveResult>},
    {"DynamoDB_20120810.ExecuteStatement", readable<ExecuteStatementResult>},
    {"DynamoDB_20120810.BatchExecuteStatement", readable<BatchExecuteStatementResult>},
    {"DynamoDB_20120810.ExecuteTransaction", readable<ExecuteTransactionResult>},
    {"DynamoDBStreams_20120810.ListStreams", readable<ListStreamsResult>},
    {"DynamoDBStreams_20120810.DescribeStream", readable<DescribeStreamResult>},
    {"DynamoDBStreams_20120810.GetShardIterator", readable<GetShardIteratorResult>},
    {"DynamoDBStreams_20120810.GetRecords", readable<GetRecordsResult>},
    {"DynamoDB_20120810.CreateBackup", wire::is_json},
    {"DynamoDB_20120810.CreateGlobalTable", wire::is_json},
    {"DynamoDB_20120810.DeleteBackup", wire::is_json},
    {"DynamoDB_20120810.DeleteResourcePolicy", wire::is_json},
    {"DynamoDB_20120810.DescribeBackup", wire::is_json},
    {"DynamoDB_20120810.DescribeContributorInsights", wire::is_json},
    {"DynamoDB_20120810.DescribeEndpoints", wire::is_json},
    {"DynamoDB_20120810.DescribeGlobalTable", wire::is_json},
    {"DynamoDB_20120810.DescribeGlobalTableSettings", wire::is_json},
    {"DynamoDB_20120810.DescribeKinesisStreamingDestination", wire::is_json},
    {"DynamoDB_20120810.DescribeLimits", wire::is_json},
    {"DynamoDB_20120810.DescribeTableReplicaAutoScaling", wire::is_json},
    {"DynamoDB_20120810.DisableKinesisStreamingDestination", wire::is_json},
    {"DynamoDB_20120810.EnableKinesisStreamingDestination", wire::is_json},
    {"DynamoDB_20120810.GetResourcePolicy", wire::is_json},
    {"DynamoDB_20120810.ListBackups", wire::is_json},
    {"DynamoDB_20120810.ListContributorInsights", wire::is_json},
    {"DynamoDB_20120810.ListGlobalTables", wire::is_json},
    {"DynamoDB_20120810.ListTagsOfResource", wire::is_json},
    {"DynamoDB_20120810.PutResourcePolicy", wire::is_json},
    {"DynamoDB_20120810.RestoreTableFromBackup", wire::is_json},
    {"DynamoDB_20120810.TagResource", is_empty},
    {"DynamoDB_20120810.UntagResource", is_empty},
    {"DynamoDB_20120810.UpdateContributorInsights", wire::is_json},
    {"DynamoDB_20120810.UpdateGlobalTable", wire::is_json},
    {"DynamoDB_20120810.UpdateGlobalTableSettings", wire::is_json},
    {"DynamoDB_20120810.UpdateKinesisStreamingDestination", wire::is_json},
    {"DynamoDB_20120810.UpdateTableReplicaAutoScaling", wire::is_json},
};

CreateTableRequest table_request() {
  return {.table = "Tab",
          .attributes = {{"p", ScalarType::kS},
                         {"s", ScalarType::kN},
                         {"g", ScalarType::kB},
                         {"n", ScalarType::kN}},
          .key_schema = {{"p", KeyType::kHash}, {"s", KeyType::kRange}},
          .local_indexes = {{{.name = "Loc",
                              .key_schema = {{"p", KeyType::kHash}, {"n", KeyType::kRange}}}}},
          .global_indexes = {{{.name = "Glo",
                               .key_schema = {{"g", KeyType::kHash}, {"n", KeyType::kRange}}}}},
          .billing_mode = BillingMode::kPayPerRequest};
}

void check_answer(const Operation& operation, const http::Response& response) {
  if (response.status == 200) {
    STATOR_CHECK(operation.readable(response.body));
    return;
  }
  STATOR_CHECK(response.status == 400);
  const Error error = wire::read_error(response.status, response.body);
  STATOR_CHECK(error.code != Code::kInternalServerError);
  // An error for invalid JSON has no message, so the client supplies one.
  const bool has_message = response.body.find("essage\":") != std::string::npos;
  STATOR_CHECK(!has_message || wire::error_to_json(error) == response.body);
}

void send(server::DynamoDbService& service, const Operation& operation, std::string_view body) {
  std::promise<http::Response> answered;
  auto answer = answered.get_future();
  const http::Request request{
      .method = "POST",
      .target = "/",
      .body = body,
      .headers = {
          {"Content-Type", "application/x-amz-json-1.0"},
          {"X-Amz-Target", operation.target},
          {"X-Amz-Date", "20260101T000000Z"},
          {"Authorization", "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c"}}};
  service.handle(request, [kept = std::move(answered)](http::Response response) mutable {
    kept.set_value(std::move(response));
  });
  http::Response response = answer.get();
  if (response.make) response = response.make();
  check_answer(operation, response);
}

using Rows = std::map<std::string, std::string>;  // encoded key -> item

std::string key_of(const Item& item) {
  return encode_item({{"p", item.at("p")}, {"s", item.at("s")}});
}

Rows scan(Engine& engine, std::optional<std::string> index) {
  Rows rows;
  ScanRequest request{.table = "Tab", .index = std::move(index), .limit = 3};
  do {
    const auto page = call_and_wait(engine, &Engine::scan, request);
    STATOR_CHECK(page);
    STATOR_CHECK(page->scanned_count <= 3);
    for (std::size_t i = 0; i < page->items.size(); ++i) {
      const ItemView item = page->items[i];
      STATOR_CHECK(validate_item(item.bytes()));
      const bool is_new = rows.emplace(key_of(decode_item(item)), item.bytes()).second;
      STATOR_CHECK(is_new);
    }
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  return rows;
}

void check_table(Engine& engine, bool has_global_index) {
  const Rows rows = scan(engine, std::nullopt);
  Rows local;
  Rows global;
  for (const auto& [key, bytes] : rows) {
    const auto got = call_and_wait(engine, &Engine::get_item,
                                   {.table = "Tab", .key = decode_item(ItemView(key))});
    STATOR_CHECK(got && got->item == bytes);
    if (!ItemView(bytes).find("n")) continue;
    local.emplace(key, bytes);
    if (ItemView(bytes).find("g")) global.emplace(key, bytes);
  }
  STATOR_CHECK(scan(engine, "Loc") == local);
  if (has_global_index) STATOR_CHECK(scan(engine, "Glo") == global);
}

// Reports whether the index still exists as it was created: not dropped, and not replaced.
bool has_index(const TableDescription& table, const IndexDefinition& wanted) {
  return std::ranges::any_of(table.global_indexes, [&](const IndexDescription& index) {
    return index.definition.name == wanted.name && index.status == TableStatus::kActive &&
           index.definition.key_schema == wanted.key_schema &&
           index.definition.projection == wanted.projection;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  auto opened = Engine::open(make_memory_store(), {.sweep_interval = std::chrono::milliseconds(0)});
  STATOR_CHECK(opened);
  Engine& engine = **opened;
  const auto created = engine.create_table(table_request());
  STATOR_CHECK(created);
  server::DynamoDbService service(engine);

  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (int line = 0; line < kLinesMax && !rest.empty(); ++line) {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    if (text.empty()) continue;
    // The corpus uses letters from A on.
    const auto choice = static_cast<unsigned char>(text[0] - 'A') % std::size(kOperations);
    send(service, kOperations[choice], text.substr(1));
  }
  const auto described = engine.describe_table({.table = "Tab"});
  // Unless the table was deleted, and perhaps another one with its name was created.
  if (described && described->table.id == created->table.id) {
    check_table(engine, has_index(described->table, table_request().global_indexes->front()));
  }
  return 0;
}
