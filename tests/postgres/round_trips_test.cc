// SPDX-License-Identifier: Apache-2.0
// The round trips to PostgreSQL that operations take, compared with docs/cluster.md, and what a
// request returns if the reply to its only round trip is lost.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/database_on_store.h"
#include "engine/verify/verify.h"
#include "storage/postgres/postgres_fixture.h"
#include "support/must.h"
#include "support/paths.h"
#include "support/read_file.h"

namespace stator {
namespace {

using test::IsOk;
using test::must;
using test::PostgresProxy;
using Fate = PostgresProxy::Fate;

Item key_of(int number) {
  return {{"pk", "a"}, {"sk", number}};
}

Item item_of(int number, int version = 0) {
  Item item = key_of(number);
  item.emplace("version", version);
  item.emplace("vector", List{number});
  return item;
}

class RoundTrips : public testing::Test {
 protected:
  void SetUp() override {
    test::postgres_dsn();
    if (test::own_postgres() == nullptr) GTEST_SKIP() << "the proxy needs the server's socket";
    schema_.emplace();
    proxy_.emplace(test::own_postgres()->socket(),
                   [this](PostgresProxy::CommitPipeline commit) { return fate_of(commit); });
    database_.emplace(
        must(open_database_on(test::PostgresSchema::open(schema_->options(*proxy_)))));
    rival_.emplace(must(open_database_on(schema_->open())));
    create(table("Plain"));
    CreateTableRequest streamed = table("Streamed");
    streamed.stream = {.enabled = true, .view = StreamViewType::kKeysOnly};
    create(streamed);
    CreateTableRequest indexed = table("Indexed");
    indexed.attributes.push_back({"version", ScalarType::kN});
    indexed.global_indexes = {
        {.name = "ByVersion", .key_schema = {{"version", KeyType::kHash}}, .projection = {}}};
    create(indexed);
    CreateTableRequest local = table("Local");
    local.attributes.push_back({"version", ScalarType::kN});
    local.local_indexes = {{.name = "ByVersion",
                            .key_schema = {{"pk", KeyType::kHash}, {"version", KeyType::kRange}},
                            .projection = {.type = ProjectionType::kKeysOnly}}};
    create(local);
    CreateTableRequest vectors = table("Vectors");
    vectors.vector_indexes = {
        {.name = "Near", .vector_attribute = "vector", .projection = {}, .dimensions = 1}};
    create(vectors);
    create(table("Long"));
    for (int i = kItems; i < kItemsOfLong; ++i) {
      ASSERT_THAT(database_->put_item({.table = "Long", .item = item_of(i)}), IsOk());
    }
  }
  void TearDown() override {
    rival_.reset();
    database_.reset();
  }

  static CreateTableRequest table(std::string name) {
    return {.table = std::move(name),
            .attributes = {{"pk", ScalarType::kS}, {"sk", ScalarType::kN}},
            .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}},
            .billing_mode = BillingMode::kPayPerRequest};
  }
  void create(const CreateTableRequest& request) {
    ASSERT_THAT(database_->create_table(request), IsOk());
    for (int i = 0; i < kItems; ++i) {
      ASSERT_THAT(database_->put_item({.table = request.table, .item = item_of(i)}), IsOk());
    }
  }

  // An iterator of the first shard.
  std::string iterator_of(const std::string& table) {
    const std::string arn = must(database_->list_streams({.table = table})).streams.at(0).arn;
    const Shard shard = must(database_->describe_stream({.stream = arn})).stream.shards.at(0);
    return must(database_->get_shard_iterator({.stream = arn, .shard = shard.id})).iterator;
  }

  // `request` has a number that it can write, since nothing is written if an item stays the same.
  template <class Request>
  uint64_t trips_of(Request request) {
    return proxy_->fewest_round_trips(
        [&] { EXPECT_THAT(request(*database_, ++requests_), IsOk()); });
  }
  // Adds a row to the table.
  template <class Request>
  void measure(const std::string& operation, Request request) {
    table_ += "| " + operation + " | " + std::to_string(trips_of(request)) + " |\n";
  }

