// SPDX-License-Identifier: Apache-2.0
// Tests that each side reads what the other one writes: requests, responses, errors.
#include <gtest/gtest.h>

#include "api/json/item_json.h"
#include "api/model/test_samples.h"
#include "api/wire/wire.h"
#include "support/matchers.h"

namespace stator::wire {
namespace {

using test::IsOk;

template <class Request>
void expect_same_request(const Request& request) {
  const std::string json = to_json(request);
  const Result<Request> read = read_request<Request>(json);
  ASSERT_THAT(read, IsOk()) << json;
  EXPECT_EQ(to_json(*read), json);
}

TEST(RoundTrip, KeepsEveryMemberOfRequestsForItems) {
  expect_same_request(test::full_put());
  expect_same_request(test::full_get());
  expect_same_request(test::full_update());
  expect_same_request(test::full_delete());
}

TEST(RoundTrip, KeepsEveryMemberOfRequestsForRangesBatchesAndTransactions) {
  expect_same_request(test::full_query());
  expect_same_request(test::full_scan());
  SearchVectorsRequest search = test::full_search();
  expect_same_request(search);
  search.exact = true;
  expect_same_request(search);
  expect_same_request(test::full_batch_get());
  expect_same_request(test::full_batch_write());
  expect_same_request(test::full_transact_write());
  expect_same_request(test::full_transact_get());
}

TEST(RoundTrip, KeepsEveryMemberOfRequestsForTables) {
  expect_same_request(test::full_create());
  expect_same_request(test::full_update_table());
  expect_same_request(test::full_update_time_to_live());
  expect_same_request(DescribeTimeToLiveRequest{.table = "Table"});
  expect_same_request(DescribeTableRequest{.table = "Table"});
  expect_same_request(DeleteTableRequest{.table = "Table"});
  expect_same_request(ListTablesRequest{.limit = 7, .exclusive_start_table = "Table"});
}

TEST(RoundTrip, KeepsEveryMemberOfRequestsForStreams) {
  expect_same_request(
      ListStreamsRequest{.table = "Table", .limit = 7, .exclusive_start_stream = "arn"});
  expect_same_request(DescribeStreamRequest{
      .stream = "arn",
      .limit = 7,
      .exclusive_start_shard = "shard",
      .filter = ShardFilter{.type = ShardFilterType::kChildShards, .shard = "parent"}});
  for (const ShardIteratorType type :
       {ShardIteratorType::kTrimHorizon, ShardIteratorType::kLatest,
        ShardIteratorType::kAtSequenceNumber, ShardIteratorType::kAfterSequenceNumber,
        ShardIteratorType::kAtTimestamp}) {
    expect_same_request(GetShardIteratorRequest{.stream = "arn",
                                                .shard = "shard",
                                                .type = type,
                                                .sequence_number = "1",
                                                .timestamp_ms = 1'791'316'726'480});
  }
  expect_same_request(GetRecordsRequest{.iterator = "iterator", .limit = 7});
  const auto at_time = read_request<GetShardIteratorRequest>(
      R"({"StreamArn":"a","ShardId":"s","ShardIteratorType":"AT_TIMESTAMP","Timestamp":1791316726.48})");
  ASSERT_THAT(at_time, IsOk());
  EXPECT_EQ(at_time->timestamp_ms, 1'791'316'726'480);
}

TEST(RoundTrip, KeepsResponsesAboutTimeToLive) {
  const TimeToLiveSpecification specification{.enabled = true, .attribute = "expires"};
  const auto set =
      read_result<UpdateTimeToLiveResult>(to_json(UpdateTimeToLiveResult{specification}));
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->specification, specification);
  for (const DescribeTimeToLiveResult& given :
       {DescribeTimeToLiveResult{.status = TimeToLiveStatus::kEnabling, .attribute = "expires"},
        DescribeTimeToLiveResult()}) {
    const auto described = read_result<DescribeTimeToLiveResult>(to_json(given));
    ASSERT_THAT(described, IsOk());
    EXPECT_EQ(described->status, given.status);
    EXPECT_EQ(described->attribute, given.attribute);
  }
}

TEST(RoundTrip, KeepsAProjectionWithoutAType) {
  const std::string_view body =
      R"({"TableName":"Table","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"}],)"
      R"("GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"New",)"
      R"("KeySchema":[{"AttributeName":"k","KeyType":"HASH"}],"Projection":{}}}]})";
  const auto read = read_request<UpdateTableRequest>(body);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(to_json(*read), body);
}

