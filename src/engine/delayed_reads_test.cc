// SPDX-License-Identifier: Apache-2.0
// Operations on a shared store whose reads are delayed: none blocks its caller.
#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <future>
#include <thread>

#include "api/wire/wire.h"
#include "engine/streams/streams_harness.h"
#include "support/gated_store.h"
#include "support/must.h"
#include "support/shared_store.h"

namespace stator::test {
namespace {

using Respond = std::function<void(std::string json)>;
// Starts an operation on a table.
using Start = std::function<void(Engine&, const std::string& table, Respond respond)>;

struct Operation {
  std::string name;
  Start start;
};

// `make` returns the request for a table. The request lives until the response.
template <class T, class Request>
Operation operation_of(std::string name, void (Engine::*method)(const Request&, Done<T>),
                       std::function<std::type_identity_t<Request>(const std::string&)> make) {
  return {.name = std::move(name),
          .start = [method, make = std::move(make)](Engine& engine, const std::string& table,
                                                    Respond respond) {
            auto kept = std::make_unique<const Request>(make(table));
            const Request& request = *kept;
            (engine.*method)(request, [kept = std::move(kept),
                                       respond = std::move(respond)](const Result<T>& result) {
              respond(result ? wire::to_json(*result) : wire::error_to_json(result.error()));
            });
          }};
}

const Item kKey = {{"pk", "a"}, {"sk", 1}};
constexpr std::string_view kWhereKey = " WHERE pk = 'a' AND sk = 1";

std::vector<Operation> reads() {
  using Name = const std::string&;
  return {
      operation_of("GetItem", &Engine::get_item,
                   [](Name table) -> GetItemRequest {
                     return {.table = table, .key = kKey, .projection = "n"};
                   }),
      operation_of(
          "BatchGetItem", &Engine::batch_get_item,
          [](Name table) -> BatchGetItemRequest { return {.items = {{table, {.keys = {kKey}}}}}; }),
      operation_of("TransactGetItems", &Engine::transact_get_items,
                   [](Name table) -> TransactGetItemsRequest {
                     return {.items = {{.table = table, .key = kKey}}};
                   }),
      operation_of("Query", &Engine::query,
                   [](Name table) -> QueryRequest {
                     return {.table = table,
                             .key_condition = "pk = :p",
                             .values = Values{{":p", "a"}},
                             .limit = 2};
                   }),
      operation_of("QueryOfALocalIndex", &Engine::query,
                   [](Name table) -> QueryRequest {
                     return {.table = table,
                             .index = "byN",
                             .key_condition = "pk = :p",
                             .values = Values{{":p", "a"}},
                             .select = Select::kAllAttributes};
                   }),
      operation_of("Scan", &Engine::scan,
                   [](Name table) -> ScanRequest { return {.table = table}; }),
      operation_of("ExecuteStatement", &Engine::execute_statement,
                   [](Name table) -> ExecuteStatementRequest {
                     return {.statement = "SELECT * FROM " + table + " WHERE pk = 'a'"};
                   }),
      operation_of(
          "BatchExecuteStatement", &Engine::batch_execute_statement,
          [](Name table) -> BatchExecuteStatementRequest {
            return {.statements = {
                        {.statement = "SELECT * FROM " + table + std::string(kWhereKey)},
                        {.statement = "SELECT n FROM " + table + " WHERE pk = 'a' AND sk = 2"}}};
          }),
      operation_of("ExecuteTransaction", &Engine::execute_transaction,
                   [](Name table) -> ExecuteTransactionRequest {
                     return {.statements = {
                                 {.statement = "SELECT * FROM " + table + std::string(kWhereKey)}}};
                   }),
  };
}

std::vector<Operation> writes() {
  using Name = const std::string&;
  const Item item = {{"pk", "w"}, {"sk", 1}};
  return {
      operation_of("PutItem", &Engine::put_item,
                   [=](Name table) -> PutItemRequest { return {.table = table, .item = item}; }),
      operation_of("UpdateItem", &Engine::update_item,
                   [=](Name table) -> UpdateItemRequest { return {.table = table, .key = item}; }),
      operation_of("DeleteItem", &Engine::delete_item,
                   [=](Name table) -> DeleteItemRequest { return {.table = table, .key = item}; }),
      operation_of("BatchWriteItem", &Engine::batch_write_item,
                   [=](Name table) -> BatchWriteItemRequest {
                     return {.items = {{table, {{.put = item}}}}};
                   }),
      operation_of("TransactWriteItems", &Engine::transact_write_items,
                   [=](Name table) -> TransactWriteItemsRequest {
                     return {
                         .items = {{.action = TransactAction::kPut, .table = table, .item = item}}};
                   }),
      operation_of("Insert", &Engine::execute_statement,
                   [](Name table) -> ExecuteStatementRequest {
                     return {.statement = "INSERT INTO " + table + " VALUE {'pk': 'i', 'sk': 1}"};
                   }),
      operation_of("BatchInsert", &Engine::batch_execute_statement,
                   [](Name table) -> BatchExecuteStatementRequest {
                     return {.statements = {{.statement = "INSERT INTO " + table +
                                                          " VALUE {'pk': 'i', 'sk': 2}"}}};
                   }),
      operation_of("TransactInsert", &Engine::execute_transaction,
                   [](Name table) -> ExecuteTransactionRequest {
                     return {.statements = {{.statement = "INSERT INTO " + table +
                                                          " VALUE {'pk': 'i', 'sk': 3}"}}};
                   }),
  };
}

constexpr uint32_t kDelaySeed = 30;

class DelayedReads : public StreamsTest {
 protected:
  DelayedReads() {
    open(std::make_unique<GatedStore>(std::make_shared<SharedStore>(backend_, kDelaySeed), gate_));
    create_table("Things");
    for (int i = 0; i < 3; ++i) {
      EXPECT_THAT(put("Things", {{"pk", "a"}, {"sk", i}, {"n", 10 - i}}), IsOk());
    }
  }
  ~DelayedReads() override {
    gate_.open();
    engine_.reset();
  }

