// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <thread>

#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/testing/engine_harness.h"

namespace stator {
namespace {

using test::comes_true;
using test::FailsWith;
using test::hash_table;
using test::index_on;
using test::IsOk;
using test::range_table;
using ::testing::ElementsAre;

class Tables : public test::EngineTest {};

CreateTableRequest table_with_everything() {
  CreateTableRequest request = range_table("Full");
  request.attributes.push_back({"place", ScalarType::kS});
  request.attributes.push_back({"digest", ScalarType::kB});
  request.local_indexes = {
      {index_on("ByDigest", {{"pk", KeyType::kHash}, {"digest", KeyType::kRange}},
                {.type = ProjectionType::kKeysOnly, .non_key_attributes = {}})}};
  request.global_indexes = {{index_on(
      "ByPlace", {{"place", KeyType::kHash}, {"digest", KeyType::kHash}, {"sk", KeyType::kRange}},
      {.type = ProjectionType::kInclude, .non_key_attributes = {"note"}})}};
  (*request.global_indexes)[0].on_demand_throughput = OnDemandThroughput{.max_read = 5};
  request.on_demand_throughput = OnDemandThroughput{.max_write = 7};
  request.table_class = TableClass::kStandardInfrequentAccess;
  request.deletion_protection = true;
  request.tags = {{"team", "rain"}};
  return request;
}

TableDefinition definition_with_everything() {
  return {.settings = table_with_everything(),
          .id = "an-id",
          .created_ms = 123,
          .space = 20,
          .local_spaces = {21},
          .global_spaces = {22}};
}

TEST(CatalogCodec, ReadsItsOwnOutput) {
  const TableDefinition definition = definition_with_everything();
  const auto decoded = decode_table(encode_table(definition));
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(encode_table(*decoded), encode_table(definition));
  EXPECT_EQ(decoded->settings.global_indexes, definition.settings.global_indexes);
  EXPECT_EQ(decoded->settings.local_indexes, definition.settings.local_indexes);
  EXPECT_EQ(decoded->settings.tags, definition.settings.tags);
  EXPECT_EQ(decoded->settings.table_class, definition.settings.table_class);
  EXPECT_EQ(decoded->global_spaces, definition.global_spaces);
}

TEST(CatalogCodec, RefusesDamagedBytes) {
  const TableDefinition definition = definition_with_everything();
  const std::string bytes = encode_table(definition);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode_table(bytes.substr(0, length))) << length;
  }
  EXPECT_THAT(decode_table(encode_item({{"Version", 3}})),
              FailsWith(Code::kCorruption, "version 3; this version of Stator reads 1 and 2"));
}

TEST_F(Tables, AreCreatingInTheResponseThenActiveAndDescribedAsRequested) {
  const CreateTableRequest request = table_with_everything();
  const auto created = engine_->create_table(request);
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ(created->table.status, TableStatus::kCreating);
  const auto described = engine_->describe_table({.table = "Full"});
  ASSERT_THAT(described, IsOk());
  const TableDescription& table = described->table;
  EXPECT_EQ(table.arn, "arn:aws:dynamodb:us-east-1:000000782867:table/Full");
  EXPECT_EQ(table.id, created->table.id);
  EXPECT_EQ(table.created_ms, clock_.unix_ms());
  EXPECT_EQ(table.attributes, request.attributes);
  EXPECT_EQ(table.key_schema, request.key_schema);
  ASSERT_EQ(table.global_indexes.size(), 1U);
  EXPECT_EQ(table.status, TableStatus::kActive);
  EXPECT_EQ(table.global_indexes[0].definition.key_schema, (*request.global_indexes)[0].key_schema);
  EXPECT_EQ(table.global_indexes[0].definition.projection, (*request.global_indexes)[0].projection);
  EXPECT_EQ(table.global_indexes[0].arn, table.arn + "/index/ByPlace");
  ASSERT_EQ(table.local_indexes.size(), 1U);
  EXPECT_EQ(table.billing_mode, BillingMode::kPayPerRequest);
  EXPECT_EQ(table.table_class, TableClass::kStandardInfrequentAccess);
  EXPECT_TRUE(table.deletion_protection);
}

