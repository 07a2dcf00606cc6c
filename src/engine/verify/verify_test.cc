// SPDX-License-Identifier: Apache-2.0
// The engine creates a directory, and the test changes its rows directly. verify() must report
// these changes and nothing else.
#include "engine/verify/verify.h"

#include <fstream>
#include <functional>

#include "engine/admin/administration.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/records.h"
#include "engine/items/tokens.h"
#include "engine/testing/engine_harness.h"
#include "support/forwarding_store.h"

namespace stator::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Row {
  std::string key;
  std::string value;
};

class Verify : public EngineTest {
 protected:
  // Creates a table with two global indexes (one with several attributes) and a local one. Also
  // creates a table without indexes, a dropped table and a transaction's token.
  Verify() {
    open_quickly();
    CreateTableRequest music = range_table("Music");
    music.attributes = {{"pk", ScalarType::kS},
                        {"sk", ScalarType::kN},
                        {"genre", ScalarType::kS},
                        {"year", ScalarType::kN}};
    music.local_indexes = {index_on("byYear", {{"pk", KeyType::kHash}, {"year", KeyType::kRange}},
                                    {.type = ProjectionType::kKeysOnly})};
    music.global_indexes = {
        index_on("byGenre",
                 {{"genre", KeyType::kHash}, {"year", KeyType::kRange}, {"pk", KeyType::kRange}},
                 {.type = ProjectionType::kInclude, .non_key_attributes = {"title"}}),
        index_on("all", {{"genre", KeyType::kHash}, {"year", KeyType::kHash}},
                 {.type = ProjectionType::kAll})};
    create(music);
    create(hash_table("Plain"));
    create(hash_table("Gone"));
    for (int i = 0; i < 60; ++i) {
      Item item{{"pk", "artist " + std::to_string(i % 7)}, {"sk", i}, {"title", "t"}};
      if (i % 3 != 0) item["year"] = 1900 + i;
      if (i % 4 != 0) item["genre"] = i % 5 == 0 ? "folk" : "blues";
      EXPECT_THAT(put("Music", item), IsOk());
      EXPECT_THAT(put("Gone", {{"pk", std::to_string(i)}}), IsOk());
    }
    EXPECT_THAT(erase({.table = "Music", .key = {{"pk", "artist 0"}, {"sk", 7}}}), IsOk());
    EXPECT_THAT(
        engine_->administer(admin::kTagResource,
                            {{"ResourceArn", "arn:aws:dynamodb:us-east-1:000000782867:table/Music"},
                             {"Tags", List{Item{{"Key", "a"}, {"Value", "b"}}}}}),
        IsOk());
    EXPECT_THAT(transact({.items = {{.action = TransactAction::kPut,
                                     .table = "Plain",
                                     .item = {{"pk", "one"}, {"text", "hello"}}}},
                          .client_request_token = "a token"}),
                IsOk());
    EXPECT_THAT(engine_->delete_table({.table = "Gone"}), IsOk());
  }

  void open_quickly() {
    if (tests_run_on_a_pair()) return open_directory();
    engine_.reset();
    open(open_store({.durability = Durability::kOs}));
  }
  // Opens the directory, or the backend of a pair, without an engine.
  std::unique_ptr<TransactStore> open_store(RocksStoreOptions options) {
    engine_.reset();
    if (tests_run_on_a_pair()) return engine_.open_backend();
    options.path = path();
    return must(open_rocks_store(options));
  }

  VerifyReport check() {
    return verify(*open_store({.read_only = true}), [](std::string_view, uint64_t, uint64_t) {});
  }
  // The findings as "kind: message".
  std::vector<std::string> findings() {
    std::vector<std::string> lines;
    for (const Finding& finding : check().findings) {
      lines.push_back(std::string(finding.kind) + ": " + finding.message);
    }
    return lines;
  }

  using Expected = std::vector<::testing::Matcher<std::string>>;
  // Adds the finding of a counter. Those of a pair are not exact, so verify() does not check them.
  static auto with_counter(const ::testing::Matcher<std::string>& counter, Expected others) {
    if (!tests_run_on_a_pair()) others.insert(others.begin(), counter);
    return ::testing::ElementsAreArray(others);
  }

