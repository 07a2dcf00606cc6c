// SPDX-License-Identifier: Apache-2.0
// Random histories of items, transactions, batches and queries, compared with a naive model. They
// run on both stores of one process, and on two engines with one backend or one PostgreSQL
// database, and are reopened in between. The table is dropped and created again, its index is
// dropped and filled again, and its stream and TTL are enabled and disabled. With two engines, each
// request is sent to one of them. STATOR_SEED repeats a history, STATOR_STEPS lengthens it.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "client/database_on_store.h"
#include "engine/testing/engine_pair.h"
#include "histories/model.h"
#include "stator/database.h"
#include "storage/postgres/postgres_fixture.h"
#include "support/from_environment.h"
#include "support/temp_dir.h"

namespace stator {
namespace {

using test::key_item;
using test::ModelCondition;
using test::ModelKey;
using test::ModelTable;
using test::ModelUpdate;
using test::number_from_environment;

std::optional<Values> given(Values values) {
  if (values.empty()) return std::nullopt;
  return values;
}

// Names in the texts of model_updates(). DynamoDB rejects names that a text does not use.
std::optional<Names> names_in(const std::string& text) {
  Names names;
  if (text.find("#g") != std::string::npos) names["#g"] = "group";
  if (text.find("#m") != std::string::npos) names["#m"] = "map";
  if (names.empty()) return std::nullopt;
  return names;
}

// The outcome of an action in the model.
enum class Outcome { kApplied, kConditionFailed, kDoesNotFit };

struct Action {
  TransactAction kind = TransactAction::kPut;
  ModelKey key;
  Item item;  // of a put
  ModelCondition condition;
  ModelUpdate update;

  Outcome apply(ModelTable& table) const {
    const Item* old = table.find(key);
    if (!condition.holds(old)) return Outcome::kConditionFailed;
    switch (kind) {
      case TransactAction::kConditionCheck:
        return Outcome::kApplied;
      case TransactAction::kPut:
        table.put(key, item);
        return Outcome::kApplied;
      case TransactAction::kDelete:
        table.erase(key);
        return Outcome::kApplied;
      case TransactAction::kUpdate:
        break;
    }
    if (old == nullptr && update.only_removes) return Outcome::kApplied;
    Item changed = old == nullptr ? key_item(key) : *old;
    if (!update.apply(changed)) return Outcome::kDoesNotFit;
    table.put(key, changed);
    return Outcome::kApplied;
  }

  Values values() const {
    Values all = condition.values;
    if (kind == TransactAction::kUpdate) all.insert(update.values.begin(), update.values.end());
    return all;
  }
};

enum class Backend { kMemory, kDisk, kPair, kPostgres };

class History {
 public:
  History(Backend backend, uint64_t seed)
      : backend_(backend), random_(seed), shared_(static_cast<uint32_t>(seed), test::kPairFaults) {
    open();
    create_table();
  }

  void create_table() {
    ASSERT_TRUE(database().create_table(
        {.table = "Table",
         .attributes = {{"pk", ScalarType::kS},
                        {"sk", ScalarType::kN},
                        {"group", ScalarType::kS},
                        {"n", ScalarType::kN}},
         .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}},
         .global_indexes = {{{.name = "ByGroup",
                              .key_schema = {{"group", KeyType::kHash}, {"n", KeyType::kRange}}}}},
         .billing_mode = BillingMode::kPayPerRequest}));
  }

