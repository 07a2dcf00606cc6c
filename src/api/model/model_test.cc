// SPDX-License-Identifier: Apache-2.0
// Compares the wire form with AWS's machine-readable model of the API: every written member is in
// the model, and samples that set all members write every parameter of the model. STATOR_MODEL is
// the directory of the models, which tests/model/install creates. Without it, as in `make test`,
// the tests are skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include "api/model/test_samples.h"
#include "api/wire/wire.h"
#include "simdjson.h"

namespace stator::wire {
namespace {

// Legacy parameters, which are translated when read and never written, and members that this
// version rejects.
constexpr std::string_view kNotWritten[] = {"Expected",
                                            "ConditionalOperator",
                                            "AttributesToGet",
                                            "AttributeUpdates",
                                            "QueryFilter",
                                            "KeyConditions",
                                            "ScanFilter",
                                            "MultiRegionConsistency",
                                            "GlobalTableSourceArn",
                                            "GlobalTableSettingsReplicationMode",
                                            "GlobalTableWitnessUpdates",
                                            "DisassociationProtectionEnabled"};

using Element = simdjson::dom::element;

class Model : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("STATOR_MODEL") == nullptr) GTEST_SKIP() << "STATOR_MODEL is not set";
    load("dynamodb");
  }
  void load(const std::string& service) {
    std::ifstream file(std::getenv("STATOR_MODEL") + ("/" + service + ".json"));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    ASSERT_EQ(model_parser_.parse(text).get(model_), simdjson::SUCCESS) << service;
  }

  Element shape(std::string_view name) { return model_["shapes"][name].value(); }

  void expect_input(std::string_view operation, const std::string& json) {
    const std::string_view name =
        model_["operations"][operation]["input"]["shape"].get_string().value();
    expect_members(name, json);
    Element document;
    ASSERT_EQ(json_parser_.parse(json).get(document), simdjson::SUCCESS) << json;
    const simdjson::dom::object object = shape(name)["members"].get_object().value();
    for (const auto [member, reference] : object) {
      if (std::ranges::count(kNotWritten, member) > 0) continue;
      EXPECT_EQ(document[member].error(), simdjson::SUCCESS) << operation << " lacks " << member;
    }
  }

  void expect_output(std::string_view operation, const std::string& json) {
    expect_members(model_["operations"][operation]["output"]["shape"].get_string().value(), json);
  }

  void expect_members(std::string_view shape_name, const std::string& json) {
    Element document;
    ASSERT_EQ(json_parser_.parse(json).get(document), simdjson::SUCCESS) << json;
    check(shape_name, document, std::string(shape_name));
  }

 private:
  void check(std::string_view shape_name, Element value, const std::string& path) {
    const Element described = shape(shape_name);
    const std::string_view type = described["type"].get_string().value();
    if (type == "structure") {
      ASSERT_TRUE(value.is_object()) << path;
      const simdjson::dom::object object = value.get_object().value();
      for (const auto [name, member] : object) {
        const auto reference = described["members"][name]["shape"];
        ASSERT_EQ(reference.error(), simdjson::SUCCESS) << path << " has " << name;
        check(reference.get_string().value(), member, path + "." + std::string(name));
      }
    } else if (type == "list") {
      ASSERT_TRUE(value.is_array()) << path;
      const simdjson::dom::array array = value.get_array().value();
      for (const Element element : array) {
        check(described["member"]["shape"].get_string().value(), element, path + "[]");
      }
    } else if (type == "map") {
      ASSERT_TRUE(value.is_object()) << path;
      const simdjson::dom::object object = value.get_object().value();
      for (const auto [name, entry] : object) {
        check(described["value"]["shape"].get_string().value(), entry, path + "{}");
      }
    } else if (type == "string" || type == "blob") {
      EXPECT_TRUE(value.is_string()) << path;
      check_enum(described, value, path);
    } else if (type == "boolean") {
      EXPECT_TRUE(value.is_bool()) << path;
    } else {
      EXPECT_TRUE(value.is_number()) << path;
    }
  }

  static void check_enum(Element described, Element value, const std::string& path) {
    simdjson::dom::array names;
    if (described["enum"].get_array().get(names) != simdjson::SUCCESS) return;
    bool found = false;
    for (const Element name : names) {
      found = found || name.get_string().value() == value.get_string().value();
    }
    EXPECT_TRUE(found) << path << " is " << value;
  }

  simdjson::dom::parser model_parser_;
  simdjson::dom::parser json_parser_;
  Element model_;
};