  // Returns an item that is in every index.
  Row indexed_item() {
    for (const Row& row : rows(kMusic)) {
      const ItemView item(row.value);
      if (item.find("genre") && item.find("year")) return row;
    }
    ADD_FAILURE() << "no such item";
    return {};
  }

  std::filesystem::path path() const { return directory_.path() / "data"; }

  std::vector<Row> rows(const KeyRange& range) {
    std::vector<Row> found;
    change([&](TransactStore& store, Batch&) {
      EXPECT_THAT(read_range(store, {.range = range},
                             [&](std::string_view key, std::string_view value) {
                               found.push_back({std::string(key), std::string(value)});
                               return true;
                             }),
                  IsOk());
    });
    return found;
  }
  // Rows of a space. Spaces of a table: the items, then each index's entries.
  std::vector<Row> rows(uint32_t space) { return rows(space_range(space)); }

  // Changes rows directly, without an engine.
  void change(const std::function<void(TransactStore&, Batch&)>& action) {
    const auto store = open_store({.durability = Durability::kOs});
    Batch batch;
    action(*store, batch);
    EXPECT_EQ(write_and_wait(*store, std::move(batch)).outcome, CommitOutcome::kCommitted);
  }
  void put_row(const std::string& key, const std::string& value) {
    change([&](TransactStore&, Batch& batch) { batch.put(key, value); });
  }
  void erase_row(const std::string& key) {
    change([&](TransactStore&, Batch& batch) { batch.erase(key); });
  }

  static constexpr SpaceId kMusic = kFirstTableSpace;
  static constexpr SpaceId kByYear = kFirstTableSpace + 1;
  static constexpr SpaceId kByGenre = kFirstTableSpace + 2;
  static constexpr SpaceId kAll = kFirstTableSpace + 3;
  static constexpr SpaceId kPlain = kFirstTableSpace + 4;
  static constexpr SpaceId kNever = 99;
};

TEST_F(Verify, FindsNothingInASoundStore) {
  const VerifyReport report = check();
  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_TRUE(report.is_sound());
  EXPECT_EQ(report.tables, 2U);
  EXPECT_EQ(report.items, 60U);
  EXPECT_EQ(report.index_entries, rows(kByYear).size() + rows(kByGenre).size() + rows(kAll).size());
  EXPECT_GT(report.index_entries, 60U);
  EXPECT_EQ(report.tokens, 1U);
  EXPECT_THAT(report.uncounted, IsEmpty());
}

TEST_F(Verify, ChecksBackupsAsTables) {
  open_quickly();
  const auto created =
      engine_->administer(admin::kCreateBackup, {{"TableName", "Music"}, {"BackupName", "Copy"}});
  ASSERT_THAT(created, IsOk());
  const Item arn{{"BackupArn", text_of(map_of(*created, "BackupDetails"), "BackupArn")}};
  ASSERT_TRUE(comes_true([&] {
    const auto described = engine_->administer(admin::kDescribeBackup, arn);
    return described && text_of(map_of(map_of(*described, "BackupDescription"), "BackupDetails"),
                                "BackupStatus") == "AVAILABLE";
  }));
  EXPECT_EQ(check().items, 119U);
  EXPECT_THAT(findings(), IsEmpty());

  constexpr SpaceId kCopy = kFirstTableSpace + 6;
  const std::vector<Row> copied = rows(kCopy);
  ASSERT_EQ(copied.size(), 59U);
  put_row(copied[3].key, "no item");
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("Music in backup Copy")));
}

TEST_F(Verify, FindsSettingsOfNoTable) {
  open_quickly();
  const auto tagged = engine_->administer(
      admin::kTagResource, {{"ResourceArn", "arn:aws:dynamodb:us-east-1:000000782867:table/Plain"},
                            {"Tags", List{Item{{"Key", "a"}, {"Value", "b"}}}}});
  ASSERT_THAT(tagged, IsOk());
  ASSERT_THAT(engine_->delete_table({.table = "Plain"}), IsOk());
  EXPECT_THAT(findings(), IsEmpty());
  put_row(settings_key(kPlain), encode_item(Item{{"Tags", List()}}));
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("has settings, though no table owns it")));
}

