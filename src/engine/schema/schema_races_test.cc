// SPDX-License-Identifier: Apache-2.0
// Two engines on one store, like two processes: one writes while the other changes tables.
#include <map>
#include <random>
#include <thread>

#include "engine/admin/administration.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/raise_format.h"
#include "engine/catalog/records.h"
#include "engine/jobs/job_engine.h"
#include "engine/testing/engine_harness.h"
#include "engine/verify/verify.h"
#include "support/forwarding_store.h"
#include "support/from_environment.h"
#include "support/must.h"

namespace stator::test {
namespace {

UpdateTableRequest with_index(const std::string& name, ScalarType type = ScalarType::kS) {
  return {.table = "Things",
          .attributes = {{{"color", type}}},
          .global_indexes = {{{.create = index_on(name, {{"color", KeyType::kHash}})}}}};
}
UpdateTableRequest without_index(const std::string& name) {
  return {.table = "Things", .global_indexes = {{{.remove = name}}}};
}

// A store that claims to be shared. Memory and RocksDB keep exact schema versions for both engines,
// because both use one store object.
class SharedByTwo final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  StoreCapabilities capabilities() const override {
    StoreCapabilities capabilities = inner_->capabilities();
    capabilities.several_processes = true;
    return capabilities;
  }
};

// Parameter: whether the store is on disk. engine_ knows only the catalog that it has read; others_
// changes tables.
class SchemaRaces : public EngineTest, public ::testing::WithParamInterface<bool> {
 protected:
  SchemaRaces() {
    if (GetParam()) {
      auto opened =
          open_rocks_store({.path = directory_.path() / "data", .durability = Durability::kOs});
      inner_ = must(std::move(opened));
    }
    open(std::make_unique<SharedByTwo>(inner_));
    others_ = must(Engine::open(std::make_unique<SharedByTwo>(inner_),
                                {.clock = &clock_, .sweep_interval = {}}));
  }
  ~SchemaRaces() override {
    engine_.reset();
    others_.reset();
  }

  void change(const UpdateTableRequest& request) {
    ASSERT_THAT(others_->update_table(request), IsOk());
    ASSERT_TRUE(comes_true([&] {
      const auto described = others_->describe_table({.table = "Things"});
      return described && described->table.status == TableStatus::kActive &&
             std::ranges::all_of(described->table.global_indexes, [](const IndexDescription& at) {
               return at.status == TableStatus::kActive;
             });
    }));
  }
  // The keys of items or index entries, as the other process reads them.
  std::multiset<std::string> keys(const std::optional<std::string>& index = {}) {
    std::multiset<std::string> found;
    ScanRequest request{.table = "Things", .index = index};
    do {
      const auto page = must(call_and_wait(*others_, &Engine::scan, request));
      for (const Item& item : items_of(page)) found.insert(to_debug_string(item));
      request.exclusive_start_key = page.last_evaluated_key;
    } while (request.exclusive_start_key);
    return found;
  }
  std::map<std::string, std::string> rows() {
    std::map<std::string, std::string> rows;
    EXPECT_THAT(read_range(*inner_, {},
                           [&](std::string_view key, std::string_view value) {
                             return rows.emplace(key, value).second;
                           }),
                IsOk());
    return rows;
  }
  // Undoes what a newer version did to the header.
  void set_current_format() {
    const std::string key = catalog_row_key(CatalogRow::kHeader);
    std::string header;
    append_big_endian(header, kCatalogFormat);
    header += rows().at(key).substr(header.size());
    Batch batch;
    batch.put(key, header);
    ASSERT_EQ(write_and_wait(*inner_, std::move(batch)).outcome, CommitOutcome::kCommitted);
  }
  // Removes the counters, which do not work with two engines, and verifies the store.
  void expect_sound() {
    engine_.reset();
    others_.reset();
    const std::string counters = catalog_row_key(CatalogRow::kCounters);
    ASSERT_THAT(inner_->drop_range({.begin = counters, .end = prefix_end(counters)}), IsOk());
    const VerifyReport report = verify(*inner_, [](std::string_view, uint64_t, uint64_t) {});
    for (const Finding& finding : report.findings) ADD_FAILURE() << finding.message;
  }