  void step() {
    if (pick(60) == 0) return toggle_index();
    if (pick(60) == 0) return toggle_stream();
    if (pick(60) == 0) return toggle_expiry();
    if (pick(200) == 0) return recreate();
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        write_one();
        break;
      case 5:
      case 6:
        transact();
        break;
      case 7:
        read_one();
        break;
      case 8:
        query_partition();
        break;
      case 9:
        query_group();
        break;
      case 10:
        batch_write();
        break;
      default:
        transact_get();
        break;
    }
  }

  void reopen() {
    if (backend_ == Backend::kMemory) return;
    databases_.clear();
    open();
  }

  void check_everything() {
    std::vector<Item> found;
    const int segments = pick(4) + 1;
    for (int segment = 0; segment < segments; ++segment) {
      ScanRequest request{.table = "Table",
                          .limit = pick(9) + 1,
                          .segment = segment,
                          .total_segments = segments,
                          .consistent_read = true};
      do {
        auto page = database().scan(request);
        ASSERT_TRUE(page) << page.error().message;
        found.insert(found.end(), page->items.begin(), page->items.end());
        request.exclusive_start_key = page->last_evaluated_key;
      } while (request.exclusive_start_key);
    }
    std::ranges::sort(found, {}, [](const Item& item) {
      return ModelKey(*item.at("pk").get_if<std::string>(),
                      static_cast<int>(*item.at("sk").get_if<Number>()->to_int64()));
    });
    EXPECT_EQ(found, model_.all());
  }

 private:
  void open() {
    if (backend_ == Backend::kPair) {
      for (int i = 0; i < 2; ++i) {
        auto store = std::make_unique<test::SharedStore>(shared_, static_cast<uint32_t>(random_()));
        databases_.push_back(database_on(test::must(Engine::open(std::move(store)))));
      }
      return;
    }
    DatabaseOptions options{.durability = Durability::kOs};
    if (backend_ == Backend::kDisk) options.path = directory_.path() / "data";
    if (backend_ == Backend::kPostgres) {
      if (!schema_) schema_.emplace();
      options.store = test::postgres_url();
      options.schema = schema_->name();
      databases_.push_back(test::must(Database::open(options)));
    }
    databases_.push_back(test::must(Database::open(options)));
  }
  Database& database() { return databases_[random_() % databases_.size()]; }

  int pick(int choices) { return static_cast<int>(random_() % static_cast<uint64_t>(choices)); }
  std::string pick_text() { return std::string(1, static_cast<char>('a' + pick(4))); }
  ModelKey pick_key() { return {"p" + std::to_string(pick(4)), pick(8) - 3}; }

  Item pick_item(const ModelKey& key) {
    Item item = key_item(key);
    if (pick(3) > 0) item["n"] = pick(20) - 10;
    if (pick(3) > 0) item["group"] = pick_text();
    if (pick(3) == 0) item["tags"] = StringSet{pick_text()};
    if (pick(4) == 0) item["map"] = Map{{"list", List{1, "x", nullptr, true}}};
    if (pick(8) == 0)
      item["blob"] = Binary{std::string(static_cast<std::size_t>(pick(3000)), '\xff')};
    return item;
  }

  template <class T>
  T pick_of(std::vector<T> choices) {
    return std::move(choices[static_cast<std::size_t>(pick(static_cast<int>(choices.size())))]);
  }

  Action pick_action(std::optional<TransactAction> kind = std::nullopt) {
    Action action;
    action.kind = kind.value_or(static_cast<TransactAction>(pick(4)));
    action.key = pick_key();
    action.condition = pick_of(test::model_conditions(pick(20) - 10));
    action.item = pick_item(action.key);
    // A number distinguishes the placeholders of a condition from those of an update.
    action.update = pick_of(test::model_updates(pick(20) - 10, pick_text()));
    if (action.kind == TransactAction::kConditionCheck && !action.condition.text) {
      action.condition = test::model_conditions(0)[1];
    }
    if (action.kind == TransactAction::kUpdate) separate(action.condition);
    return action;
  }

  // Renames the placeholders of a condition, so that it can share a request with an update.
  static void separate(ModelCondition& condition) {
    if (!condition.text) return;
    Values renamed;
    for (const auto& [name, value] : condition.values) renamed[":c" + name.substr(1)] = value;
    for (std::size_t at = 0; (at = condition.text->find(':', at)) != std::string::npos; at += 2) {
      condition.text->insert(at + 1, "c");
    }
    condition.values = std::move(renamed);
  }

  Result<WriteResult> send(const Action& action) {
    const auto values = given(action.values());
    switch (action.kind) {
      case TransactAction::kPut:
        return database().put_item({.table = "Table",
                                    .item = action.item,
                                    .condition = action.condition.text,
                                    .values = values,
                                    .return_values = ReturnValues::kAllOld});
      case TransactAction::kDelete:
        return database().delete_item({.table = "Table",
                                       .key = key_item(action.key),
                                       .condition = action.condition.text,
                                       .values = values,
                                       .return_values = ReturnValues::kAllOld});
      default:
        return database().update_item({.table = "Table",
                                       .key = key_item(action.key),
                                       .update = action.update.text,
                                       .condition = action.condition.text,
                                       .names = names_in(action.update.text),
                                       .values = values,
                                       .return_values = ReturnValues::kAllNew});
    }
  }

  void write_one() {
    const Action action = pick_action(static_cast<TransactAction>(1 + pick(3)));
    const Item* old = model_.find(action.key);
    const std::optional<Item> before = old == nullptr ? std::nullopt : std::optional<Item>(*old);
    const Outcome outcome = action.apply(model_);
    const auto result = send(action);
    if (outcome == Outcome::kApplied) {
      ASSERT_TRUE(result) << result.error().message << " of " << action.update.text;
      const Item* found = model_.find(action.key);
      const std::optional<Item> after =
          found == nullptr ? std::nullopt : std::optional<Item>(*found);
      EXPECT_EQ(result->attributes, action.kind == TransactAction::kUpdate ? after : before);
      return;
    }
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, outcome == Outcome::kConditionFailed
                                       ? Code::kConditionalCheckFailed
                                       : Code::kValidation);
  }

  void transact() {
    TransactWriteItemsRequest request;
    std::vector<std::string> want;
    ModelTable changed = model_;
    std::set<ModelKey> keys;
    for (int i = pick(5); i >= 0; --i) {
      const Action action = pick_action();
      if (!keys.insert(action.key).second) continue;
      const bool put = action.kind == TransactAction::kPut;
      const bool update = action.kind == TransactAction::kUpdate;
      TransactWriteItem item{.action = action.kind,
                             .table = "Table",
                             .item = put ? action.item : key_item(action.key),
                             .condition = action.condition.text,
                             .values = given(action.values())};
      if (update) {
        item.update = action.update.text;
        item.names = names_in(action.update.text);
      }
      request.items.push_back(item);
      switch (action.apply(changed)) {
        case Outcome::kApplied:
          want.emplace_back("None");
          break;
        case Outcome::kConditionFailed:
          want.emplace_back("ConditionalCheckFailed");
          break;
        case Outcome::kDoesNotFit:
          want.emplace_back("ValidationError");
          break;
      }
    }
    const auto result = database().transact_write_items(request);
    if (std::ranges::all_of(want, [](const std::string& code) { return code == "None"; })) {
      ASSERT_TRUE(result) << result.error().message;
      model_ = changed;
      return;
    }
    ASSERT_FALSE(result);
    ASSERT_EQ(result.error().code, Code::kTransactionCanceled) << result.error().message;
    std::vector<std::string> codes;
    for (const CancellationReason& reason : result.error().detail->reasons)
      codes.push_back(reason.code);
    EXPECT_EQ(codes, want);
  }

  void read_one() {
    const ModelKey key = pick_key();
    const auto got =
        database().get_item({.table = "Table", .key = key_item(key), .consistent_read = true});
    ASSERT_TRUE(got) << got.error().message;
    const Item* want = model_.find(key);
    EXPECT_EQ(got->item, want == nullptr ? std::nullopt : std::optional<Item>(*want));
  }

  void transact_get() {
    TransactGetItemsRequest request;
    std::vector<std::optional<Item>> want;
    std::set<ModelKey> keys;
    for (int i = pick(6); i >= 0; --i) {
      const ModelKey key = pick_key();
      if (!keys.insert(key).second) continue;
      request.items.push_back({.table = "Table", .key = key_item(key)});
      const Item* item = model_.find(key);
      want.push_back(item == nullptr ? std::nullopt : std::optional<Item>(*item));
    }
    const auto got = database().transact_get_items(request);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->items, want);
  }

  std::vector<Item> all_pages(QueryRequest request) {
    std::vector<Item> found;
    do {
      auto page = database().query(request);
      EXPECT_TRUE(page) << page.error().message;
      if (!page) return found;
      EXPECT_LE(page->scanned_count, request.limit.value_or(1000));
      found.insert(found.end(), page->items.begin(), page->items.end());
      request.exclusive_start_key = page->last_evaluated_key;
    } while (request.exclusive_start_key);
    return found;
  }

  void query_partition() {
    const std::string pk = "p" + std::to_string(pick(4));
    const int low = pick(8) - 3;
    const int high = low + pick(6);
    const bool forward = pick(2) == 0;
    EXPECT_EQ(all_pages({.table = "Table",
                         .key_condition = "pk = :p AND sk BETWEEN :a AND :b",
                         .values = Values{{":p", pk}, {":a", low}, {":b", high}},
                         .limit = pick(4) + 1,
                         .forward = forward,
                         .consistent_read = true}),
              model_.partition(pk, low, high, forward));
  }

  // The index must also contain items that are written while it is filled.
  void toggle_index() {
    wait_for_index();
    UpdateTableRequest request{.table = "Table", .global_indexes = {{GlobalIndexChange()}}};
    GlobalIndexChange& change = request.global_indexes->front();
    if (indexed_) {
      change.remove = "ByGroup";
    } else {
      request.attributes = {{{"group", ScalarType::kS}, {"n", ScalarType::kN}}};
      change.create =
          IndexDefinition{.name = "ByGroup",
                          .key_schema = {{"group", KeyType::kHash}, {"n", KeyType::kRange}},
                          .projection = {}};
    }
    const auto changed = database().update_table(request);
    ASSERT_TRUE(changed) << changed.error().message;
    indexed_ = !indexed_;
    if (pick(2) == 0) reopen();
  }

  void toggle_stream() {
    UpdateTableRequest request{.table = "Table", .stream = StreamSpecification{}};
    streams_ = !streams_;
    request.stream->enabled = streams_;
    if (streams_) request.stream->view = StreamViewType::kNewAndOldImages;
    const auto changed = database().update_table(request);
    ASSERT_TRUE(changed) << changed.error().message;
    const auto described = database().describe_table({.table = "Table"});
    ASSERT_TRUE(described) << described.error().message;
    EXPECT_EQ(described->table.stream.has_value(), streams_);
  }

  // Items do not have the attribute, so none of them expires.
  void toggle_expiry() {
    const auto described = database().describe_time_to_live({.table = "Table"});
    ASSERT_TRUE(described) << described.error().message;
    if (described->status == TimeToLiveStatus::kEnabling) return;
    EXPECT_EQ(described->status == TimeToLiveStatus::kEnabled, expires_);
    expires_ = !expires_;
    const auto changed = database().update_time_to_live(
        {.table = "Table", .specification = {.enabled = expires_, .attribute = "until"}});
    ASSERT_TRUE(changed) << changed.error().message;
  }

  void recreate() {
    const auto deleted = database().delete_table({.table = "Table"});
    ASSERT_TRUE(deleted) << deleted.error().message;
    const auto gone = database().get_item({.table = "Table", .key = key_item(pick_key())});
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, Code::kResourceNotFound);
    create_table();
    model_ = {};
    indexed_ = true;
    streams_ = expires_ = false;
  }

  void wait_for_index() {
    while (true) {
      const auto described = database().describe_table({.table = "Table"});
      ASSERT_TRUE(described) << described.error().message;
      if (described->table.status == TableStatus::kActive) break;
      std::this_thread::yield();
    }
  }

  void query_group() {
    if (!indexed_) return;
    wait_for_index();
    const std::string group = pick_text();
    const int low = pick(20) - 10;
    const int high = low + pick(12);
    auto found = all_pages({.table = "Table",
                            .index = "ByGroup",
                            .key_condition = "#g = :g AND n BETWEEN :a AND :b",
                            .names = Names{{"#g", "group"}},
                            .values = Values{{":g", group}, {":a", low}, {":b", high}},
                            .limit = pick(4) + 1});
    auto want = model_.group(group, low, high);
    // Items with equal index keys can have any order.
    EXPECT_TRUE(std::ranges::is_sorted(
        found, {}, [](const Item& item) { return *item.at("n").get_if<Number>(); }));
    const auto by_key = [](const Item& item) {
      return std::pair(*item.at("pk").get_if<std::string>(), *item.at("sk").get_if<Number>());
    };
    std::ranges::sort(found, {}, by_key);
    std::ranges::sort(want, {}, by_key);
    EXPECT_EQ(found, want);
  }

  void batch_write() {
    BatchWriteItemRequest request;
    std::set<ModelKey> keys;
    for (int i = pick(10); i >= 0; --i) {
      const ModelKey key = pick_key();
      if (!keys.insert(key).second) continue;
      if (pick(3) == 0) {
        request.items["Table"].push_back({.delete_key = key_item(key)});
        model_.erase(key);
      } else {
        const Item item = pick_item(key);
        request.items["Table"].push_back({.put = item});
        model_.put(key, item);
      }
    }
    const auto result = database().batch_write_item(request);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->unprocessed.empty());
  }

  const Backend backend_;
  std::mt19937_64 random_;
  const test::TempDir directory_;
  test::SharedBackend shared_;
  std::optional<test::PostgresSchema> schema_;
  std::vector<Database> databases_;  // of one process, or of two
  ModelTable model_;
  bool indexed_ = true;
  bool streams_ = false;
  bool expires_ = false;
};

void run_history(Backend backend) {
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  const uint64_t steps = number_from_environment("STATOR_STEPS", 4000);
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  History history(backend, seed);
  for (uint64_t step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    history.step();
    if (step % 500 == 499) history.reopen();
    if (step % 100 == 99) history.check_everything();
  }
}

TEST(History, InMemoryAgreesWithTheModel) {
  run_history(Backend::kMemory);
}
TEST(History, OnDiskAgreesWithTheModelAcrossRestarts) {
  run_history(Backend::kDisk);
}
TEST(History, OnTwoEnginesAgreesWithTheModelWhileSchemasChange) {
  run_history(Backend::kPair);
}
TEST(History, OnPostgresAgreesWithTheModelWhileSchemasChange) {
  run_history(Backend::kPostgres);
}

}  // namespace
}  // namespace stator