TEST_F(Verify, FindsTheDamagedRecordOfABackup) {
  put_row(record_key(RecordKind::kBackup, "01489602797149-73d8d5bc"),
          encode_item(Item{{"Name", "Copy"}}));
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("is damaged or of another version")));
}

TEST_F(Verify, FindsNothingInAnEmptyStore) {
  EXPECT_TRUE(verify(*make_memory_store(), [](std::string_view, uint64_t, uint64_t) {}).is_sound());
}

TEST_F(Verify, AcceptsATokenThatWasUsedAgain) {
  open_quickly();
  clock_.advance(std::chrono::milliseconds(kTokenLifetimeMs + 1));
  // The sweep can run before this transaction, so both queue rows can exist.
  EXPECT_THAT(transact({.items = {{.action = TransactAction::kPut,
                                   .table = "Plain",
                                   .item = {{"pk", "one"}, {"text", "again"}}}},
                        .client_request_token = "a token"}),
              IsOk());
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(Verify, NamesUncountedTables) {
  engine_.reset();
  change([](TransactStore&, Batch& batch) {
    for (SpaceId space = kMusic; space <= kPlain; ++space) {
      batch.erase(catalog_row_key(CatalogRow::kCounters, space));
    }
  });
  const VerifyReport report = check();
  EXPECT_TRUE(report.is_sound());
  EXPECT_THAT(report.uncounted, ElementsAre("Music", "Plain"));
}

TEST_F(Verify, LeavesTheRowsOfATableThatIsBeingDroppedToTheEngine) {
  change([](TransactStore&, Batch& batch) {
    batch.put(catalog_row_key(CatalogRow::kDropped, kPlain + 1), "");
    batch.put(partition_key({}, kPlain + 1, "x"), "not erased yet");
  });
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(Verify, FindsAnEntryThatIsMissing) {
  erase_row(rows(kByYear).front().key);
  EXPECT_THAT(findings(),
              with_counter(HasSubstr("counter: table 'Music', index 'byYear': the catalog says 39"),
                           {AllOf(HasSubstr("index: table 'Music', index 'byYear': the item"),
                                  HasSubstr("has no entry"))}));
}

TEST_F(Verify, FindsEntriesWhoseItemIsNotThere) {
  erase_row(indexed_item().key);
  EXPECT_THAT(findings(),
              with_counter(HasSubstr("counter: table 'Music': the catalog says 59 items"),
                           {AllOf(HasSubstr("index 'byYear': entry"), HasSubstr("is not there")),
                            AllOf(HasSubstr("index 'byGenre': entry"), HasSubstr("is not there")),
                            AllOf(HasSubstr("index 'all': entry"), HasSubstr("is not there"))}));
}

TEST_F(Verify, FindsAnEntryThatShowsAnEarlierItem) {
  const Row row = rows(kByGenre).front();
  Item entry = decode_item(ItemView(row.value));
  entry["title"] = "T";
  put_row(row.key, encode_item(entry));
  EXPECT_THAT(findings(), ElementsAre(AllOf(HasSubstr("index: table 'Music', index 'byGenre': the "
                                                      "entry of the item"),
                                            HasSubstr("is not what the item holds"))));
}

TEST_F(Verify, FindsAnEntryUnderAKeyThatIsNotItsOwn) {
  const Row row = rows(kByGenre).front();
  change([&](TransactStore&, Batch& batch) {
    batch.erase(row.key);
    batch.put(row.key + "x", row.value);
  });
  EXPECT_THAT(findings(),
              ElementsAre(HasSubstr("has no entry"), HasSubstr("whose entry it is not")));
}

// The effect of a hash collision between two items with equal index keys.
TEST_F(Verify, FindsAnItemWhoseEntryAnotherItemReplaced) {
  const std::vector<Row> entries = rows(kByGenre);
  put_row(entries[0].key, entries[1].value);
  EXPECT_THAT(findings(), ::testing::Contains(AllOf(HasSubstr("index 'byGenre': the item"),
                                                    HasSubstr("has no entry; another item's"))));
}

TEST_F(Verify, FindsAnEntryThatIsDamaged) {
  const Row row = rows(kByYear).back();
  put_row(row.key, row.value.substr(0, row.value.size() - 1));
  const auto found = findings();
  ASSERT_FALSE(found.empty());
  EXPECT_THAT(found.back(), AllOf(HasSubstr("index 'byYear': entry"), HasSubstr("is damaged")));
}

TEST_F(Verify, FindsVectorsThatAreNotThoseOfTheirItems) {
  open_quickly();
  CreateTableRequest places = hash_table("Places");
  places.vector_indexes = {{{.name = "near",
                             .vector_attribute = "at",
                             .search_schema = {},
                             .projection = {},
                             .dimensions = 2}}};
  create(places);
  ASSERT_THAT(put("Places", {{"pk", "a"}, {"at", List{1, 2}}}), IsOk());
  ASSERT_THAT(put("Places", {{"pk", "b"}}), IsOk());
  EXPECT_THAT(findings(), IsEmpty());
  constexpr SpaceId kVectors = kPlain + 3;
  const Row row = rows(kVectors).front();
  erase_row(row.key);
  EXPECT_THAT(
      findings(),
      with_counter(HasSubstr("counter: table 'Places', index 'near'"),
                   {AllOf(HasSubstr("index 'near': the item"), HasSubstr("has no entry"))}));
  std::string changed = row.value;
  changed[10] = static_cast<char>(changed[10] ^ 1);
  put_row(row.key, changed);
  EXPECT_THAT(findings(), ElementsAre(AllOf(HasSubstr("index 'near': the entry of the item"),
                                            HasSubstr("is not what the item holds"))));
  put_row(row.key, row.value.substr(0, 12));
  EXPECT_THAT(findings(), ::testing::Contains(
                              AllOf(HasSubstr("index 'near': entry"), HasSubstr("is damaged"))));
}

TEST_F(Verify, FindsATruncatedItem) {
  const Row row = rows(kPlain).front();
  put_row(row.key, row.value.substr(0, row.value.size() - 3));
  EXPECT_THAT(findings(), ::testing::Contains(AllOf(HasSubstr("item: table 'Plain': row"),
                                                    HasSubstr("is damaged"))));
}

TEST_F(Verify, FindsAnItemInARowOfAnother) {
  const Row row = rows(kPlain).front();
  std::string other = row.key;
  other.back() = static_cast<char>(other.back() ^ 1);
  change([&](TransactStore&, Batch& batch) {
    batch.erase(row.key);
    batch.put(other, row.value);
  });
  EXPECT_THAT(findings(), ElementsAre(AllOf(HasSubstr("item: table 'Plain'"), HasSubstr("one"),
                                            HasSubstr("where it does not belong"))));
}

TEST_F(Verify, FindsAnItemWhoseKeyIsOfAnotherType) {
  const Row row = rows(kPlain).front();
  put_row(row.key, encode_item({{"pk", 1}, {"te", "hello"}}));
  EXPECT_THAT(findings(), ::testing::Contains(HasSubstr("has a wrong key")));
  put_row(row.key, encode_item({{"text", "hello"}}));
  EXPECT_THAT(findings(), ::testing::Contains(HasSubstr("has a wrong key")));
}

TEST_F(Verify, FindsAnItemThatIsTooLarge) {
  const Row row = rows(kPlain).front();
  put_row(row.key, encode_item({{"pk", "one"}, {"text", std::string(410'000, 'x')}}));
  EXPECT_THAT(findings(), ::testing::Contains(HasSubstr("more than an item may")));
}

TEST_F(Verify, FindsRowsOfNoTable) {
  change([](TransactStore&, Batch& batch) {
    batch.put(partition_key({}, kNever, "a"), "x");
    batch.put(partition_key({}, kNever, "b"), "x");
    batch.put(partition_key({}, 7, "c"), "x");
  });
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("orphan: 1 rows of space 7,"),
                                      HasSubstr("orphan: 2 rows of space 99,")));
}

TEST_F(Verify, FindsRowsOfATableMissingFromTheCatalog) {
  erase_row(catalog_row_key(CatalogRow::kTable, "Plain"));
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("counter: space 20 is counted"),
                                      HasSubstr("space 20 has a version, though no table owns it"),
                                      HasSubstr("orphan: 1 rows of space 20,")));
}

TEST_F(Verify, FindsACounterThatIsWrong) {
  std::string counters;
  append_big_endian(counters, uint64_t{2});
  append_big_endian(counters, uint64_t{14});
  put_row(catalog_row_key(CatalogRow::kCounters, kPlain), counters);
  EXPECT_THAT(findings(), with_counter("counter: table 'Plain': the catalog says 2 items of 14 "
                                       "bytes, there are 1 items of 14 bytes",
                                       {}));
}

TEST_F(Verify, FindsATokenWithoutItsRowByTime) {
  erase_row(rows(kTokenExpirySpace).front().key);
  EXPECT_THAT(findings(),
              ElementsAre(AllOf(HasSubstr("token: "), HasSubstr("has no row by time"))));
}

TEST_F(Verify, FindsARowByTimeWithoutItsToken) {
  erase_row(rows(kTokenSpace).front().key);
  EXPECT_THAT(findings(),
              ElementsAre(AllOf(HasSubstr("token: row by time"), HasSubstr("no token"))));
}

// A store that cannot read one of its rows by key.
class StoreWithABadRow final : public ForwardingStore {
 public:
  StoreWithABadRow(std::shared_ptr<TransactStore> inner, std::string bad)
      : ForwardingStore(std::move(inner)), bad_(std::move(bad)) {}
  void read(const ReadRequest& request, ReadVisitor visit, ReadDone done) override {
    if (std::ranges::find(request.keys, bad_) != request.keys.end())
      return done(fail(Code::kCorruption, "bad row"));
    inner_->read(request, visit, std::move(done));
  }

 private:
  std::string bad_;
};

TEST_F(Verify, ReadsOtherRowsIfOneCannotBeRead) {
  open_quickly();
  for (const std::string token : {"b", "c"}) {
    ASSERT_THAT(
        transact(
            {.items = {{.action = TransactAction::kPut, .table = "Plain", .item = {{"pk", token}}}},
             .client_request_token = token}),
        IsOk());
  }
  const std::string bad = rows(kTokenExpirySpace)[1].key;
  auto store = open_rocks_store({.path = path(), .read_only = true});
  ASSERT_THAT(store, IsOk());
  StoreWithABadRow damaged(std::move(*store), bad);
  const VerifyReport report = verify(damaged, [](std::string_view, uint64_t, uint64_t) {});
  ASSERT_EQ(report.finding_count, 2U);
  EXPECT_THAT(report.findings[0].message, HasSubstr("bad row"));
  EXPECT_THAT(report.findings[1].message, HasSubstr("has no row by time"));
}

TEST_F(Verify, FindsATokenThatIsDamaged) {
  put_row(rows(kTokenSpace).front().key, "no token");
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("is damaged")));
}

TEST_F(Verify, FindsADamagedCatalog) {
  const std::string table = catalog_row_key(CatalogRow::kTable, "Plain");
  const std::string definition = rows({.begin = table, .end = table + '\0'}).front().value;
  put_row(table, definition.substr(0, definition.size() - 1));
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("catalog: table 'Plain'")));
  change([&](TransactStore&, Batch& batch) {
    batch.erase(table);
    batch.put(catalog_row_key(CatalogRow::kTable, "Other"), definition);
  });
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("it is defined as 'Plain'")));
  change([&](TransactStore&, Batch& batch) {
    batch.erase(catalog_row_key(CatalogRow::kTable, "Other"));
    batch.put(table, definition);
    std::string next;
    append_big_endian(next, kPlain);
    batch.put(catalog_row_key(CatalogRow::kNextSpace), next);
  });
  EXPECT_THAT(findings(), ::testing::Contains("catalog: space 20 was never given out"));
  erase_row(catalog_row_key(CatalogRow::kHeader));
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("catalog: it has no header")));
}

