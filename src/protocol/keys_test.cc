// SPDX-License-Identifier: Apache-2.0
// Tests the exact messages about keys of tables and indexes, in every write.
#include "protocol/exactness_harness.h"

namespace stator::protocol {
namespace {

// The code and message of each reason of a cancelled transaction.
std::string reasons_of(const Result<std::string>& answer) {
  if (answer || !answer.error().detail) return answer ? "applied" : answer.error().message;
  std::string all;
  for (const CancellationReason& reason : answer.error().detail->reasons) {
    all += reason.code + ": " + reason.message + "\n";
  }
  return all;
}

TEST_F(Exactness, IndexKeysOfWrongTypesAreNamedByEveryWrite) {
  const std::string mismatch =
      "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S "
      "Actual: ";
  const std::pair<std::string, std::string> wrong[] = {
      {R"({"N":"1"})", mismatch + "N IndexName: global"},
      {R"({"NULL":true})", mismatch + "NULL IndexName: global"},
      {R"({"L":[{"S":"a"}]})", mismatch + "L IndexName: global"},
  };
  const std::string key = R"("p":{"S":"a"},"s":{"N":"1"})";
  for (const auto& [value, message] : wrong) {
    const std::string put = R"({"TableName":"Two","Item":{)" + key + R"(,"g":)" + value + "}}";
    const std::string set =
        R"({"TableName":"Two","Key":{)" + key +
        R"(},"UpdateExpression":"SET g = :v","ExpressionAttributeValues":{":v":)" + value + "}}";
    expect_refusals({
        {"PutItem", put, message},
        {"UpdateItem", set, message},
        {"UpdateItem",
         R"({"TableName":"Two","Key":{)" + key + R"(},"AttributeUpdates":{"g":{"Value":)" + value +
             "}}}",
         message},
        {"BatchWriteItem",
         R"({"RequestItems":{"Two":[{"PutRequest":{"Item":{)" + key + R"(,"g":)" + value + "}}}]}}",
         message},
        {"ExecuteStatement",
         R"({"Statement":"INSERT INTO Two VALUE {'p':'a','s':1,'g':?}","Parameters":[)" + value +
             "]}",
         message},
        {"ExecuteStatement",
         R"({"Statement":"UPDATE Two SET g=? WHERE p='a' AND s=1","Parameters":[)" + value + "]}",
         message},
    });
    for (const std::string& action : {R"({"Put":)" + put + "}", R"({"Update":)" + set + "}"}) {
      const std::string request = R"({"TransactItems":[)" + action + "]}";
      EXPECT_EQ(reasons_of(ask("TransactWriteItems", request)),
                "ValidationError: " + message + "\n");
    }
  }
}

constexpr const char* kEmptyIndexKey =
    "One or more parameter values are not valid. A value specified for a secondary index key is "
    "not supported. The AttributeValue for a key attribute cannot contain an empty string value. "
    "IndexName: global, IndexKey: g";
constexpr const char* kUpdatedToEmptyIndexKey =
    "One or more parameter values are not valid. The update expression attempted to update a "
    "secondary index key to a value that is not supported. The AttributeValue for a key "
    "attribute cannot contain an empty string value.";

TEST_F(Exactness, EmptyIndexKeysAreRefusedByEveryWriteAsAWhole) {
  const std::string item =
      R"({"TableName":"Two","Item":{"p":{"S":"a"},"s":{"N":"1"},"g":{"S":""}}})";
  const std::string update =
      R"({"TableName":"Two","Key":{"p":{"S":"a"},"s":{"N":"1"}},"UpdateExpression":"SET g = :v",)"
      R"("ExpressionAttributeValues":{":v":{"S":""}}})";
  // In a transaction, the error precedes reasons to cancel it, such as this action.
  const std::string mistyped =
      R"({"Put":{"TableName":"Two","Item":{"p":{"S":"b"},"s":{"N":"1"},"g":{"N":"1"}}}})";
  expect_refusals({
      {"PutItem", item, kEmptyIndexKey},
      {"UpdateItem", update, kUpdatedToEmptyIndexKey},
      {"BatchWriteItem",
       R"({"RequestItems":{"Two":[{"PutRequest":{"Item":
         {"p":{"S":"a"},"s":{"N":"1"},"g":{"S":""}}}}]}})",
       kEmptyIndexKey},
      {"TransactWriteItems", R"({"TransactItems":[)" + mistyped + R"(,{"Put":)" + item + "}]}",
       kEmptyIndexKey},
      {"TransactWriteItems", R"({"TransactItems":[)" + mistyped + R"(,{"Update":)" + update + "}]}",
       kUpdatedToEmptyIndexKey},
      {"ExecuteStatement", R"({"Statement":"INSERT INTO Two VALUE {'p':'a','s':1,'g':''}"})",
       kEmptyIndexKey},
  });
}