TEST(RoundTrip, OmitsAbsentMembers) {
  EXPECT_EQ(to_json(ListTablesRequest{}), "{}");
  EXPECT_EQ(to_json(GetItemRequest{.table = "T", .key = {{"k", 1}}}),
            R"({"TableName":"T","Key":{"k":{"N":"1"}}})");
  EXPECT_EQ(to_json(ScanRequest{.table = "T"}), R"({"TableName":"T"})");
}

TEST(RoundTrip, KeepsTheValuesOfRequests) {
  const auto put = read_request<PutItemRequest>(to_json(test::full_put()));
  ASSERT_THAT(put, IsOk());
  EXPECT_EQ(put->item, test::sample_item());
  EXPECT_EQ(put->return_values, ReturnValues::kAllOld);
  EXPECT_FALSE(put->legacy);
  const auto query = read_request<QueryRequest>(to_json(test::full_query()));
  ASSERT_THAT(query, IsOk());
  EXPECT_FALSE(query->forward);
  EXPECT_EQ(query->limit, 5);
  EXPECT_EQ(query->exclusive_start_key, test::sample_key());
  const auto create = read_request<CreateTableRequest>(to_json(test::full_create()));
  ASSERT_THAT(create, IsOk());
  EXPECT_EQ(create->global_indexes, test::full_create().global_indexes);
  EXPECT_EQ(create->local_indexes, test::full_create().local_indexes);
  EXPECT_EQ(create->tags, test::full_create().tags);
}

TEST(RoundTrip, KeepsResponsesToWrites) {
  const auto result = read_result<WriteResult>(to_json(test::full_write_response()));
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->attributes, test::sample_item());
  EXPECT_EQ(result->capacity, test::sample_capacity());
  ASSERT_TRUE(result->metrics);
  EXPECT_EQ(result->metrics->key, (Item{{"pk", "a"}}));
  EXPECT_EQ(result->metrics->size_upper_gb, 1);
}

TEST(RoundTrip, KeepsResponsesToReads) {
  const auto got = read_result<GetItemResult>(to_json(GetItemResponse{
      .item = encode_item(test::sample_item()), .capacity = test::sample_capacity()}));
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->item, test::sample_item());
  EXPECT_EQ(got->capacity, test::sample_capacity());
  const auto absent = read_result<GetItemResult>(to_json(GetItemResponse{}));
  ASSERT_THAT(absent, IsOk());
  EXPECT_FALSE(absent->item);

  const auto page = read_result<PageResult>(to_json(test::full_page()));
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->items, (std::vector<Item>{test::sample_item(), test::sample_key()}));
  EXPECT_EQ(page->count, 2);
  EXPECT_EQ(page->scanned_count, 9);
  EXPECT_EQ(page->last_evaluated_key, test::sample_key());
  EXPECT_EQ(page->capacity, test::sample_capacity());

  const auto found = read_result<SearchVectorsResult>(to_json(test::full_search_response()));
  ASSERT_THAT(found, IsOk());
  ASSERT_EQ(found->results.size(), 2U);
  EXPECT_EQ(found->results[0].item, test::sample_item());
  EXPECT_EQ(found->results[0].score, 0.25F);
  EXPECT_EQ(found->results[1].score, 2);
  EXPECT_EQ(found->capacity, (VectorCapacity{.search_bytes = 2048}));
}

