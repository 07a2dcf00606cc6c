// SPDX-License-Identifier: Apache-2.0
// ExecuteStatement, BatchExecuteStatement and ExecuteTransaction.
#include "client/client_test.h"

namespace stator::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Statements : public ClientTest {
 protected:
  void SetUp() override {
    create(hash_table("Things"));
    create(indexed_table("Indexed"));
    for (int i = 1; i <= 4; ++i) {
      put("Indexed", {{"pk", "a"},
                      {"sk", i},
                      {"rank", 10 - i},
                      {"place", "x"},
                      {"note", "n"},
                      {"m", Map{{"deep", i}}}});
    }
    put("Indexed", {{"pk", "b"}, {"sk", 1}});
  }

  Result<ExecuteStatementResult> run(std::string statement,
                                     std::optional<std::vector<AttributeValue>> parameters = {}) {
    return client_.execute_statement(
        {.statement = std::move(statement), .parameters = std::move(parameters)});
  }
  std::vector<Item> items(std::string statement) {
    auto result = run(std::move(statement));
    EXPECT_THAT(result, IsOk());
    return result ? result->items : std::vector<Item>();
  }
  std::vector<AttributeValue> sort_keys(std::string statement) {
    std::vector<AttributeValue> keys;
    for (Item& item : items(std::move(statement))) keys.push_back(item["sk"]);
    return keys;
  }
};
STATOR_IN_EACH_HOME(Statements);

TEST_P(Statements, InsertSelectUpdateDelete) {
  EXPECT_THAT(items("INSERT INTO Things VALUE {'pk': 'a', 'n': 1}"), IsEmpty());
  EXPECT_THAT(run("INSERT INTO Things VALUE {'pk': 'a'}"),
              FailsWith(Code::kDuplicateItem, "Duplicate primary key exists in table"));
  EXPECT_THAT(items("UPDATE Things SET n = n + 1 WHERE pk = 'a' RETURNING MODIFIED NEW *"),
              ElementsAre(Item{{"n", 2}}));
  EXPECT_THAT(items("SELECT n FROM Things WHERE pk = 'a'"), ElementsAre(Item{{"n", 2}}));
  EXPECT_THAT(items("DELETE FROM Things WHERE pk = 'a' RETURNING ALL OLD *"),
              ElementsAre(Item{{"pk", "a"}, {"n", 2}}));
  EXPECT_EQ(get("Things", {{"pk", "a"}}), std::nullopt);
}

TEST_P(Statements, AnUpdateDoesNotCreateItemsAndOtherWhereTermsAreConditions) {
  const auto failed = FailsWith(Code::kConditionalCheckFailed, "The conditional request failed");
  EXPECT_THAT(run("UPDATE Things SET n = 1 WHERE pk = 'none'"), failed);
  EXPECT_THAT(run("UPDATE Things SET n = 1 WHERE pk = 'none' AND attribute_not_exists(pk)"),
              failed);
  EXPECT_EQ(get("Things", {{"pk", "none"}}), std::nullopt);
  EXPECT_THAT(run("DELETE FROM Things WHERE pk = 'none' AND n = 1"), IsOk());
  put("Things", {{"pk", "a"}, {"n", 1}});
  EXPECT_THAT(run("UPDATE Things SET n = 5 WHERE pk = 'a' AND n = 2"), failed);
  EXPECT_THAT(run("DELETE FROM Things WHERE pk = 'a' AND n = 2"), failed);
  EXPECT_EQ(get("Things", {{"pk", "a"}}), (Item{{"pk", "a"}, {"n", 1}}));
  auto kept = client_.execute_statement(
      {.statement = "DELETE FROM Things WHERE pk = 'a' AND n = 2",
       .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld});
  ASSERT_THAT(kept, failed);
  ASSERT_TRUE(kept.error().detail);
  EXPECT_EQ(kept.error().detail->item, (Item{{"pk", "a"}, {"n", 1}}));
}

