// SPDX-License-Identifier: Apache-2.0
#include "protocol/operations.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "protocol/promised.h"
#include "storage/stores.h"
#include "support/matchers.h"
#include "support/must.h"

namespace stator::protocol {

template class Operations<Promised>;

namespace {

using test::FailsWith;
using test::must;

using Known = Operations<Promised>;

// Keeps the facts of requests and results.
struct Noting {
  struct Notes {
    std::string table;
    std::string index;
    std::size_t items = 0;
    std::size_t examined = 0;
    std::optional<int64_t> reported = {};
  };
  Notes* notes;
  void operator()(const Result<std::string>&) {}
  void note_table(std::string_view table, std::string_view index) {
    notes->table = table;
    notes->index = index;
  }
  void note_items(std::size_t items, std::size_t examined) {
    notes->items = items;
    notes->examined = examined;
  }
  void report_examined(int64_t examined) { notes->reported = examined; }
};

class OperationsTest : public ::testing::Test {
 protected:
  Result<std::string> ask(std::string_view name, std::string_view json) {
    return protocol::ask(*engine_, name, json);
  }

  std::unique_ptr<Engine> engine_ = must(Engine::open(make_memory_store()));
};

TEST_F(OperationsTest, ReportTheTableOfARequestAndTheNumberOfItems) {
  const auto notes_of = [&](std::string_view name, const std::string& json) {
    Noting::Notes notes;
    Operations<Noting>::find(name)({.engine = *engine_, .waiting = nullptr}, json, {&notes});
    return notes;
  };
  for (const std::string name : {"One", "Two"}) {
    EXPECT_EQ(notes_of("CreateTable",
                       R"({"TableName": ")" + name + R"(", "BillingMode": "PAY_PER_REQUEST",
                           "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
                           "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}]})")
                  .table,
              name);
  }
  const std::string key = R"({"p": {"S": "a"}})";
  EXPECT_EQ(notes_of("PutItem", R"({"TableName": "One", "Item": )" + key + "}").table, "One");
  EXPECT_EQ(notes_of("PutItem", R"({"TableName": "Two", "Item": )" + key + "}").items, 0U);
  const auto got = notes_of("GetItem", R"({"TableName": "One", "Key": )" + key + "}");
  EXPECT_EQ(got.table, "One");
  EXPECT_EQ(got.items, 1U);
  const auto scanned = notes_of("Scan", R"({"TableName": "One", "FilterExpression": "p = :b",
      "ExpressionAttributeValues": {":b": {"S": "b"}}})");
  EXPECT_EQ(scanned.items, 0U);
  EXPECT_EQ(scanned.examined, 1U);
  EXPECT_EQ(scanned.index, "");
  EXPECT_EQ(notes_of("Scan", R"({"TableName": "One", "IndexName": "ByColor"})").index, "ByColor");
  const std::string keys = R"({"Keys": [)" + key + "]}";
  const auto both = notes_of("BatchGetItem",
                             R"({"RequestItems": {"One": )" + keys + R"(, "Two": )" + keys + "}}");
  EXPECT_EQ(both.table, kSeveralTables);
  EXPECT_EQ(both.items, 2U);
  EXPECT_EQ(notes_of("BatchGetItem", R"({"RequestItems": {"Two": )" + keys + "}}").table, "Two");
  const std::string action = R"({"Get": {"TableName": "One", "Key": )" + key + "}}";
  const auto transaction = notes_of("TransactGetItems", R"({"TransactItems": [)" + action + "]}");
  EXPECT_EQ(transaction.table, "One");
  EXPECT_EQ(transaction.items, 1U);
  EXPECT_EQ(scanned.reported, std::nullopt);  // the response has ScannedCount
  const auto statement =
      notes_of("ExecuteStatement", R"({"Statement": "SELECT * FROM One WHERE p <> 'a'"})");
  EXPECT_EQ(statement.table, "");
  EXPECT_EQ(statement.items, 0U);
  EXPECT_EQ(statement.examined, 1U);
  EXPECT_EQ(statement.reported, 1);
  const auto inserted =
      notes_of("ExecuteStatement", R"({"Statement": "INSERT INTO One VALUE {'p': 'c'}"})");
  EXPECT_EQ(inserted.reported, std::nullopt);
  EXPECT_EQ(notes_of("DescribeContinuousBackups", R"({"TableName": "Two"})").table, "Two");
  EXPECT_EQ(notes_of("ListTables", "{}").table, "");
}

TEST_F(OperationsTest, HaveNumbers) {
  std::set<std::size_t> numbers;
  for (const std::string_view name : Known::names()) {
    const auto* found = Known::find_target(target_of(name));
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(Known::names()[Known::index_of(*found)], name);
    numbers.insert(Known::index_of(*found));
  }
  EXPECT_EQ(numbers.size(), Known::names().size());
}

TEST_F(OperationsTest, RunByNameFromJsonToJson) {
  ASSERT_TRUE(ask("CreateTable",
                  R"({"TableName": "Tab", "BillingMode": "PAY_PER_REQUEST",
                      "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
                      "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}]})"));
  ASSERT_TRUE(ask("PutItem", R"({"TableName": "Tab", "Item": {"p": {"S": "a"}}})"));
  EXPECT_EQ(must(ask("GetItem", R"({"TableName": "Tab", "Key": {"p": {"S": "a"}}})")),
            R"({"Item":{"p":{"S":"a"}}})");
  EXPECT_THAT(ask("GetItem", R"({"TableName": "Lost", "Key": {"p": {"S": "a"}}})"),
              FailsWith(Code::kResourceNotFound, "Requested resource not found"));
  EXPECT_THAT(ask("GetItem", "{"), FailsWith(Code::kSerialization, ""));
}

// Keeps the function that makes the Result, for the test to call.
struct Deferring {
  std::function<Result<std::string>()>* make;
  void operator()(Result<std::string> given) {
    *make = [kept = std::move(given)] { return kept; };
  }
  template <class Make>
  void later(Make given) {
    *make = [kept = std::make_shared<Make>(std::move(given))] { return (*kept)(); };
    ++deferred;
  }
  static inline int deferred = 0;
};

TEST_F(OperationsTest, LeaveWritingTheResponsesOfWritesToTheCaller) {
  Deferring::deferred = 0;
  const auto ask_later = [&](std::string_view name, std::string_view json) {
    std::function<Result<std::string>()> make;
    Operations<Deferring>::find(name)({.engine = *engine_, .waiting = nullptr}, json, {&make});
    return make();
  };
  ASSERT_TRUE(ask_later("CreateTable",
                        R"({"TableName": "Tab", "BillingMode": "PAY_PER_REQUEST",
                      "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
                      "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}]})"));
  EXPECT_EQ(Deferring::deferred, 0);
  const std::string put =
      R"({"TableName": "Tab", "Item": {"p": {"S": "a"}}, "ReturnValues": "ALL_OLD"})";
  EXPECT_EQ(must(ask_later("PutItem", put)), "{}");
  EXPECT_EQ(must(ask_later("PutItem", put)), R"({"Attributes":{"p":{"S":"a"}}})");
  EXPECT_EQ(Deferring::deferred, 2);
  EXPECT_THAT(ask_later("PutItem", R"({"TableName": "Lost", "Item": {"p": {"S": "a"}}})"),
              FailsWith(Code::kResourceNotFound, "Requested resource not found"));
}

TEST_F(OperationsTest, AreFoundOnlyByTheirTargets) {
  EXPECT_NE(Known::find_target("DynamoDB_20120810.GetItem"), nullptr);
  EXPECT_EQ(Known::find_target("DynamoDBStreams_20120810.GetItem"), nullptr);
  EXPECT_EQ(Known::find_target("DynamoDB_20120810.getItem"), nullptr);
  EXPECT_EQ(Known::find_target("DynamoDB_20120810."), nullptr);
  EXPECT_EQ(Known::find_target("DynamoDB_20111205.GetItem"), nullptr);
  EXPECT_EQ(Known::find_target("GetItem"), nullptr);
  EXPECT_EQ(Known::find_target(""), nullptr);
}

TEST(Target, NamesTheServiceOfTheOperation) {
  EXPECT_EQ(target_of("GetItem"), "DynamoDB_20120810.GetItem");
  EXPECT_EQ(target_of("GetRecords"), "DynamoDBStreams_20120810.GetRecords");
}

}  // namespace
}  // namespace stator::protocol