TEST(RoundTrip, KeepsResponsesToBatchesAndTransactions) {
  const auto got = read_result<BatchGetItemResult>(to_json(test::full_batch_get_response()));
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->items.at("Table"), (std::vector<Item>{test::sample_item(), test::sample_key()}));
  EXPECT_EQ(got->unprocessed.at("Table").keys, test::sample_keys().at("Table").keys);
  EXPECT_EQ(got->unprocessed.at("Table").projection, "#a");
  EXPECT_EQ(got->capacity, std::vector{test::sample_capacity()});

  const auto wrote = read_result<BatchWriteItemResult>(to_json(test::full_batch_write_result()));
  ASSERT_THAT(wrote, IsOk());
  EXPECT_EQ(wrote->unprocessed.at("Table").at(0).put, test::sample_item());
  EXPECT_EQ(wrote->unprocessed.at("Table").at(1).delete_key, test::sample_key());
  EXPECT_EQ(wrote->metrics.at("Table").size(), 1U);
  EXPECT_EQ(wrote->capacity.size(), 2U);

  const auto transacted =
      read_result<TransactGetItemsResult>(to_json(test::full_transact_get_response()));
  ASSERT_THAT(transacted, IsOk());
  ASSERT_EQ(transacted->items.size(), 2U);
  EXPECT_EQ(transacted->items[0], test::sample_item());
  EXPECT_FALSE(transacted->items[1]);

  const auto written = read_result<TransactWriteItemsResult>(to_json(TransactWriteItemsResult{
      .capacity = {test::sample_capacity()}, .metrics = {{"Table", {test::sample_metrics()}}}}));
  ASSERT_THAT(written, IsOk());
  EXPECT_EQ(written->capacity, std::vector{test::sample_capacity()});
  EXPECT_EQ(written->metrics.at("Table").size(), 1U);
}