// ---- Change logs

class VerifyLog : public Verify {
 protected:
  VerifyLog() {
    open_quickly();
    CreateTableRequest logged = hash_table("Logged");
    logged.stream = StreamSpecification{.enabled = true, .view = StreamViewType::kKeysOnly};
    create(logged);
    for (int i = 0; i < 30; ++i) {
      EXPECT_THAT(put("Logged", {{"pk", std::to_string(i % 10)}, {"n", i}}), IsOk());
    }
  }
  // The log has the changes, followed by a boundary.
  Row a_change() { return rows(kLog).front(); }

  static constexpr SpaceId kLogged = kPlain + 2;
  static constexpr SpaceId kLog = kLogged + 1;
};

TEST_F(VerifyLog, FindsNothingInASoundLog) {
  EXPECT_EQ(check().changes, 30U);
  EXPECT_THAT(findings(), IsEmpty());
  open_quickly();
  EXPECT_THAT(engine_->delete_table({.table = "Logged"}), IsOk());
  EXPECT_EQ(check().changes, 30U);
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(VerifyLog, FindsAChangeThatIsDamaged) {
  const Row row = a_change();
  put_row(row.key, row.value.substr(0, row.value.size() - 1));
  EXPECT_THAT(findings(), ElementsAre(AllOf(HasSubstr("change: the change log of table 'Logged'"),
                                            HasSubstr("is damaged"))));
}

TEST_F(VerifyLog, FindsAChangeInAnotherLogPartition) {
  const Row row = a_change();
  std::string key = row.key;
  key[sizeof(SpaceId)] = static_cast<char>((key[sizeof(SpaceId)] + 1) % 4);
  change([&](TransactStore&, Batch& batch) {
    batch.erase(row.key);
    batch.put(key, row.value);
  });
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("is of an item whose changes are elsewhere")));
}

