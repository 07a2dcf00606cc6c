// SPDX-License-Identifier: Apache-2.0
#include "protocol/operations.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>

#include "storage/stores.h"
#include "support/matchers.h"
#include "support/must.h"

namespace stator::protocol {
namespace {

using test::FailsWith;
using test::must;

struct Kept {
  std::optional<Result<std::string>>* answer;
  void operator()(Result<std::string> given) { *answer = std::move(given); }
};
using Known = Operations<Kept>;

class OperationsTest : public ::testing::Test {
 protected:
  Result<std::string> ask(std::string_view name, std::string_view json) {
    std::optional<Result<std::string>> answer;
    const Known::Run run = Known::find(name);
    if (run == nullptr) return fail(Code::kUnknownOperation, "");
    run({.engine = *engine_, .waiting = nullptr}, json, Kept{&answer});
    return answer ? *answer : fail(Code::kInternalServerError, "no answer");
  }

  std::unique_ptr<Engine> engine_ = must(Engine::open(make_memory_store()));
};

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

// Takes the function that writes a response, and calls it when told.
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

TEST_F(OperationsTest, LeaveWritingTheResponsesOfWritesToWhoeverWantsTo) {
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

TEST_F(OperationsTest, AreFoundByTheirTargetsAlone) {
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