  static constexpr int kItems = 20;
  static constexpr int kItemsOfLong = 300;

  std::optional<test::PostgresSchema> schema_;
  std::optional<PostgresProxy> proxy_;
  std::atomic<bool> loses_reply_ = false;
  std::atomic<int> conflicts_ = 0;  // of the next commits, because of a write of item 1
  std::atomic<int> locked_commits_ = 0;
  std::optional<Database> database_;
  std::optional<Database> rival_;  // another process, without the proxy
  int requests_ = 0;
  std::string table_ = "| operation | round trips |\n| --- | --- |\n";

 private:
  Fate fate_of(PostgresProxy::CommitPipeline commit) {
    locked_commits_ += commit.is_locked ? 1 : 0;
    if (!commit.is_locked && conflicts_ > 0) {
      EXPECT_THAT(rival_->put_item({.table = "Plain", .item = item_of(1, -conflicts_--)}), IsOk());
    }
    return loses_reply_.exchange(false) ? Fate::kLoseReply : Fate::kPass;
  }
};

TransactWriteItemsRequest four_puts(int version) {
  TransactWriteItemsRequest request;
  for (int i = 0; i < 4; ++i)
    request.items.push_back({.table = "Plain", .item = item_of(i, version)});
  return request;
}

TEST_F(RoundTrips, AreThoseOfTheDocumentation) {
  measure("`GetItem`", [](Database& database, int) {
    return database.get_item({.table = "Plain", .key = key_of(1)});
  });
  measure("`BatchGetItem`", [](Database& database, int) {
    return database.batch_get_item({.items = {{"Plain", {.keys = {key_of(1), key_of(2)}}},
                                              {"Streamed", {.keys = {key_of(3)}}}}});
  });
  measure("`TransactGetItems`", [](Database& database, int) {
    return database.transact_get_items(
        {.items = {{.table = "Plain", .key = key_of(1)}, {.table = "Streamed", .key = key_of(2)}}});
  });
  measure("`Query` of up to 32 items", [](Database& database, int) {
    return database.query(
        {.table = "Plain", .key_condition = "pk = :pk", .values = Values{{":pk", "a"}}});
  });
  measure("`Query` of 300 items after others", [](Database& database, int) {
    return database.query(
        {.table = "Long", .key_condition = "pk = :pk", .values = Values{{":pk", "a"}}});
  });
  measure("`Query` of fewer than 32 items of which a local index lacks attributes",
          [](Database& database, int) {
            return database.query({.table = "Local",
                                   .index = "ByVersion",
                                   .key_condition = "pk = :pk",
                                   .values = Values{{":pk", "a"}},
                                   .select = Select::kAllAttributes});
          });
  measure("`Scan` of up to 32 items",
          [](Database& database, int) { return database.scan({.table = "Plain"}); });
  measure("`SearchVectors` in an index of up to 32 vectors", [](Database& database, int) {
    return database.search_vectors(
        {.table = "Vectors", .index = "Near", .vector = {1}, .top_k = kItems});
  });
  const std::string iterator = iterator_of("Streamed");
  measure("`GetRecords` of up to 32 records",
          [&](Database& database, int) { return database.get_records({.iterator = iterator}); });
  measure("`PutItem`", [](Database& database, int number) {
    return database.put_item({.table = "Plain", .item = item_of(1, number)});
  });
  measure("`TransactWriteItems`", [](Database& database, int number) {
    return database.transact_write_items(four_puts(number));
  });
  measure("`PutItem` that returns the old item", [](Database& database, int number) {
    return database.put_item(
        {.table = "Plain", .item = item_of(1, number), .return_values = ReturnValues::kAllOld});
  });
  measure("`PutItem` with a condition", [](Database& database, int number) {
    return database.put_item(
        {.table = "Plain", .item = item_of(1, number), .condition = "attribute_exists(pk)"});
  });
  measure("`PutItem` into a table with a stream", [](Database& database, int number) {
    return database.put_item({.table = "Streamed", .item = item_of(1, number)});
  });
  measure("`PutItem` into a table with a global index", [](Database& database, int number) {
    return database.put_item({.table = "Indexed", .item = item_of(1, number)});
  });
  measure("`DeleteItem`", [](Database& database, int number) {
    return database.delete_item({.table = "Plain", .key = key_of(4 + number % (kItems - 4))});
  });
  const auto update = [](Database& database, const std::string& table) {
    return database.update_item({.table = table,
                                 .key = key_of(1),
                                 .update = "ADD version :one",
                                 .values = Values{{":one", 1}}});
  };
  measure("`UpdateItem`", [&](Database& database, int) { return update(database, "Plain"); });
  measure("`UpdateItem` in a table with a global index",
          [&](Database& database, int) { return update(database, "Indexed"); });
  measure("`TransactWriteItems` with conditions", [](Database& database, int number) {
    TransactWriteItemsRequest request = four_puts(number);
    for (TransactWriteItem& item : request.items) item.condition = "attribute_exists(pk)";
    return database.transact_write_items(request);
  });
  measure("`TransactWriteItems` with a token", [](Database& database, int number) {
    TransactWriteItemsRequest request = four_puts(number);
    request.client_request_token = std::to_string(number);
    return database.transact_write_items(request);
  });
  measure("`UpdateItem` with two conflicts", [&](Database& database, int) {
    conflicts_ = 2;
    return update(database, "Plain");
  });
  EXPECT_GT(locked_commits_, 0);

  const std::string page = test::read_file(test::source_path("docs/cluster.md"));
  EXPECT_NE(page.find("\n\n" + table_ + "\n"), std::string::npos)
      << "docs/cluster.md has other figures than were measured:\n"
      << table_;
}