TEST(CatalogSnapshot, FindsTablesByNameAndByArn) {
  CatalogSnapshot snapshot;
  const TablePtr* table = &snapshot.tables.emplace("Things", nullptr).first->second;
  EXPECT_EQ(snapshot.find("Things"), table);
  EXPECT_EQ(snapshot.find("arn:aws:dynamodb:us-east-1:000000782867:table/Things"), table);
  EXPECT_EQ(snapshot.find("arn:aws:dynamodb:us-east-1:000000782867:table/Other"), nullptr);
  EXPECT_EQ(snapshot.find("arn:Things"), nullptr);
}

TEST_F(Tables, UseEachNameOnce) {
  create(hash_table());
  EXPECT_THAT(engine_->create_table(hash_table()),
              FailsWith(Code::kResourceInUse, "Table already exists: Things"));
}

TEST_F(Tables, MissingOnesAreNamedByTheControlPlaneOnly) {
  const std::string named = "Requested resource not found: Table: Nope not found";
  EXPECT_THAT(engine_->describe_table({.table = "Nope"}),
              FailsWith(Code::kResourceNotFound, named));
  EXPECT_THAT(engine_->delete_table({.table = "Nope"}), FailsWith(Code::kResourceNotFound, named));
  const auto got =
      call_and_wait(*engine_, &Engine::get_item, {.table = "Nope", .key = {{"pk", "a"}}});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message, "Requested resource not found");
  EXPECT_THAT(put("Nope", {{"pk", "a"}}), FailsWith(Code::kResourceNotFound, "not found"));
}

TEST_F(Tables, AreListedInTheOrderOfTheirBytes) {
  for (const char* name : {"beta", "Zeta", "alpha.1", "alpha-1", "alpha"}) create(hash_table(name));
  const auto first = engine_->list_tables({.limit = 3});
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(first->tables, ElementsAre("Zeta", "alpha", "alpha-1"));
  EXPECT_EQ(first->last_evaluated_table, "alpha-1");
  const auto rest =
      engine_->list_tables({.limit = 3, .exclusive_start_table = first->last_evaluated_table});
  ASSERT_THAT(rest, IsOk());
  EXPECT_THAT(rest->tables, ElementsAre("alpha.1", "beta"));
  EXPECT_FALSE(rest->last_evaluated_table);
}

TEST_F(Tables, ProtectedOnesAreNotDeleted) {
  create(table_with_everything());
  EXPECT_THAT(engine_->delete_table({.table = "Full"}),
              FailsWith(Code::kValidation, "currently protected against deletion"));
  EXPECT_THAT(engine_->describe_table({.table = "Full"}), IsOk());
}

TEST_F(Tables, RecreatedUnderAnOldNameShowNothingOld) {
  for (int round = 0; round < 3; ++round) {
    create(hash_table());
    EXPECT_EQ(get("Things", {{"pk", "a"}}), std::nullopt) << round;
    EXPECT_TRUE(all_pages(ScanRequest{.table = "Things"}).empty()) << round;
    ASSERT_THAT(put("Things", {{"pk", "a"}}), IsOk());
    const auto deleted = engine_->delete_table({.table = "Things"});
    ASSERT_THAT(deleted, IsOk());
    EXPECT_EQ(deleted->table.status, TableStatus::kDeleting);
  }
}

// Counts the rows in spaces that tables can have.
std::size_t table_rows(TransactStore& store) {
  std::size_t rows = 0;
  EXPECT_THAT(read_range(store, {.range = {.begin = std::string("\0\0\0\x10", 4), .end = {}}},
                         [&](std::string_view, std::string_view) { return ++rows, true; }),
              IsOk());
  return rows;
}

TEST_F(Tables, RowsOfDroppedOnesAreErasedAlsoIfTheEngineStopsBefore) {
  open_directory();
  create(hash_table());
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(put("Things", {{"pk", std::to_string(i)}}), IsOk());
  }
  EXPECT_EQ(table_rows(engine_->store()), 100U);
  ASSERT_THAT(engine_->delete_table({.table = "Things"}), IsOk());
  // If this engine did not erase them, later ones do.
  for (int starts = 0; starts < 100 && table_rows(engine_->store()) > 0; ++starts) {
    open_directory();
    std::this_thread::yield();
  }
  EXPECT_TRUE(comes_true([&] { return table_rows(engine_->store()) == 0; }));
}