TEST_P(Statements, AWriteNamesTheWholeKey) {
  const auto lacks =
      FailsWith(Code::kValidation,
                "Where clause does not contain a mandatory equality on all key attributes");
  EXPECT_THAT(run("UPDATE Indexed SET n = 1 WHERE pk = 'a'"), lacks);
  EXPECT_THAT(run("DELETE FROM Indexed WHERE pk = 'a' AND sk IN [1]"), lacks);
  EXPECT_THAT(run("DELETE FROM Indexed"), lacks);
  EXPECT_THAT(run("UPDATE Indexed SET pk = 'z' WHERE pk = 'a' AND sk = 1"),
              FailsWith(Code::kValidation,
                        "One or more parameter values were invalid: Cannot update attribute pk. "
                        "This attribute is part of the key"));
  EXPECT_THAT(run("INSERT INTO Indexed VALUE {'pk': 'a'}"),
              FailsWith(Code::kValidation, "Key attribute should be present in the item: Key sk"));
}

TEST_P(Statements, SelectByKeysRangesAndBranches) {
  EXPECT_THAT(sort_keys("SELECT * FROM Indexed WHERE pk = 'a' AND sk >= 2 AND sk < 4"),
              ElementsAre(2, 3));
  EXPECT_THAT(sort_keys("SELECT sk FROM Indexed WHERE pk = 'a' ORDER BY sk DESC"),
              ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(sort_keys("SELECT sk FROM Indexed WHERE pk IN ['b', 'a'] AND sk < 3"),
              ElementsAre(1, 1, 2));
  EXPECT_THAT(sort_keys("SELECT sk FROM Indexed WHERE pk = 'a' AND sk = 1 OR pk = 'a' AND sk = 4"),
              ElementsAre(1, 4));
  EXPECT_THAT(
      sort_keys("SELECT sk FROM Indexed WHERE pk = 'a' AND NOT sk = 1 OR pk = 'a' AND sk = 2"),
      ElementsAre(2, 3, 4));
  EXPECT_THAT(
      run("SELECT * FROM Indexed WHERE pk = 'a' AND m.deep = 1 OR pk = 'a' AND sk = 2"),
      FailsWith(Code::kValidation,
                "Overlapping conditions with range keys are not supported in where clause"));
  EXPECT_THAT(sort_keys("SELECT sk FROM Indexed WHERE m.deep = 3"), ElementsAre(3));
  EXPECT_THAT(items("SELECT m.deep, sk FROM Indexed WHERE pk = 'a' AND sk = 2"),
              ElementsAre(Item{{"deep", 2}, {"sk", 2}}));
}

TEST_P(Statements, AnIndexIsReadByItsQualifiedName) {
  EXPECT_THAT(sort_keys(R"(SELECT * FROM "Indexed"."GlobalByPlace" WHERE place = 'x')"),
              ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(run(R"(SELECT m FROM "Indexed"."GlobalByPlace" WHERE place = 'x')"),
              FailsWith(Code::kValidation,
                        "One or more parameter values were invalid: Global secondary index "
                        "GlobalByPlace does not project [m]"));
  EXPECT_THAT(items(R"(SELECT note FROM "Indexed"."LocalByRank" WHERE pk = 'a' AND rank = 9)"),
              ElementsAre(Item{{"note", "n"}}));
  EXPECT_THAT(run(R"(SELECT sk FROM "Indexed"."LocalByRank" WHERE pk = 'a' AND note = 'n')"),
              FailsWith(Code::kValidation,
                        "One or more parameter values were invalid: Secondary index LocalByRank "
                        "does not project one or more filter attributes: [note]"));
  EXPECT_THAT(run(R"(SELECT * FROM "Indexed"."none" WHERE pk = 'a')"),
              FailsWith(Code::kValidation, "The table does not have the specified index"));
}

TEST_P(Statements, PagesContinueByTokensThatAreValidOnlyForTheirStatement) {
  ExecuteStatementRequest request{.statement = "SELECT sk FROM Indexed WHERE pk IN ['a', 'b']",
                                  .limit = 2};
  std::vector<std::size_t> sizes;
  std::string token;
  do {
    const auto page = client_.execute_statement(request);
    ASSERT_THAT(page, IsOk());
    sizes.push_back(page->items.size());
    EXPECT_EQ(page->next_token.has_value(), page->last_evaluated_key.has_value());
    request.next_token = page->next_token;
    if (token.empty()) token = page->next_token.value_or("");
    ASSERT_LT(sizes.size(), 9U);
  } while (request.next_token);
  EXPECT_EQ(sizes[0], 2U);
  std::size_t all = 0;
  for (const std::size_t size : sizes) all += size;
  EXPECT_EQ(all, 5U);
  const auto refused = FailsWith(Code::kValidation, "Invalid NextToken");
  request.next_token = token;
  request.statement = "SELECT sk FROM Indexed WHERE pk IN ['a', 'c']";
  EXPECT_THAT(client_.execute_statement(request), refused);
  request.statement = "SELECT sk FROM Indexed WHERE pk IN ['a', 'b']";
  request.next_token->at(4) = request.next_token->at(4) == 'A' ? 'B' : 'A';
  EXPECT_THAT(client_.execute_statement(request), refused);
  request.next_token = "abc";
  EXPECT_THAT(client_.execute_statement(request), refused);
}

TEST_P(Statements, ABatchReturnsAResultPerStatement) {
  const auto writes = client_.batch_execute_statement(
      {.statements = {{.statement = "INSERT INTO Things VALUE {'pk': ?}",
                       .parameters = {{AttributeValue("a")}}},
                      {.statement = "UPDATE Things SET n = 1 WHERE pk = 'none'"},
                      {.statement = "UPDATE Lost SET n = 1 WHERE pk = 'none'"},
                      {.statement = "SLECT * FROM Things WHERE pk = 'a'"},
                      {.statement = "INSERT INTO Indexed VALUE {'pk': 'a', 'sk': 1}"}}});
  ASSERT_THAT(writes, IsOk());
  std::vector<std::string> outcomes;
  for (const BatchStatementResult& response : writes->responses) {
    outcomes.push_back(response.table + ":" + (response.error ? response.error->code : ""));
  }
  EXPECT_THAT(outcomes, ElementsAre("Things:", "Things:ConditionalCheckFailed", ":ResourceNotFound",
                                    ":ValidationError", "Indexed:DuplicateItem"));
  const auto reads = client_.batch_execute_statement(
      {.statements = {{.statement = "SELECT * FROM Things WHERE pk = 'a'", .consistent_read = true},
                      {.statement = "SELECT * FROM Things WHERE pk = 'b'"},
                      {.statement = "SELECT * FROM Indexed WHERE pk = 'a'"}},
       .return_capacity = ReturnConsumedCapacity::kTotal});
  ASSERT_THAT(reads, IsOk());
  EXPECT_EQ(reads->responses[0].item, (Item{{"pk", "a"}}));
  EXPECT_FALSE(reads->responses[1].item);
  ASSERT_TRUE(reads->responses[2].error);
  EXPECT_EQ(reads->responses[2].error->message,
            "Select statements within BatchExecuteStatement must specify the primary key in the "
            "where clause.");
  ASSERT_EQ(reads->capacity.size(), 1U);
  EXPECT_EQ(reads->capacity[0].total.units, 1.5);
  EXPECT_THAT(client_.batch_execute_statement(
                  {.statements = {{.statement = "SELECT * FROM Things WHERE pk = 'a'"},
                                  {.statement = "DELETE FROM Things WHERE pk = 'b'"}}}),
              FailsWith(Code::kValidation,
                        "Read and write requests together in the same batch is not supported."));
}

TEST_P(Statements, AnInvalidParameterFailsItsOwnStatementOfABatch) {
  const auto answer = client_.call("BatchExecuteStatement", R"({"Statements": [
      {"Statement": "INSERT INTO Things VALUE {'pk': 'x', 'n': ?}", "Parameters": [{"N": "abc"}]},
      {"Statement": "INSERT INTO Things VALUE {'pk': 'y', 'n': ?}", "Parameters": [{"N": "1"}]}]})");
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(*answer, R"({"Responses":[{"Error":{"Code":"ValidationError","Message":)"
                     R"("The parameter cannot be converted to a numeric value: abc"}},)"
                     R"({"TableName":"Things"}]})");
  EXPECT_EQ(get("Things", {{"pk", "y"}}), (Item{{"pk", "y"}, {"n", 1}}));
  EXPECT_EQ(get("Things", {{"pk", "x"}}), std::nullopt);
  EXPECT_THAT(client_.call("BatchExecuteStatement", R"({"Statements": [
      {"Statement": "INSERT INTO Things VALUE {'pk': 'x', 'n': ?}", "Parameters": [{"N": 1}]}]})"),
              FailsWith(Code::kSerialization, "NUMBER_VALUE cannot be converted to String"));
}