  std::shared_ptr<TransactStore> inner_ = make_memory_store();
  std::unique_ptr<Engine> others_;
};

TEST_P(SchemaRaces, EveryKindOfWriteMaintainsAnIndexThatOthersBuilt) {
  create(hash_table());
  ASSERT_THAT(put("Things", {{"pk", "updated"}}), IsOk());
  ASSERT_THAT(put("Things", {{"pk", "deleted"}, {"color", "red"}}), IsOk());
  ASSERT_THAT(others_->parts().catalog->refresh(), IsOk());
  const std::vector<std::function<void()>> writes = {
      [&] { ASSERT_THAT(put("Things", {{"pk", "put"}, {"color", "red"}}), IsOk()); },
      [&] {
        ASSERT_THAT(update({.table = "Things",
                            .key = {{"pk", "updated"}},
                            .update = "SET color = :red",
                            .values = Values{{":red", "red"}}}),
                    IsOk());
      },
      [&] { ASSERT_THAT(erase({.table = "Things", .key = {{"pk", "deleted"}}}), IsOk()); },
      [&] {
        ASSERT_THAT(batch_write({.items = {{"Things",
                                            {{.put = Item{{"pk", "batch"}, {"color", "red"}}}}}}}),
                    IsOk());
      },
      [&] {
        ASSERT_THAT(transact({.items = {{.action = TransactAction::kPut,
                                         .table = "Things",
                                         .item = {{"pk", "transaction"}, {"color", "red"}}}},
                              .client_request_token = "token"}),
                    IsOk());
      },
      [&] {
        ASSERT_THAT(call_and_wait(*engine_, &Engine::execute_statement,
                                  {.statement = "INSERT INTO Things VALUE {'pk': 'statement', "
                                                "'color': 'red'}"}),
                    IsOk());
      }};
  std::string last;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    SCOPED_TRACE(i);
    if (!last.empty()) change(without_index(last));
    last = "byColor" + std::to_string(i);
    change(with_index(last));
    writes[i]();
    const TablePtr* table = engine_->parts().catalog->snapshot()->find("Things");
    EXPECT_NE((*table)->index(last), nullptr) << "it wrote by the definition before";
  }
  EXPECT_EQ(keys(last).size(), 5U);
  expect_sound();
}

TEST_P(SchemaRaces, WritesAreCheckedByTheNewDefinition) {
  create(hash_table());
  ASSERT_THAT(others_->parts().catalog->refresh(), IsOk());
  change(with_index("byColor"));
  EXPECT_THAT(put("Things", {{"pk", "a"}, {"color", 5}}),
              FailsWith(Code::kValidation, "Type mismatch for Index Key"));
  change(without_index("byColor"));
  change(with_index("byColor", ScalarType::kN));
  EXPECT_THAT(transact({.items = {{.action = TransactAction::kPut,
                                   .table = "Things",
                                   .item = {{"pk", "a"}, {"color", "red"}}}}}),
              FailsWith(Code::kTransactionCanceled, "[ValidationError]"));
  EXPECT_EQ(keys().size(), 0U);
}

TEST_P(SchemaRaces, EmptyKeysOfANewDefinitionRejectATransactionAsAWhole) {
  create(hash_table());
  ASSERT_THAT(others_->parts().catalog->refresh(), IsOk());
  change(with_index("byColor"));
  TransactWriteItemsRequest request{.items = {}};
  for (const AttributeValue& color : {AttributeValue(5), AttributeValue("")}) {
    request.items.push_back(
        {.action = TransactAction::kPut,
         .table = "Things",
         .item = {{"pk", color == AttributeValue("") ? "b" : "a"}, {"color", color}}});
  }
  EXPECT_THAT(transact(request),
              FailsWith(Code::kValidation, "IndexName: byColor, IndexKey: color"));
  EXPECT_EQ(keys().size(), 0U);
}

TEST_P(SchemaRaces, NothingIsWrittenIntoATableThatOthersDropped) {
  create(hash_table());
  ASSERT_THAT(put("Things", {{"pk", "a"}}), IsOk());
  ASSERT_THAT(others_->delete_table({.table = "Things"}), IsOk());
  EXPECT_THAT(put("Things", {{"pk", "b"}}), FailsWith(Code::kResourceNotFound, ""));
  ASSERT_TRUE(comes_true([&] { return others_->stats().jobs == 0; }));
  expect_sound();
}