TEST_F(VerifyLog, FindsACommitVersionOfTheFuture) {
  const Row row = a_change();
  std::string key = row.key.substr(0, kPartitionBytes);
  append_big_endian(key, uint64_t{1} << 60);
  put_row(key, row.value);
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("has a commit version of the future")));
}

TEST_F(VerifyLog, FindsALogWithoutAShardBoundary) {
  erase_row(rows(kLog).back().key);
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("has no boundary with which it begins")));
}

TEST_F(VerifyLog, FindsALogMissingFromTheCatalog) {
  erase_row(catalog_row_key(CatalogRow::kLog, kLog));
  EXPECT_THAT(findings(),
              ElementsAre(HasSubstr("catalog: table 'Logged': its change log is not there"),
                          HasSubstr("orphan: 31 rows of space 23,")));
}

TEST_F(VerifyLog, FindsALogOfNoTable) {
  erase_row(catalog_row_key(CatalogRow::kTable, "Logged"));
  EXPECT_THAT(findings(), ::testing::Contains(HasSubstr("no table records there")));
}

TEST_F(Verify, FindsADamagedFile) {
  check();
  open_quickly();  // startup writes the log to a table file
  engine_.reset();
  for (const auto& entry : std::filesystem::directory_iterator(path() / "rocksdb")) {
    if (entry.path().extension() != ".sst") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('\0').put('\1').put('\0');
  }
  EXPECT_THAT(findings(), ::testing::Contains(AllOf(HasSubstr("file: "), HasSubstr(".sst"))));
}

TEST_F(Verify, NamesTheFirstFindingsAndCountsAll) {
  change([](TransactStore&, Batch& batch) {
    for (int i = 0; i < 250; ++i) {
      batch.put(partition_key({}, kPlain, "key " + std::to_string(i)), "no item");
    }
  });
  const VerifyReport report = check();
  EXPECT_EQ(report.findings.size(), VerifyReport::kFindingsMax);
  EXPECT_EQ(report.finding_count, tests_run_on_a_pair() ? 250U : 251U)
      << "each row, and the counter of one process";
}

TEST_F(Verify, PrintsOneLinePerFinding) {
  const std::string name = "\n\x1b[2J\xff";
  put_row(catalog_row_key(CatalogRow::kTable, name), "");
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("catalog: table '??[2J?': ")));
}

}  // namespace
}  // namespace stator::test