TEST(RoundTrip, KeepsDescriptionsOfTables) {
  const auto read =
      read_result<DescribeTableResult>(to_json(DescribeTableResult{test::sample_description()}));
  ASSERT_THAT(read, IsOk());
  const TableDescription expected = test::sample_description();
  const TableDescription& table = read->table;
  EXPECT_EQ(table.id, expected.id);
  EXPECT_EQ(table.status, expected.status);
  EXPECT_EQ(table.created_ms, expected.created_ms);
  EXPECT_EQ(table.attributes, expected.attributes);
  EXPECT_EQ(table.key_schema, expected.key_schema);
  EXPECT_EQ(table.billing_mode, expected.billing_mode);
  EXPECT_EQ(table.throughput, expected.throughput);
  EXPECT_EQ(table.on_demand_throughput, expected.on_demand_throughput);
  EXPECT_EQ(table.warm_throughput, expected.warm_throughput);
  EXPECT_EQ(table.table_class, expected.table_class);
  EXPECT_TRUE(table.deletion_protection);
  ASSERT_EQ(table.global_indexes.size(), 1U);
  EXPECT_EQ(table.global_indexes[0].definition, expected.global_indexes[0].definition);
  EXPECT_EQ(table.global_indexes[0].status, TableStatus::kCreating);
  ASSERT_EQ(table.local_indexes.size(), 1U);
  EXPECT_EQ(table.local_indexes[0].definition, expected.local_indexes[0].definition);
  EXPECT_EQ(table.local_indexes[0].arn, "arn:local");

  const auto created =
      read_result<CreateTableResult>(to_json(CreateTableResult{test::sample_description()}));
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ(created->table.arn, expected.arn);
  const auto listed = read_result<ListTablesResult>(
      to_json(ListTablesResult{.tables = {"a", "b"}, .last_evaluated_table = "b"}));
  ASSERT_THAT(listed, IsOk());
  EXPECT_EQ(listed->tables, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(listed->last_evaluated_table, "b");
  EXPECT_EQ(table.throughput_changes, expected.throughput_changes);
  EXPECT_EQ(table.on_demand_since_ms, expected.on_demand_since_ms);
  EXPECT_EQ(table.table_class_changed_ms, expected.table_class_changed_ms);
  EXPECT_EQ(table.encryption, expected.encryption);
  EXPECT_EQ(table.global_indexes[0].backfilling, true);
  EXPECT_EQ(table.global_indexes[0].throughput_changes,
            expected.global_indexes[0].throughput_changes);
}

TEST(RoundTrip, OmitsTheItemsOfACount) {
  PageResponse count = test::full_page();
  count.items_wanted = false;
  EXPECT_EQ(to_json(count).find("\"Items\""), std::string::npos);
}

TEST(RoundTrip, WritesTheSameJsonFromEncodedAndDecodedItems) {
  const Item item = test::sample_item();
  const std::string wrapped =
      to_json(GetItemResponse{.item = encode_item(item), .capacity = std::nullopt});
  EXPECT_EQ(wrapped, R"({"Item":)" + item_to_json(item) + "}");
  const auto back = item_from_json(item_to_json(item));
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(*back, item);
}

TEST(Errors, KeepTypeMessageItemAndReasons) {
  ErrorDetail detail{.item = std::nullopt,
                     .reasons = {{},
                                 {.code = "ConditionalCheckFailed",
                                  .message = "The conditional request failed",
                                  .item = test::sample_item()}}};
  const Error error{.code = Code::kTransactionCanceled,
                    .message = "",
                    .detail = std::make_shared<const ErrorDetail>(detail)};
  const std::string json = error_to_json(error);
  EXPECT_NE(json.find(R"("__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",)"
                      R"("Message":"Transaction cancelled, please refer cancellation reasons for )"
                      R"(specific reasons [None, ConditionalCheckFailed]")"),
            std::string::npos)
      << json;
  const Error read = read_error(400, json);
  EXPECT_EQ(read.code, Code::kTransactionCanceled);
  ASSERT_TRUE(read.detail);
  ASSERT_EQ(read.detail->reasons.size(), 2U);
  EXPECT_EQ(read.detail->reasons[0].code, "None");
  EXPECT_EQ(read.detail->reasons[1].message, "The conditional request failed");
  EXPECT_EQ(read.detail->reasons[1].item, test::sample_item());

  const Error failed{.code = Code::kConditionalCheckFailed,
                     .message = "The conditional request failed",
                     .detail = std::make_shared<const ErrorDetail>(
                         ErrorDetail{.item = test::sample_key(), .reasons = {}})};
  const Error failed_read = read_error(400, error_to_json(failed));
  EXPECT_EQ(failed_read.code, Code::kConditionalCheckFailed);
  EXPECT_EQ(failed_read.message, failed.message);
  ASSERT_TRUE(failed_read.detail);
  EXPECT_EQ(failed_read.detail->item, test::sample_key());
}