// A request applies to the table that has the name when the request arrives.
TEST_P(SchemaRaces, ATableThatOthersCreatedAgainIsWrittenAndRead) {
  create(hash_table());
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"sk", 1}}), IsOk());
  ASSERT_THAT(others_->delete_table({.table = "Things"}), IsOk());
  ASSERT_THAT(others_->create_table(range_table()), IsOk());
  EXPECT_EQ(get("Things", {{"pk", "a"}, {"sk", 1}}), std::nullopt);
  for (const bool in_transaction : {false, true}) {
    ASSERT_THAT(others_->delete_table({.table = "Things"}), IsOk());
    ASSERT_THAT(others_->create_table(in_transaction ? hash_table() : range_table()), IsOk());
    const Item item{{"pk", "b"}, {"sk", 2}};
    if (in_transaction) {
      EXPECT_THAT(
          transact({.items = {{.action = TransactAction::kPut, .table = "Things", .item = item}}}),
          IsOk());
    } else {
      EXPECT_THAT(put("Things", item), IsOk());
    }
    EXPECT_EQ(keys(), (std::multiset<std::string>{to_debug_string(item)}));
  }
  ASSERT_THAT(others_->delete_table({.table = "Things"}), IsOk());
  ASSERT_THAT(others_->create_table(hash_table()), IsOk());
  const PutItemRequest theirs{.table = "Things", .item = {{"pk", "c"}}};
  ASSERT_THAT(call_and_wait(*others_, &Engine::put_item, theirs), IsOk());
  EXPECT_THAT(transact({.items = {{.action = TransactAction::kPut,
                                   .table = "Things",
                                   .item = {{"pk", "c"}},
                                   .condition = "attribute_not_exists(pk)"}}}),
              FailsWith(Code::kTransactionCanceled, "[ConditionalCheckFailed]"));
  ASSERT_TRUE(comes_true([&] { return others_->stats().jobs == 0; }));
  expect_sound();
}

// The table that others_ created has no sort key.
TEST_P(SchemaRaces, ATransactionWhoseItemsAreOneByANewDefinitionIsRejected) {
  create(range_table());
  ASSERT_THAT(others_->delete_table({.table = "Things"}), IsOk());
  ASSERT_THAT(others_->create_table(hash_table()), IsOk());
  TransactWriteItemsRequest request{.items = {}};
  for (const int64_t sk : {1, 2}) {
    request.items.push_back(
        {.action = TransactAction::kPut, .table = "Things", .item = {{"pk", "a"}, {"sk", sk}}});
  }
  EXPECT_THAT(transact(request),
              FailsWith(Code::kValidation, "cannot include multiple operations on one item"));
  EXPECT_EQ(keys().size(), 0U);
}

TEST_P(SchemaRaces, ABatchThatANewDefinitionRejectsWritesNothing) {
  create(hash_table("First"));
  create(hash_table("Second"));
  ASSERT_THAT(others_->delete_table({.table = "Second"}), IsOk());
  ASSERT_THAT(others_->create_table(range_table("Second")), IsOk());
  EXPECT_THAT(batch_write({.items = {{"First", {{.put = Item{{"pk", "a"}}}}},
                                     {"Second", {{.put = Item{{"pk", "a"}}}}}}}),
              FailsWith(Code::kValidation, ""));
  EXPECT_EQ(get("First", {{"pk", "a"}}), std::nullopt);
}

TEST_P(SchemaRaces, AnIndexIsBuiltInTheMiddleOfWritesOfAnotherProcess) {
  const auto seed =
      static_cast<uint32_t>(number_from_environment("STATOR_SEED", std::random_device{}()));
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  create(hash_table());
  for (int i = 0; i < 200; ++i) {
    ASSERT_THAT(put("Things", {{"pk", std::to_string(i)}, {"color", "red"}}), IsOk());
  }
  ASSERT_THAT(others_->parts().catalog->refresh(), IsOk());
  std::atomic<bool> stop = false;
  std::vector<std::jthread> writers;
  for (uint32_t writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      std::mt19937 random(seed + writer);
      while (!stop) {
        const std::string pk = std::to_string(random() % 300);
        const std::string color = "color" + std::to_string(random() % 5);
        const unsigned kind = static_cast<unsigned>(random() % 4);
        if (kind == 0) {
          EXPECT_THAT(erase({.table = "Things", .key = {{"pk", pk}}}), IsOk());
        } else if (kind == 1) {
          const auto written = transact({.items = {{.action = TransactAction::kPut,
                                                    .table = "Things",
                                                    .item = {{"pk", pk}, {"color", color}}}}});
          EXPECT_THAT(written, IsOk());
        } else {
          EXPECT_THAT(put("Things", {{"pk", pk}, {"color", color}}), IsOk());
        }
      }
    });
  }
  std::string last;
  for (int round = 0; round < 4; ++round) {
    if (!last.empty()) change(without_index(last));
    last = "byColor" + std::to_string(round);
    change(with_index(last));
  }
  change({.table = "Things",
          .stream = StreamSpecification{.enabled = true, .view = StreamViewType::kNewImage}});
  std::this_thread::yield();
  change({.table = "Things", .stream = StreamSpecification{.enabled = false}});
  stop = true;
  writers.clear();
  EXPECT_EQ(keys(last), keys());
  expect_sound();
}