// As in TransactWriteItems, before any reason to cancel.
TEST_F(Exactness, EmptyKeysAreRefusedByTransactionsOfStatementsAsAWhole) {
  const std::string key =
      "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
      "contain an empty string value. Key: p";
  const std::string mistyped = R"({"Statement":"INSERT INTO Two VALUE {'p':'b','s':1,'g':1}"})";
  const std::pair<std::string, std::string> cases[] = {
      {"INSERT INTO Two VALUE {'p':'a','s':1,'g':''}", kEmptyIndexKey},
      {"UPDATE Two SET g='' WHERE p='a' AND s=1", kUpdatedToEmptyIndexKey},
      {"INSERT INTO Two VALUE {'p':'','s':1}", key},
      {"UPDATE Two SET h='x' WHERE p='' AND s=1", key},
      {"DELETE FROM Two WHERE p='' AND s=1", key},
  };
  for (const auto& [statement, message] : cases) {
    for (const std::string& first : {std::string(), mistyped + ","}) {
      const std::string request =
          R"({"TransactStatements":[)" + first + R"({"Statement":")" + statement + R"("}]})";
      expect_refusals({{"ExecuteTransaction", request, message}});
    }
  }
}

// A table with a range key and indexes on bytes: "of_bytes" (local), "on_bytes" (global).
constexpr std::string_view kBytes = R"({"TableName":"Bytes","BillingMode":"PAY_PER_REQUEST",
  "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"},
    {"AttributeName":"r","AttributeType":"B"},{"AttributeName":"l","AttributeType":"B"},
    {"AttributeName":"g","AttributeType":"S"},{"AttributeName":"h","AttributeType":"B"}],
  "KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],
  "LocalSecondaryIndexes":[{"IndexName":"of_bytes","Projection":{"ProjectionType":"ALL"},
    "KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"l","KeyType":"RANGE"}]}],
  "GlobalSecondaryIndexes":[{"IndexName":"on_bytes","Projection":{"ProjectionType":"ALL"},
    "KeySchema":[{"AttributeName":"g","KeyType":"HASH"},
                 {"AttributeName":"h","KeyType":"RANGE"}]}]})";

// Every write of `"attribute":value` to one item of that table, as requests.
std::vector<std::pair<std::string, std::string>> writes_of(const std::string& attribute,
                                                           const std::string& value) {
  const std::string key = R"("p":{"S":"a"},"r":{"B":"AA=="})";
  const std::string put =
      R"({"TableName":"Bytes","Item":{)" + key + ",\"" + attribute + "\":" + value + "}}";
  const std::string update = R"({"TableName":"Bytes","Key":{)" + key +
                             R"(},"UpdateExpression":"SET )" + attribute +
                             R"( = :v","ExpressionAttributeValues":{":v":)" + value + "}}";
  const std::string insert = R"({"Statement":"INSERT INTO Bytes VALUE {'p':'a','r':?,')" +
                             attribute + R"(':?}","Parameters":[{"B":"AA=="},)" + value + "]}";
  const std::string set = R"({"Statement":"UPDATE Bytes SET )" + attribute +
                          R"(=? WHERE p='a' AND r=?","Parameters":[)" + value +
                          R"(,{"B":"AA=="}]})";
  return {{"PutItem", put},
          {"UpdateItem", update},
          {"BatchWriteItem", R"({"RequestItems":{"Bytes":[{"PutRequest":{"Item":{)" + key + ",\"" +
                                 attribute + "\":" + value + "}}}]}}"},
          {"TransactWriteItems", R"({"TransactItems":[{"Put":)" + put + "}]}"},
          {"TransactWriteItems", R"({"TransactItems":[{"Update":)" + update + "}]}"},
          {"ExecuteStatement", insert},
          {"ExecuteStatement", set},
          {"ExecuteTransaction", R"({"TransactStatements":[)" + insert + "]}"},
          {"ExecuteTransaction", R"({"TransactStatements":[)" + set + "]}"},
          {"BatchExecuteStatement", R"({"Statements":[)" + insert + "]}"},
          {"BatchExecuteStatement", R"({"Statements":[)" + set + "]}"}};
}

TEST_F(Exactness, IndexKeysOfBytesAreJudgedByEveryWrite) {
  must(ask("CreateTable", kBytes));
  const std::string not_supported =
      "One or more parameter values are not valid. A value specified for a secondary index key is "
      "not supported. The AttributeValue for a key attribute cannot contain an empty binary "
      "value. ";
  const std::string updated =
      "One or more parameter values are not valid. The update expression attempted to update a "
      "secondary index key to a value that is not supported. The AttributeValue for a key "
      "attribute cannot contain an empty binary value.";
  for (const auto& [attribute, index] : {std::pair("l", "of_bytes"), {"h", "on_bytes"}}) {
    const std::string mismatch = kInvalid + "Type mismatch for Index Key " + attribute +
                                 " Expected: B Actual: S IndexName: " + index;
    for (const auto& [operation, request] : writes_of(attribute, R"({"S":"x"})")) {
      const auto answer = ask(operation, request);
      if (operation == "BatchExecuteStatement") {
        EXPECT_EQ(must(answer), R"({"Responses":[{"Error":{"Code":"ValidationError","Message":")" +
                                    mismatch + R"("}}]})");
      } else {
        const bool cancels = operation.find("Transact") != std::string::npos;
        EXPECT_EQ(reasons_of(answer), cancels ? "ValidationError: " + mismatch + "\n" : mismatch)
            << operation << request;
      }
    }
    const std::string put =
        not_supported + "IndexName: " + index + ", IndexKey: " + std::string(attribute);
    for (const auto& [operation, request] : writes_of(attribute, R"({"B":""})")) {
      const bool updates = request.find("SET ") != std::string::npos;
      const std::string& message = updates ? updated : put;
      const auto answer = ask(operation, request);
      if (operation == "BatchExecuteStatement") {
        EXPECT_EQ(must(answer), R"({"Responses":[{"Error":{"Code":"ValidationError","Message":")" +
                                    message + R"("}}]})");
      } else {
        EXPECT_EQ(reasons_of(answer), message) << operation << request;
      }
    }
  }
}