TEST_F(RoundTrips, OfABatchAreFewerThanItsWrites) {
  constexpr int kPuts = 25;
  const auto put_all = [](Database& database, int number) {
    BatchWriteItemRequest request;
    for (int i = 0; i < kPuts; ++i) {
      request.items["Plain"].push_back({.put = item_of(i, number)});
    }
    return database.batch_write_item(request);
  };
  EXPECT_LT(trips_of(put_all), kPuts / 2);
}

TEST_F(RoundTrips, OfVerifyAreFewerThanTheTokens) {
  constexpr uint64_t kTokens = 200;
  for (uint64_t i = 0; i < kTokens; ++i) {
    TransactWriteItemsRequest request = four_puts(0);
    request.client_request_token = std::to_string(i);
    ASSERT_THAT(rival_->transact_write_items(request), IsOk());
  }
  const auto store = test::PostgresSchema::open(schema_->options(*proxy_));
  const auto verify_all = [&] {
    const VerifyReport report = verify(*store, [](std::string_view, uint64_t, uint64_t) {});
    EXPECT_TRUE(report.is_sound());
    EXPECT_EQ(report.tokens, kTokens);
  };
  EXPECT_LT(proxy_->fewest_round_trips(verify_all), kTokens);
}

TEST_F(RoundTrips, ALostReplyLosesNoOldItem) {
  loses_reply_ = true;
  const auto replaced = database_->put_item(
      {.table = "Plain", .item = key_of(1), .return_values = ReturnValues::kAllOld});
  ASSERT_THAT(replaced, IsOk());
  EXPECT_FALSE(loses_reply_);
  EXPECT_EQ(replaced->attributes, item_of(1));

  loses_reply_ = true;
  ASSERT_THAT(database_->put_item({.table = "Plain", .item = item_of(2)}), IsOk());
  EXPECT_FALSE(loses_reply_);
  const auto deleted = database_->delete_item(
      {.table = "Plain", .key = key_of(2), .return_values = ReturnValues::kAllOld});
  ASSERT_THAT(deleted, IsOk());
  EXPECT_EQ(deleted->attributes, item_of(2));
}

}  // namespace
}  // namespace stator