TEST_P(Statements, ItemsHaveAtMost400Kilobytes) {
  // "pk", "k" and "t" are four bytes.
  const std::string text(400UL * 1024 - 4, 'x');
  const std::vector<AttributeValue> most = {text};
  const std::vector<AttributeValue> more = {text + "x"};
  EXPECT_THAT(run("INSERT INTO Things VALUE {'pk': 'k', 't': ?}", more),
              FailsWith(Code::kValidation, "Item size"));
  EXPECT_THAT(run("INSERT INTO Things VALUE {'pk': 'k', 't': ?}", most), IsOk());
  EXPECT_THAT(run("UPDATE Things SET t = ? WHERE pk = 'k'",
                  std::vector<AttributeValue>{text + std::string(1024, 'x')}),
              FailsWith(Code::kValidation, "Item size to update has exceeded"));
  EXPECT_EQ(get("Things", {{"pk", "k"}}), (Item{{"pk", "k"}, {"t", text}}));
}

TEST_P(Statements, ATransactionHappensWholeOrNotAtAll) {
  put("Things", {{"pk", "a"}, {"n", 1}});
  const auto cancelled = client_.execute_transaction(
      {.statements = {{.statement = "UPDATE Things SET n = 2 WHERE pk = 'a'"},
                      {.statement = "INSERT INTO Indexed VALUE {'pk': 'a', 'sk': 1}"}}});
  ASSERT_THAT(cancelled, FailsWith(Code::kTransactionCanceled,
                                   "Transaction cancelled, please refer cancellation reasons for "
                                   "specific reasons [None, DuplicateItem]"));
  EXPECT_EQ(get("Things", {{"pk", "a"}}), (Item{{"pk", "a"}, {"n", 1}}));

  const ExecuteTransactionRequest add{
      .statements = {{.statement = "UPDATE Things SET n = n + 1 WHERE pk = 'a'"},
                     {.statement = "EXISTS(SELECT * FROM Indexed WHERE pk = 'a' AND sk = 1 AND "
                                   "note = 'n')"}},
      .client_request_token = "once",
      .return_capacity = ReturnConsumedCapacity::kTotal};
  for (int i = 0; i < 2; ++i) {
    const auto added = client_.execute_transaction(add);
    ASSERT_THAT(added, IsOk());
    EXPECT_THAT(added->items, IsEmpty());
    ASSERT_EQ(added->capacity.size(), 2U);
    EXPECT_EQ(i == 0 ? added->capacity[1].total.write : added->capacity[1].total.read, 2);
  }
  EXPECT_EQ(get("Things", {{"pk", "a"}}), (Item{{"pk", "a"}, {"n", 2}}));
  ExecuteTransactionRequest other = add;
  other.statements.pop_back();
  EXPECT_THAT(client_.execute_transaction(other),
              FailsWith(Code::kIdempotentParameterMismatch, ""));

  const auto read = client_.execute_transaction(
      {.statements = {{.statement = "SELECT n FROM Things WHERE pk = 'a'"},
                      {.statement = "SELECT n FROM Things WHERE pk = 'b'"}}});
  ASSERT_THAT(read, IsOk());
  EXPECT_THAT(read->items, ElementsAre(std::optional(Item{{"n", 2}}), std::nullopt));
}

