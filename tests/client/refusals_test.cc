// SPDX-License-Identifier: Apache-2.0
// Each invalid request has the same error code and message on every backend.
#include <functional>
#include <map>
#include <utility>

#include "client/client_test.h"

namespace stator::test {
namespace {

struct Refusal {
  std::string what;
  std::function<Result<void>(Client&)> request;
  Code code = Code::kValidation;
};

// The result without its value.
template <class T>
Result<void> outcome(Result<T> result) {
  if (!result) return failure_of(std::move(result));
  return {};
}

Refusal refused_put(std::string what, const PutItemRequest& request,
                    Code code = Code::kValidation) {
  return {std::move(what), [request](Client& client) { return outcome(client.put_item(request)); },
          code};
}
Refusal refused_get(std::string what, const GetItemRequest& request,
                    Code code = Code::kValidation) {
  return {std::move(what), [request](Client& client) { return outcome(client.get_item(request)); },
          code};
}
Refusal refused_update(std::string what, UpdateItemRequest request) {
  request.table = "Things";
  if (request.key.empty()) request.key = {{"pk", "a"}, {"sk", 1}};
  return {std::move(what),
          [request](Client& client) { return outcome(client.update_item(request)); }};
}
Refusal refused_query(std::string what, QueryRequest request) {
  request.table = "Things";
  return {std::move(what), [request](Client& client) { return outcome(client.query(request)); }};
}
Refusal refused_scan(std::string what, ScanRequest request) {
  request.table = "Things";
  return {std::move(what), [request](Client& client) { return outcome(client.scan(request)); }};
}
Refusal refused_table(std::string what, const CreateTableRequest& request) {
  return {std::move(what),
          [request](Client& client) { return outcome(client.create_table(request)); }};
}
Refusal refused_transaction(std::string what, const TransactWriteItemsRequest& request,
                            Code code = Code::kValidation) {
  return {std::move(what),
          [request](Client& client) { return outcome(client.transact_write_items(request)); },
          code};
}

const Item thing{{"pk", "a"}, {"sk", 1}};
const Item other_thing{{"pk", "b"}, {"sk", 1}};

// One backend of each kind, with the same table and item.
class Refusals : public ::testing::Test {
 protected:
  Refusals() {
    for (const std::string& kind : home_kinds()) {
      Client& client = *homes_.emplace(kind, open_home(kind)).first->second.client;
      EXPECT_THAT(client.create_table(indexed_table("Things")), IsOk());
      EXPECT_THAT(client.put_item({.table = "Things", .item = thing}), IsOk());
    }
  }
  ~Refusals() override {
    for (const auto& [kind, home] : homes_) {
      const auto items = home.client->scan({.table = "Things"});
      EXPECT_THAT(items, IsOk());
      if (items) {
        EXPECT_EQ(items->items, std::vector<Item>{thing}) << "changed in " << kind;
      }
    }
  }

  // Sends each request to every backend and compares the responses.
  void expect_refused_alike(const std::vector<Refusal>& refusals) {
    for (const Refusal& refusal : refusals) {
      std::optional<std::string> message;
      for (const auto& [kind, home] : homes_) {
        SCOPED_TRACE(refusal.what + " in " + kind);
        const Result<void> result = refusal.request(*home.client);
        ASSERT_FALSE(result);
        EXPECT_STREQ(code_name(result.error().code), code_name(refusal.code));
        EXPECT_NE(result.error().message, "");
        if (!message) message = result.error().message;
        EXPECT_EQ(result.error().message, *message);
      }
    }
  }