TEST_F(Model, HasEveryMemberOfRequestsAndNoOther) {
  expect_input("CreateTable", to_json(test::full_create()));
  expect_input("DescribeTable", to_json(DescribeTableRequest{.table = "Table"}));
  expect_input("DeleteTable", to_json(DeleteTableRequest{.table = "Table"}));
  expect_input("UpdateTable", to_json(test::full_update_table()));
  expect_input("UpdateTimeToLive", to_json(test::full_update_time_to_live()));
  expect_input("DescribeTimeToLive", to_json(DescribeTimeToLiveRequest{.table = "Table"}));
  expect_input("ListTables",
               to_json(ListTablesRequest{.limit = 1, .exclusive_start_table = "Table"}));
  expect_input("PutItem", to_json(test::full_put()));
  expect_input("GetItem", to_json(test::full_get()));
  expect_input("UpdateItem", to_json(test::full_update()));
  expect_input("DeleteItem", to_json(test::full_delete()));
  expect_input("Query", to_json(test::full_query()));
  expect_input("Scan", to_json(test::full_scan()));
  expect_input("SearchVectors", to_json(test::full_search()));
  expect_input("BatchGetItem", to_json(test::full_batch_get()));
  expect_input("BatchWriteItem", to_json(test::full_batch_write()));
  expect_input("TransactWriteItems", to_json(test::full_transact_write()));
  expect_input("TransactGetItems", to_json(test::full_transact_get()));
}

TEST_F(Model, HasEveryMemberOfRequestsForStreamsAndNoOther) {
  load("dynamodbstreams");
  expect_input("ListStreams", to_json(ListStreamsRequest{
                                  .table = "Table", .limit = 1, .exclusive_start_stream = "arn"}));
  expect_input("DescribeStream",
               to_json(DescribeStreamRequest{
                   .stream = "arn",
                   .limit = 1,
                   .exclusive_start_shard = "shard",
                   .filter = ShardFilter{.type = ShardFilterType::kChildShards, .shard = "a"}}));
  expect_input("GetShardIterator",
               to_json(GetShardIteratorRequest{.stream = "arn",
                                               .shard = "shard",
                                               .type = ShardIteratorType::kAtTimestamp,
                                               .sequence_number = "1",
                                               .timestamp_ms = 1}));
  expect_input("GetRecords", to_json(GetRecordsRequest{.iterator = "iterator", .limit = 1}));
}

TEST_F(Model, HasEveryMemberOfErrors) {
  const ErrorDetail detail{.item = test::sample_key(),
                           .reasons = {{.code = "ConditionalCheckFailed", .message = "m"}},
                           .throttling_reasons = {{.reason = "r", .resource = "arn"}}};
  for (const Code code : {Code::kConditionalCheckFailed, Code::kTransactionCanceled,
                          Code::kThrottling, Code::kProvisionedThroughputExceeded,
                          Code::kRequestLimitExceeded, Code::kReplicatedWriteConflict}) {
    const bool has_item = code == Code::kConditionalCheckFailed;
    ErrorDetail of_code = detail;
    if (!has_item) of_code.item.reset();
    std::string json = error_to_json(
        {.code = code, .message = "m", .detail = std::make_shared<const ErrorDetail>(of_code)});
    const std::size_t type = json.find(code_name(code));
    ASSERT_NE(type, std::string::npos);
    json.replace(1, type + std::string_view(code_name(code)).size() + 1, "");  // "__type": "…",
    expect_members(code_name(code), json);
  }
}

TEST_F(Model, HasEveryMemberOfResponses) {
  expect_output("CreateTable", to_json(CreateTableResult{test::sample_description()}));
  expect_output("DescribeTable", to_json(DescribeTableResult{test::sample_description()}));
  expect_output("DeleteTable", to_json(DeleteTableResult{test::sample_description()}));
  expect_output("UpdateTable", to_json(UpdateTableResult{test::sample_description()}));
  expect_output("UpdateTimeToLive",
                to_json(UpdateTimeToLiveResult{{.enabled = true, .attribute = "expires"}}));
  expect_output("DescribeTimeToLive",
                to_json(DescribeTimeToLiveResult{.status = TimeToLiveStatus::kEnabling,
                                                 .attribute = "expires"}));
  expect_output("ListTables",
                to_json(ListTablesResult{.tables = {"a"}, .last_evaluated_table = "a"}));
  for (const std::string_view operation : {"PutItem", "UpdateItem", "DeleteItem"}) {
    expect_output(operation, to_json(test::full_write_response()));
  }
  expect_output("GetItem", to_json(GetItemResponse{.item = encode_item(test::sample_item()),
                                                   .capacity = test::sample_capacity()}));
  expect_output("Query", to_json(test::full_page()));
  expect_output("Scan", to_json(test::full_page()));
  expect_output("SearchVectors", to_json(test::full_search_response()));
  expect_output("BatchGetItem", to_json(test::full_batch_get_response()));
  expect_output("BatchWriteItem", to_json(test::full_batch_write_result()));
  expect_output("TransactGetItems", to_json(test::full_transact_get_response()));
  expect_output("TransactWriteItems", to_json(TransactWriteItemsResult{
                                          .capacity = {test::sample_capacity()},
                                          .metrics = {{"Table", {test::sample_metrics()}}}}));
}

}  // namespace
}  // namespace stator::wire