  void create_table(const std::string& name) { create_on(*engine_, name); }
  static void create_on(Engine& engine, const std::string& name) {
    CreateTableRequest request = range_table(name);
    request.attributes.push_back({"n", ScalarType::kN});
    request.local_indexes = {index_on("byN", {{"pk", KeyType::kHash}, {"n", KeyType::kRange}},
                                      {.type = ProjectionType::kKeysOnly})};
    ASSERT_THAT(engine.create_table(with_stream(std::move(request))), IsOk());
  }
  Operation records_of(const std::string& table) {
    const std::string stream = stream_of(table);
    const std::string begin = iterator(stream, shards(stream).at(0).id);
    return operation_of(
        "GetRecords", &Engine::get_records,
        [begin](const std::string&) -> GetRecordsRequest { return {.iterator = begin}; });
  }
  std::string respond_to(const Operation& operation, const std::string& table) {
    std::promise<std::string> response;
    operation.start(*engine_, table,
                    [&](std::string json) { response.set_value(std::move(json)); });
    return response.get_future().get();
  }

  // Starts an operation while the gate is closed. It must return, and respond once the gate is
  // open.
  void expect_no_wait(const Operation& operation, const std::string& table,
                      testing::Matcher<const std::string&> expected) {
    SCOPED_TRACE(operation.name);
    std::atomic<bool> returned = false;
    std::atomic<bool> responded = false;
    std::string response;
    gate_.close();
    std::jthread caller([&] {
      operation.start(*engine_, table, [&](std::string json) {
        response = std::move(json);
        responded = true;
      });
      returned = true;
    });
    EXPECT_TRUE(comes_true([&] { return gate_.waiting() > 0; })) << "did not reach the store";
    EXPECT_TRUE(comes_true([&] { return returned.load(); })) << "blocks its caller";
    EXPECT_FALSE(responded);
    gate_.open();
    ASSERT_TRUE(comes_true([&] { return responded.load(); }));
    EXPECT_THAT(response, expected);
  }