  std::map<std::string, Home> homes_;
};

TEST_F(Refusals, OfSingleItemsAreTheSameOnEveryBackend) {
  Item large = other_thing;
  large.emplace("v", std::string(400UL * 1024, 'x'));
  AttributeValue deep = 1;
  for (int level = 0; level < 33; ++level) deep = List{deep};
  Item nested = other_thing;
  nested.emplace("v", deep);
  const std::string long_key(2049, 'k');
  expect_refused_alike({
      refused_put("no table", {.table = "Nope", .item = other_thing}, Code::kResourceNotFound),
      refused_put("no table's name", {.table = "", .item = other_thing}),
      refused_put("a table's name with a space", {.table = "Th ings", .item = other_thing}),
      refused_put("a missing sort key", {.table = "Things", .item = {{"pk", "b"}}}),
      refused_put("a key of the wrong type", {.table = "Things", .item = {{"pk", 1}, {"sk", 1}}}),
      refused_put("an empty key", {.table = "Things", .item = {{"pk", ""}, {"sk", 1}}}),
      refused_put("an index key of the wrong type",
                  {.table = "Things", .item = {{"pk", "b"}, {"sk", 1}, {"rank", "high"}}}),
      refused_put("a key of 2,049 bytes",
                  {.table = "Things", .item = {{"pk", long_key}, {"sk", 1}}}),
      refused_put("an item beyond 400 KB", {.table = "Things", .item = large}),
      refused_put("nesting beyond 32 levels", {.table = "Things", .item = nested}),
      refused_put("an empty set",
                  {.table = "Things", .item = {{"pk", "b"}, {"sk", 1}, {"v", NumberSet()}}}),
      refused_put(
          "a set with a repetition",
          {.table = "Things", .item = {{"pk", "b"}, {"sk", 1}, {"v", StringSet{"x", "x"}}}}),
      refused_put("an image that a put does not have",
                  {.table = "Things", .item = other_thing, .return_values = ReturnValues::kAllNew}),
      refused_put("a broken condition",
                  {.table = "Things", .item = other_thing, .condition = "a ="}),
      refused_put("a reserved word",
                  {.table = "Things", .item = other_thing, .condition = "attribute_exists(size)"}),
      refused_put("an undefined value",
                  {.table = "Things", .item = other_thing, .condition = "a = :v"}),
      refused_put("an unused value", {.table = "Things",
                                      .item = other_thing,
                                      .condition = "attribute_exists(a)",
                                      .values = {{{":v", 1}}}}),
      refused_put("values without an expression",
                  {.table = "Things", .item = other_thing, .values = {{{":v", 1}}}}),
      refused_put(
          "empty values",
          {.table = "Things", .item = other_thing, .condition = "a = b", .values = Values()}),
      refused_put("a condition that does not hold",
                  {.table = "Things", .item = other_thing, .condition = "attribute_exists(pk)"},
                  Code::kConditionalCheckFailed),
      refused_get("no table", {.table = "Nope", .key = thing}, Code::kResourceNotFound),
      refused_get("half a key", {.table = "Things", .key = {{"pk", "a"}}}),
      refused_get("more than a key", {.table = "Things", .key = large}),
      refused_get("a broken projection", {.table = "Things", .key = thing, .projection = "a,"}),
      refused_get("overlapping paths", {.table = "Things", .key = thing, .projection = "a, a.b"}),
      refused_update("a change of the key", {.update = "SET sk = :v", .values = {{{":v", 2}}}}),
      refused_update("a wrong type", {.update = "ADD sk2 :v", .values = {{{":v", "text"}}}}),
      refused_update("a path that is not there",
                     {.update = "SET a.b.c = :v", .values = {{{":v", 1}}}}),
      refused_update("two changes of one path",
                     {.update = "SET a = :v, a = :v", .values = {{{":v", 1}}}}),
      refused_update("an empty expression", {.update = ""}),
      {"a deletion with a key of another type",
       [](Client& client) {
         return outcome(client.delete_item({.table = "Things", .key = {{"pk", 1}, {"sk", 1}}}));
       }},
  });
}

// Malformed JSON is rejected before the content of the request is checked.
TEST_F(Refusals, OfTextThatIsNotUtf8AreTheSameInEveryBackend) {
  const std::string broken = "\xc3(";
  CreateTableRequest table = hash_table("Broken");
  table.attributes[0].name = table.key_schema[0].name = broken;
  for (const Refusal& refusal : std::vector<Refusal>{
           refused_put("a value",
                       {.table = "Things", .item = {{"pk", "b"}, {"sk", 1}, {"v", broken}}}),
           refused_put(
               "a set's element",
               {.table = "Things", .item = {{"pk", "b"}, {"sk", 1}, {"v", StringSet{broken}}}}),
           refused_put("a name",
                       {.table = "Things", .item = {{"pk", "b"}, {"sk", 1}, {broken, 1}}}),
           refused_put(
               "a nested name",
               {.table = "Things", .item = {{"pk", "b"}, {"sk", 1}, {"m", Map{{broken, 1}}}}}),
           refused_get("a key", {.table = "Things", .key = {{"pk", broken}, {"sk", 1}}}),
           refused_get("a projection", {.table = "Things", .key = thing, .projection = broken}),
           refused_update("an expression's value",
                          {.update = "SET v = :v", .values = {{{":v", broken}}}}),
           refused_update(
               "a placeholder's name",
               {.update = "SET #n = :v", .names = {{{"#n", broken}}}, .values = {{{":v", 1}}}}),
           refused_query("a start key", {.key_condition = "pk = :a",
                                         .values = {{{":a", "a"}}},
                                         .exclusive_start_key = {{{"pk", broken}, {"sk", 1}}}}),
           refused_table("a key's name", table),
       }) {
    for (const auto& [kind, home] : homes_) {
      SCOPED_TRACE(refusal.what + " in " + kind);
      EXPECT_THAT(refusal.request(*home.client),
                  FailsWith(kind == "http" ? Code::kSerialization : Code::kValidation, ""));
    }
  }
}

TEST_F(Refusals, OfRangesAreTheSameOnEveryBackend) {
  const Values a{{":a", "a"}};
  expect_refused_alike({
      refused_query("no key condition", {}),
      refused_query("no condition on the partition key",
                    {.key_condition = "sk = :a", .values = {{{":a", 1}}}}),
      refused_query("a disjunction", {.key_condition = "pk = :a OR pk = :a", .values = a}),
      refused_query("a filter on the key",
                    {.key_condition = "pk = :a", .filter = "sk = :a", .values = a}),
      refused_query("no limit", {.key_condition = "pk = :a", .values = a, .limit = 0}),
      refused_query("an unknown index", {.index = "Nope", .key_condition = "pk = :a", .values = a}),
      refused_query("a consistent read of a global index", {.index = "GlobalByPlace",
                                                            .key_condition = "place = :a",
                                                            .values = a,
                                                            .consistent_read = true}),
      refused_query("all attributes of a global index that has some",
                    {.index = "GlobalByPlace",
                     .key_condition = "place = :a",
                     .values = a,
                     .select = Select::kAllAttributes}),
      refused_query("what a global index does not hold", {.index = "GlobalByPlace",
                                                          .key_condition = "place = :a",
                                                          .projection = "rest",
                                                          .values = a}),
      refused_query(
          "a projection and a count",
          {.key_condition = "pk = :a", .projection = "v", .values = a, .select = Select::kCount}),
      refused_query(
          "specific attributes without saying which",
          {.key_condition = "pk = :a", .values = a, .select = Select::kSpecificAttributes}),
      refused_query(
          "a start key of half a key",
          {.key_condition = "pk = :a", .values = a, .exclusive_start_key = {{{"pk", "a"}}}}),
      refused_query("a start key elsewhere",
                    {.key_condition = "pk = :a", .values = a, .exclusive_start_key = other_thing}),
      refused_scan("a segment alone", {.segment = 0}),
      refused_scan("a total alone", {.total_segments = 2}),
      refused_scan("a segment past the total", {.segment = 2, .total_segments = 2}),
      refused_scan("a negative segment", {.segment = -1, .total_segments = 2}),
      refused_scan("too many segments", {.segment = 0, .total_segments = 1'000'001}),
      refused_scan("a broken filter", {.filter = "((v"}),
      refused_scan("projected attributes without an index",
                   {.select = Select::kAllProjectedAttributes}),
  });
}

TEST_F(Refusals, OfTablesAreTheSameOnEveryBackend) {
  CreateTableRequest short_name = hash_table("ab");
  CreateTableRequest undefined = hash_table("Undefined");
  undefined.key_schema.push_back({"sk", KeyType::kRange});
  CreateTableRequest unused = hash_table("Unused");
  unused.attributes.push_back({"more", ScalarType::kS});
  CreateTableRequest unpriced = hash_table("Unpriced");
  unpriced.billing_mode.reset();
  CreateTableRequest twice = indexed_table("Twice");
  twice.global_indexes->push_back(twice.global_indexes->front());
  CreateTableRequest no_indexes = hash_table("NoIndexes");
  no_indexes.global_indexes = std::vector<IndexDefinition>();
  CreateTableRequest two_ranges = hash_table("TwoRanges");
  two_ranges.key_schema = {{"pk", KeyType::kRange}, {"pk", KeyType::kRange}};
  expect_refused_alike({
      refused_table("a short name", short_name),
      refused_table("no name", hash_table("")),
      refused_table("no keys", {.table = "NoKeys"}),
      refused_table("an undefined key", undefined),
      refused_table("an unused attribute", unused),
      refused_table("no throughput", unpriced),
      refused_table("two indexes of one name", twice),
      refused_table("an empty list of indexes", no_indexes),
      refused_table("no hash key", two_ranges),
      {"a description of no table",
       [](Client& client) { return outcome(client.describe_table({.table = "Nope"})); },
       Code::kResourceNotFound},
      {"a deletion of no table",
       [](Client& client) { return outcome(client.delete_table({.table = "Nope"})); },
       Code::kResourceNotFound},
      {"a second table of the name",
       [](Client& client) { return outcome(client.create_table(indexed_table("Things"))); },
       Code::kResourceInUse},
      {"a list of more than 100",
       [](Client& client) { return outcome(client.list_tables({.limit = 101})); }},
      {"a list after a bad name",
       [](Client& client) {
         return outcome(client.list_tables({.exclusive_start_table = "no such name"}));
       }},
  });
}

TEST_F(Refusals, OfBatchesAndTransactionsAreTheSameOnEveryBackend) {
  const auto action = [](TransactAction kind, Item item) {
    return TransactWriteItem{.action = kind, .table = "Things", .item = std::move(item)};
  };
  TransactWriteItem failing = action(TransactAction::kPut, other_thing);
  failing.condition = "attribute_exists(pk)";
  expect_refused_alike({
      {"a batch of nothing", [](Client& client) { return outcome(client.batch_write_item({})); }},
      {"a batch with an empty list",
       [](Client& client) {
         return outcome(
             client.batch_write_item({.items = {{"Things", std::vector<WriteRequest>()}}}));
       }},
      {"a batch entry that is no request",
       [](Client& client) {
         return outcome(client.batch_write_item({.items = {{"Things", {WriteRequest()}}}}));
       }},
      {"a batch entry that is two",
       [](Client& client) {
         return outcome(client.batch_write_item(
             {.items = {{"Things", {{.put = other_thing, .delete_key = other_thing}}}}}));
       }},
      {"a batch of keys that are none",
       [](Client& client) {
         return outcome(client.batch_get_item({.items = {{"Things", {.keys = {{}}}}}}));
       }},
      {"a batch of a table that is not there",
       [](Client& client) {
         return outcome(client.batch_get_item({.items = {{"Nope", {.keys = {thing}}}}}));
       },
       Code::kResourceNotFound},
      refused_transaction("nothing", {}),
      refused_transaction("a check without a condition",
                          {.items = {action(TransactAction::kConditionCheck, thing)}}),
      refused_transaction("an update without an expression",
                          {.items = {action(TransactAction::kUpdate, other_thing)}}),
      refused_transaction("one item twice", {.items = {action(TransactAction::kPut, other_thing),
                                                       action(TransactAction::kPut, other_thing)}}),
      refused_transaction("a long token", {.items = {action(TransactAction::kPut, other_thing)},
                                           .client_request_token = std::string(37, 't')}),
      refused_transaction("an empty token", {.items = {action(TransactAction::kPut, other_thing)},
                                             .client_request_token = ""}),
      refused_transaction("a condition that does not hold", {.items = {failing}},
                          Code::kTransactionCanceled),
      {"a transaction of reads of nothing",
       [](Client& client) { return outcome(client.transact_get_items({})); }},
  });
}

}  // namespace
}  // namespace stator::test