TEST_P(SchemaRaces, TablesAreDroppedInTheMiddleOfWritesOfAnotherProcess) {
  create(hash_table());
  std::atomic<bool> stop = false;
  std::atomic<int> refused = 0;
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      for (int n = 0; !stop; ++n) {
        const auto written = put("Things", {{"pk", std::to_string(writer * 1'000'000 + n)}});
        if (!written) {
          EXPECT_EQ(written.error().code, Code::kResourceNotFound) << written.error().message;
          ++refused;
        }
      }
    });
  }
  ASSERT_THAT(others_->parts().catalog->refresh(), IsOk());
  for (int round = 0; round < 10; ++round) {
    ASSERT_THAT(others_->delete_table({.table = "Things"}), IsOk());
    ASSERT_TRUE(comes_true([&, before = refused.load()] { return refused > before; }));
    ASSERT_THAT(others_->create_table(hash_table()), IsOk());
  }
  stop = true;
  writers.clear();
  ASSERT_TRUE(comes_true([&] { return others_->stats().jobs == 0; }));
  expect_sound();  // no row is left in a space of a dropped table
}

TEST_P(SchemaRaces, ATableThatOthersCreatedIsFoundByEveryOperation) {
  const Item key{{"pk", "a"}};
  const std::vector<std::function<bool(const std::string&)>> operations = {
      [&](const std::string& table) { return put(table, key).has_value(); },
      [&](const std::string& table) {
        return call_and_wait(*engine_, &Engine::get_item, {.table = table, .key = key}).has_value();
      },
      [&](const std::string& table) {
        return batch_write({.items = {{table, {{.put = key}}}}}).has_value();
      },
      [&](const std::string& table) {
        return call_and_wait(*engine_, &Engine::batch_get_item,
                             {.items = {{table, {.keys = {key}}}}})
            .has_value();
      },
      [&](const std::string& table) {
        return transact({.items = {{.action = TransactAction::kPut, .table = table, .item = key}}})
            .has_value();
      },
      [&](const std::string& table) {
        return call_and_wait(*engine_, &Engine::transact_get_items,
                             {.items = {{.table = table, .key = key}}})
            .has_value();
      },
      [&](const std::string& table) {
        return call_and_wait(*engine_, &Engine::scan, {.table = table}).has_value();
      },
      [&](const std::string& table) {
        return call_and_wait(*engine_, &Engine::execute_statement,
                             {.statement = "SELECT * FROM " + table})
            .has_value();
      },
      [&](const std::string& table) {
        return engine_->describe_table({.table = table}).has_value();
      },
      [&](const std::string& table) {
        return engine_->describe_time_to_live({.table = table}).has_value();
      },
      [&](const std::string& table) { return engine_->delete_table({.table = table}).has_value(); },
      [&](const std::string& table) {
        const auto listed = must(engine_->list_tables({}));
        return std::ranges::count(listed.tables, table) == 1;
      },
      [&](const std::string& table) {
        engine_->run_maintenance();
        return engine_->parts().catalog->snapshot()->find(table) != nullptr;
      }};
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string table = "Table" + std::to_string(i);
    ASSERT_THAT(others_->create_table(hash_table(table)), IsOk());
    EXPECT_TRUE(operations[i](table)) << i;
  }
}