TEST_F(Exactness, EmptyRangeKeysAreNamed) {
  must(ask("CreateTable", kBytes));
  const std::string empty =
      "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
      "contain an empty binary value. Key: r";
  const std::string key = R"({"p":{"S":"a"},"r":{"B":""}})";
  const std::string insert =
      R"j({"Statement":"INSERT INTO Bytes VALUE {'p':'a','r':?}","Parameters":[{"B":""}]})j";
  const std::string update =
      R"j({"Statement":"UPDATE Bytes SET x=1 WHERE p='a' AND r=?","Parameters":[{"B":""}]})j";
  const std::pair<std::string, std::string> requests[] = {
      {"PutItem", R"({"TableName":"Bytes","Item":)" + key + "}"},
      {"GetItem", R"({"TableName":"Bytes","Key":)" + key + "}"},
      {"UpdateItem", R"({"TableName":"Bytes","Key":)" + key + "}"},
      {"DeleteItem", R"({"TableName":"Bytes","Key":)" + key + "}"},
      {"BatchWriteItem", R"({"RequestItems":{"Bytes":[{"DeleteRequest":{"Key":)" + key + "}}]}}"},
      {"TransactWriteItems",
       R"({"TransactItems":[{"Delete":{"TableName":"Bytes","Key":)" + key + "}}]}"},
      {"ExecuteStatement", insert},
      {"ExecuteStatement", update},
      {"ExecuteTransaction", R"({"TransactStatements":[)" + insert + "]}"},
      {"ExecuteTransaction", R"({"TransactStatements":[)" + update + "]}"},
  };
  for (const auto& [operation, request] : requests) {
    expect_refusals({{operation, request, empty}});
  }
}

TEST_F(Exactness, UpdatesAreJudgedByKeyThenIndexKeysThenPaths) {
  const auto update = [](std::string_view expression) {
    std::string request = R"({"TableName":"Two","Key":{"p":{"S":"a"},"s":{"N":"1"}},)";
    return request.append(R"("UpdateExpression":")")
        .append(expression)
        .append(R"(","ExpressionAttributeValues":{":n":{"N":"1"}}})");
  };
  const std::string cannot_update =
      "One or more parameter values were invalid: Cannot update attribute p. This attribute is "
      "part "
      "of the key";
  const std::string opened =
      "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
      "allowed: IndexKey: l";
  const std::string mismatch =
      "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S "
      "Actual: "
      "N IndexName: global";
  expect_refusals({
      {"UpdateItem", update("ADD p.b :n"), cannot_update},
      {"UpdateItem", update("SET g = :n, p = p.b"), cannot_update},
      {"UpdateItem", update("SET l.a = a ADD g :n"), mismatch},
      {"UpdateItem", update("SET e = l[1], g = a + :n"), mismatch},
      {"UpdateItem", update("SET g = if_not_exists(g, :n)"), mismatch},
      {"UpdateItem", update("ADD l.b :n"), opened},
      {"TransactWriteItems", R"({"TransactItems":[{"Update":)" + update("ADD l.b :n") + "}]}",
       opened},
  });
}

TEST_F(Exactness, OfSeveralIndexesTheFirstByNameIsNamed) {
  must(ask("CreateTable", R"({"TableName":"Many","BillingMode":"PAY_PER_REQUEST",
    "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"},
      {"AttributeName":"s","AttributeType":"S"},{"AttributeName":"k","AttributeType":"S"}],
    "KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}],
    "LocalSecondaryIndexes":[{"IndexName":"lsi1","Projection":{"ProjectionType":"ALL"},"KeySchema":
      [{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"k","KeyType":"RANGE"}]}],
    "GlobalSecondaryIndexes":[{"IndexName":"gsi2","Projection":{"ProjectionType":"ALL"},
      "KeySchema":[{"AttributeName":"k","KeyType":"HASH"}]},{"IndexName":"gsi1",
      "Projection":{"ProjectionType":"ALL"},"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}]}]})"));
  expect_refusals({
      {"PutItem", R"({"TableName":"Many","Item":{"p":{"S":"a"},"s":{"S":"b"},"k":{"N":"1"}}})",
       "One or more parameter values were invalid: Type mismatch for Index Key k Expected: S "
       "Actual: "
       "N IndexName: gsi1"},
  });
}

}  // namespace
}  // namespace stator::protocol