TEST(Errors, SpellThrottlingReasonsAsDynamoDbDoes) {
  const ErrorDetail detail{
      .throttling_reasons = {{.reason = "TableReadProvisionedThroughputExceeded",
                              .resource = "arn:aws:dynamodb:us-east-1:000000782867:table/T"},
                             {.reason = "IndexWriteAccountLimitExceeded", .resource = "other"}}};
  const auto has = [](const std::string& json, std::string_view text) {
    return json.find(text) != std::string::npos;
  };
  for (const Code code :
       {Code::kThrottling, Code::kProvisionedThroughputExceeded, Code::kRequestLimitExceeded}) {
    const std::string json = error_to_json(
        {.code = code, .message = "m", .detail = std::make_shared<const ErrorDetail>(detail)});
    const bool lower_case = code == Code::kThrottling;
    EXPECT_EQ(has(json, R"("throttlingReasons":[{"reason":"TableRead)"), lower_case) << json;
    EXPECT_EQ(has(json, R"("ThrottlingReasons":[{"reason":"TableRead)"), !lower_case) << json;
    const Error read = read_error(400, json);
    ASSERT_TRUE(read.detail) << json;
    EXPECT_EQ(read.detail->throttling_reasons, detail.throttling_reasons);
  }
  EXPECT_FALSE(has(error_to_json({.code = Code::kValidation,
                                  .message = "m",
                                  .detail = std::make_shared<const ErrorDetail>(detail)}),
                   "hrottlingReasons"));
}

TEST(Errors, HaveTheDocumentedTypesAndStatuses) {
  const auto type = [](Code code) { return error_to_json({.code = code, .message = "m"}); };
  EXPECT_EQ(type(Code::kValidation),
            R"({"__type":"com.amazon.coral.validate#ValidationException","message":"m"})");
  EXPECT_EQ(type(Code::kSerialization),
            R"({"__type":"com.amazon.coral.service#SerializationException","Message":"m"})");
  EXPECT_EQ(type(Code::kUnknownOperation),
            R"({"__type":"com.amazon.coral.service#UnknownOperationException","message":"m"})");
  EXPECT_EQ(type(Code::kResourceNotFound),
            R"({"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",)"
            R"("message":"m"})");
  EXPECT_EQ(http_status(Code::kValidation), 400);
  EXPECT_EQ(http_status(Code::kThrottling), 400);
  EXPECT_EQ(http_status(Code::kInternalServerError), 500);
  EXPECT_EQ(http_status(Code::kUnavailable), 503);
}

TEST(Errors, HideInternalCodes) {
  const std::string json = error_to_json({.code = Code::kIo, .message = "/secret/path: full"});
  EXPECT_EQ(json.find("secret"), std::string::npos);
  EXPECT_EQ(read_error(500, json).code, Code::kInternalServerError);
  EXPECT_EQ(http_status(Code::kIo), 500);
  for (const Code code : {Code::kUnavailable, Code::kTimeout}) {
    const std::string unavailable =
        error_to_json({.code = code, .message = "no route to 10.0.0.1"});
    EXPECT_EQ(unavailable.find("10.0.0.1"), std::string::npos);
  }
  BatchExecuteStatementResult batch;
  batch.responses.push_back(
      {.error = StatementError{.code = "InternalServerError", .message = "/secret/path: full"}});
  batch.responses.push_back({.error = StatementError{.code = "ValidationError", .message = "m"}});
  const std::string statements = to_json(batch);
  EXPECT_EQ(statements.find("secret"), std::string::npos) << statements;
  EXPECT_NE(statements.find(R"("Message":"m")"), std::string::npos) << statements;
}

TEST(Errors, AreReadForEveryCodeAndWithoutJson) {
  for (int i = 0; i <= static_cast<int>(Code::kServiceUnavailable); ++i) {
    const auto code = static_cast<Code>(i);
    EXPECT_EQ(read_error(400, error_to_json({.code = code, .message = "m"})).code, code)
        << code_name(code);
  }
  EXPECT_EQ(read_error(502, "<html>").code, Code::kInternalServerError);
  EXPECT_EQ(read_error(503, "").code, Code::kServiceUnavailable);
  EXPECT_EQ(read_error(400, "[]").message, "HTTP status 400");
  EXPECT_EQ(read_error(400, R"({"__type":"ThrottlingException"})").code, Code::kThrottling);
}

TEST(Responses, ThatCannotBeReadAreServerErrors) {
  EXPECT_THAT(read_result<GetItemResult>("{"),
              test::FailsWith(Code::kInternalServerError, "not valid JSON"));
  EXPECT_THAT(read_result<GetItemResult>(R"({"Item":7})"),
              test::FailsWith(Code::kInternalServerError, "cannot be read"));
  EXPECT_THAT(read_result<GetItemResult>(R"({"Unknown":7})"), IsOk());
}

}  // namespace
}  // namespace stator::wire