TEST_P(Statements, ATransactionReportsWhichStatementItRejects) {
  const auto refused = [&](std::string statement, const std::string& message) {
    EXPECT_THAT(
        client_.execute_transaction({.statements = {{.statement = std::move(statement)}}}),
        FailsWith(Code::kValidation, "Validation failed in TransactStatements[0]: " + message));
  };
  refused("UPDATE Things SET n = 1 WHERE pk = 'a' RETURNING ALL NEW *",
          "RETURNING clause is not supported in ExecuteTransaction.");
  refused("SELECT * FROM Indexed WHERE pk = 'a'",
          "Select statements within ExecuteTransaction must specify the primary key in the where "
          "clause.");
  refused(R"(SELECT * FROM "Indexed"."GlobalByPlace" WHERE place = 'x')",
          "Reads on indices are not supported within transactions.");
  refused("EXISTS(SELECT * FROM Things WHERE pk = 'a')",
          "EXISTS() must contain a single item read with additional condition");
  refused("SELECT * FROM Things WHERE",
          "Statement wasn't well formed, can't be processed: Unexpected term");
  EXPECT_THAT(run("EXISTS(SELECT * FROM Things WHERE pk = 'a')"),
              FailsWith(Code::kValidation,
                        "EXISTS can only be used in ExecuteTransaction write requests."));
}

}  // namespace
}  // namespace stator::test