  SharedBackend backend_{kDelaySeed};
  Gate gate_;
};

TEST_F(DelayedReads, DoNotBlockTheirCaller) {
  std::vector<Operation> operations = reads();
  operations.push_back(records_of("Things"));
  for (const Operation& operation : operations) {
    const std::string expected = respond_to(operation, "Things");
    ASSERT_THAT(expected, testing::Not(testing::HasSubstr("__type"))) << operation.name;
    expect_no_wait(operation, "Things", testing::Eq(expected));
  }
}

TEST_F(DelayedReads, OfTheCatalogDoNotBlockTheCallerOfAnyOperation) {
  auto others = must(Engine::open(std::make_unique<SharedStore>(backend_, kDelaySeed + 1),
                                  {.clock = &clock_, .sweep_interval = {}}));
  std::vector<Operation> operations = reads();
  for (Operation& operation : writes()) operations.push_back(std::move(operation));
  for (const Operation& operation : operations) {
    create_on(*others, "New" + operation.name);
    expect_no_wait(operation, "New" + operation.name,
                   testing::Not(testing::HasSubstr("ResourceNotFound")));
  }
}

TEST_F(DelayedReads, OfATableThatOthersCreatedAgainFindTheNewOne) {
  auto others = must(Engine::open(std::make_unique<SharedStore>(backend_, kDelaySeed + 1),
                                  {.clock = &clock_, .sweep_interval = {}}));
  int n = 90;
  for (const Operation& operation : reads()) {
    ASSERT_THAT(others->delete_table({.table = "Things"}), IsOk());
    create_on(*others, "Things");
    const Item item = {{"pk", "a"}, {"sk", 1}, {"n", ++n}};
    ASSERT_THAT(call_and_wait(*others, &Engine::put_item, {.table = "Things", .item = item}),
                IsOk());
    expect_no_wait(operation, "Things", testing::HasSubstr("\"N\":\"" + std::to_string(n) + '"'));
  }
}

TEST_F(DelayedReads, EndBeforeTheEngineDoes) {
  std::vector<Operation> operations = reads();
  operations.push_back(records_of("Things"));
  std::atomic<std::size_t> responses = 0;
  gate_.close();
  for (const Operation& operation : operations) {
    operation.start(*engine_, "Things", [&](const std::string&) { ++responses; });
  }
  ASSERT_TRUE(comes_true([&] { return gate_.waiting() >= operations.size(); }));
  std::atomic<bool> has_ended = false;
  std::size_t responses_at_the_end = 0;
  std::jthread ending([&] {
    engine_.reset();
    responses_at_the_end = responses;
    has_ended = true;
  });
  for (int i = 0; i < 10'000 && !has_ended; ++i) std::this_thread::yield();
  EXPECT_FALSE(has_ended);
  EXPECT_EQ(responses, 0U);
  gate_.open();
  ending.join();
  EXPECT_EQ(responses_at_the_end, operations.size());
}

// A store of one process completes reads within the call.
TEST_F(EngineTest, ReadsOfALocalStoreRespondWithinTheCall) {
  CreateTableRequest request = range_table();
  request.attributes.push_back({"n", ScalarType::kN});
  request.local_indexes = {index_on("byN", {{"pk", KeyType::kHash}, {"n", KeyType::kRange}},
                                    {.type = ProjectionType::kKeysOnly})};
  create(request);
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"sk", 1}, {"n", 2}}), IsOk());
  for (const Operation& operation : reads()) {
    std::string response;
    operation.start(*engine_, "Things", [&](std::string json) { response = std::move(json); });
    EXPECT_THAT(response, testing::HasSubstr("\"N\":\"2\"")) << operation.name;
  }
}

}  // namespace
}  // namespace stator::test