TEST_F(Tables, SurviveARestartWithTheirItemsAndCounts) {
  open_directory();
  CreateTableRequest request = table_with_everything();
  create(request);
  ASSERT_THAT(put("Full", {{"pk", "a"}, {"sk", 1}, {"place", "x"}, {"digest", Binary{"d"}}}),
              IsOk());
  ASSERT_THAT(put("Full", {{"pk", "a"}, {"sk", 2}}), IsOk());
  share_counts();
  const auto before = engine_->describe_table({.table = "Full"});
  ASSERT_THAT(before, IsOk());
  EXPECT_EQ(before->table.item_count, 2);
  EXPECT_EQ(before->table.global_indexes[0].item_count, 1);
  open_directory();
  const auto after = engine_->describe_table({.table = "Full"});
  ASSERT_THAT(after, IsOk());
  EXPECT_EQ(after->table.id, before->table.id);
  EXPECT_EQ(after->table.item_count, 2);
  EXPECT_EQ(after->table.size_bytes, before->table.size_bytes);
  EXPECT_GT(after->table.size_bytes, 0);
  EXPECT_EQ(after->table.local_indexes[0].item_count, 1);
  EXPECT_TRUE(get("Full", {{"pk", "a"}, {"sk", 2}}));
}

TEST_F(Tables, CountTheirItems) {
  create(hash_table());
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"v", "1234567"}}), IsOk());
  ASSERT_THAT(put("Things", {{"pk", "b"}}), IsOk());
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"v", "123"}}), IsOk());
  ASSERT_THAT(erase({.table = "Things", .key = {{"pk", "b"}}}), IsOk());
  share_counts();
  const auto described = engine_->describe_table({.table = "Things"});
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(described->table.item_count, 1);
  EXPECT_EQ(described->table.size_bytes, 7);  // pk, a, v, 123
}

TEST_F(Tables, AreCountedAgainAfterAStopThatSavedNoCounters) {
  open_directory();
  create(hash_table());
  for (int i = 0; i < 20; ++i) ASSERT_THAT(put("Things", {{"pk", std::to_string(i)}}), IsOk());
  const auto bytes = engine_->describe_table({.table = "Things"})->table.size_bytes;
  engine_.reset();
  {
    auto store = open_rocks_store({.path = directory_.path() / "data"});
    ASSERT_THAT(store, IsOk());
    std::string counters(kPartitionBytes, '\0');
    counters += 'c';
    ASSERT_THAT((*store)->drop_range({.begin = counters, .end = prefix_end(counters)}), IsOk());
  }
  open_directory();
  ASSERT_THAT(put("Things", {{"pk", "more"}}), IsOk());
  EXPECT_TRUE(comes_true(
      [&] { return engine_->describe_table({.table = "Things"})->table.item_count == 21; }));
  const auto described = engine_->describe_table({.table = "Things"});
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(described->table.item_count, 21);
  EXPECT_GT(described->table.size_bytes, bytes);
}

TEST_F(Tables, DroppedUnderWritersTakeNothingOverIntoTheirSuccessor) {
  for (int round = 0; round < 10; ++round) {
    create(hash_table());
    std::vector<std::jthread> writers;
    writers.reserve(4);
    std::atomic<int> failures{0};
    for (int thread = 0; thread < 4; ++thread) {
      writers.emplace_back([&, thread] {
        for (int i = 0; failures < 4 && i < 100'000; ++i) {
          const auto result = put("Things", {{"pk", std::to_string(thread * 1000 + i % 50)}});
          if (result) continue;
          EXPECT_THAT(result, FailsWith(Code::kResourceNotFound, ""));
          ++failures;
        }
      });
    }
    ASSERT_THAT(engine_->delete_table({.table = "Things"}), IsOk());
    writers.clear();
    create(hash_table());
    EXPECT_TRUE(all_pages(ScanRequest{.table = "Things"}).empty());
    ASSERT_THAT(engine_->delete_table({.table = "Things"}), IsOk());
  }
}

TEST_F(Tables, AStoreWithoutACatalogIsRefused) {
  auto store = make_memory_store();
  Batch batch;
  batch.put(std::string(20, 'x'), "someone else's");
  ASSERT_EQ(write_and_wait(*store, std::move(batch)).outcome, CommitOutcome::kCommitted);
  EXPECT_THAT(Engine::open(std::move(store)), FailsWith(Code::kCorruption, "no catalog header"));
}

}  // namespace
}  // namespace stator