// A process of a newer version raises the format before each kind of request.
TEST_P(SchemaRaces, EveryRequestIsRefusedAfterANewerVersionRaisedTheFormat) {
  CreateTableRequest table = hash_table();
  table.stream = {.enabled = true, .view = StreamViewType::kKeysOnly};
  create(table);
  const Item key{{"pk", "a"}};
  ASSERT_THAT(put("Things", key), IsOk());
  const std::string stream = must(engine_->list_streams({})).streams.at(0).arn;
  const std::string shard = must(engine_->describe_stream({.stream = stream})).stream.shards[0].id;
  const GetShardIteratorRequest from_start{
      .stream = stream, .shard = shard, .type = ShardIteratorType::kTrimHorizon};
  const std::string iterator = must(engine_->get_shard_iterator(from_start)).iterator;
  const auto error_of = [](auto result) {
    return result ? std::string("no error") : result.error().message;
  };
  const std::vector<std::function<std::string()>> requests = {
      [&] { return error_of(put("Things", {{"pk", "b"}})); },
      [&] { return error_of(update({.table = "Things", .key = key, .update = "SET n = pk"})); },
      [&] { return error_of(erase({.table = "Things", .key = key})); },
      [&] { return error_of(batch_write({.items = {{"Things", {{.put = Item(key)}}}}})); },
      [&] {
        return error_of(transact(
            {.items = {{.action = TransactAction::kPut, .table = "Things", .item = key}}}));
      },
      [&] {
        return error_of(
            call_and_wait(*engine_, &Engine::get_item, {.table = "Things", .key = key}));
      },
      [&] {
        return error_of(call_and_wait(*engine_, &Engine::batch_get_item,
                                      {.items = {{"Things", {.keys = {key}}}}}));
      },
      [&] {
        return error_of(call_and_wait(*engine_, &Engine::transact_get_items,
                                      {.items = {{.table = "Things", .key = key}}}));
      },
      [&] { return error_of(read(ScanRequest{.table = "Things"})); },
      [&] {
        return error_of(call_and_wait(*engine_, &Engine::execute_statement,
                                      {.statement = "SELECT * FROM Things"}));
      },
      [&] { return error_of(engine_->create_table(hash_table("Other"))); },
      [&] { return error_of(engine_->update_table(with_index("byColor"))); },
      [&] { return error_of(engine_->delete_table({.table = "Things"})); },
      [&] { return error_of(engine_->describe_table({.table = "Things"})); },
      [&] { return error_of(engine_->list_tables({})); },
      [&] { return error_of(engine_->administer(admin::kListBackups, {})); },
      [&] {
        return error_of(engine_->administer(
            admin::kDeleteBackup,
            {{"BackupArn", "arn:aws:dynamodb:us-east-1:000000000000:table/Things/backup/1"}}));
      },
      [&] { return error_of(engine_->describe_stream({.stream = stream})); },
      [&] { return error_of(engine_->get_shard_iterator(from_start)); },
      [&] {
        return error_of(call_and_wait(*engine_, &Engine::get_records, {.iterator = iterator}));
      },
      [&] {
        engine_->run_maintenance();
        return engine_->health().reason;
      }};
  others_.reset();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    SCOPED_TRACE(i);
    open(std::make_unique<SharedByTwo>(inner_));
    EXPECT_TRUE(engine_->health().writable);
    ASSERT_THAT(raise_format(*inner_, kCatalogFormat + 1), IsOk());
    const auto before = rows();
    EXPECT_EQ(requests[i](), "the data has format 7; this version of Stator reads formats 1 to 6");
    EXPECT_FALSE(engine_->health().writable);
    EXPECT_EQ(requests[0](), engine_->health().reason) << "as each later request";
    engine_.reset();
    EXPECT_EQ(rows(), before);
    set_current_format();
  }
}

TEST_P(SchemaRaces, SettingsOfATableThatOthersDroppedAreNotWritten) {
  create(hash_table());
  const TablePtr dropped = *engine_->parts().catalog->snapshot()->find("Things");
  ASSERT_THAT(others_->delete_table({.table = "Things"}), IsOk());
  ASSERT_THAT(others_->create_table(hash_table()), IsOk());
  const auto change = [](Item& settings) -> Result<void> {
    settings["Tags"] = List{Item{{"Key", "a"}, {"Value", "b"}}};
    return {};
  };
  EXPECT_THAT(Records(engine_->store()).change_settings(*dropped, change),
              FailsWith(Code::kResourceNotFound, ""));
  ASSERT_TRUE(comes_true([&] { return others_->stats().jobs == 0; }));
  expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Stores, SchemaRaces, ::testing::Bool(),
                         [](const auto& instance) { return instance.param ? "rocks" : "memory"; });

}  // namespace
}  // namespace stator::test
