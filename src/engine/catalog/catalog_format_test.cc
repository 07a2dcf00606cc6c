// SPDX-License-Identifier: Apache-2.0
// Stored formats: which are read, migrated and rejected, and directories of each format.
#include <algorithm>
#include <fstream>
#include <future>

#include "api/admin/document.h"
#include "engine/admin/administration.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_header.h"
#include "engine/catalog/pins.h"
#include "engine/catalog/records.h"
#include "engine/jobs/job_engine.h"
#include "engine/rows/stored_codes.h"
#include "engine/testing/engine_harness.h"
#include "engine/testing/faulty_store.h"
#include "engine/verify/verify.h"
#include "support/must.h"
#include "support/paths.h"
#include "support/read_file.h"

namespace stator::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

class CatalogFormat : public EngineTest {
 protected:
  CatalogFormat() {
    reopen();
    create(hash_table());
  }
  ~CatalogFormat() override { engine_.reset(); }

  void reopen() { open(std::make_unique<FaultyStore>(faults_, inner_)); }
  // Opens the store as another process does.
  Result<std::unique_ptr<Engine>> try_open() {
    engine_.reset();
    return std::async(std::launch::async,
                      [&] {
                        return Engine::open(
                            std::make_unique<FaultyStore>(faults_, inner_),
                            {.clock = &clock_, .sweep_interval = {}, .maintenance_interval = {}});
                      })
        .get();
  }
  void put_row(const std::string& key, const std::string& value) {
    Batch batch;
    batch.put(key, value);
    ASSERT_EQ(write_and_wait(*inner_, std::move(batch)).outcome, CommitOutcome::kCommitted);
  }
  std::string row(const std::string& key) {
    std::string value;
    EXPECT_THAT(read_value(*inner_, key, [&](std::string_view bytes) { value = bytes; }), IsOk());
    return value;
  }
  void set_format(uint64_t format) {
    engine_.reset();
    CatalogHeader header{.format = kCatalogFormat};
    const std::string value = row(catalog_row_key(CatalogRow::kHeader));
    std::copy(value.begin() + 4, value.end(), header.secret.begin());
    header.format = format;
    put_row(catalog_row_key(CatalogRow::kHeader), encode_catalog_header(header));
  }
  uint64_t format() {
    return read_big_endian(row(catalog_row_key(CatalogRow::kHeader)).substr(0, 4));
  }

  Faults faults_;
  std::shared_ptr<TransactStore> inner_ = make_memory_store();
};

// Another process initializes the store while this one looks for a header.
class RacingStore final : public test::ForwardingStore {
 public:
  explicit RacingStore(std::shared_ptr<TransactStore> inner) : ForwardingStore(std::move(inner)) {}
  void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                SchemaVersions expected) override {
    if (!std::exchange(has_raced_, true)) {
      const auto other = Engine::open(std::make_unique<ForwardingStore>(inner_),
                                      {.sweep_interval = {}, .maintenance_interval = {}});
      ASSERT_THAT(other, IsOk());
      EXPECT_THAT((*other)->create_table(hash_table("Theirs")), IsOk());
    }
    inner_->transact(keys, std::move(decide), std::move(done), expected);
  }

 private:
  bool has_raced_ = false;
};

TEST_F(CatalogFormat, UsesTheHeaderOfAProcessThatStartedFirst) {
  engine_.reset();
  inner_ = make_memory_store();
  open(std::make_unique<RacingStore>(inner_));
  ASSERT_THAT(put("Theirs", {{"pk", "a"}}), IsOk());
  reopen();
  EXPECT_EQ(get("Theirs", {{"pk", "a"}}), (Item{{"pk", "a"}})) << "hashed with another secret";
}

TEST_F(CatalogFormat, RefusesOtherFormatsAndNamesBoth) {
  for (const uint64_t other : {uint64_t{0}, uint64_t{kCatalogFormat + 1}, uint64_t{1000}}) {
    set_format(other);
    EXPECT_THAT(try_open(),
                FailsWith(Code::kCorruption, "the data has format " + std::to_string(other) +
                                                 "; this version of Stator reads formats 1 to 6"));
    EXPECT_EQ(format(), other);
  }
}

TEST_F(CatalogFormat, IsMigratedAfterAnyInterruption) {
  for (uint64_t from = kOldestFormat; from < kCatalogFormat; ++from) {
    for (int operation = 0;; ++operation) {
      SCOPED_TRACE(operation);
      set_format(from);
      faults_.fail_at(operation, {.code = Code::kIo, .message = "refused"});
      const bool opened = try_open().has_value();
      const bool has_failed = faults_.has_failed();
      faults_.mend();
      ASSERT_THAT(try_open(), IsOk());
      EXPECT_EQ(format(), kCatalogFormat);
      if (opened && !has_failed) break;
    }
  }
  reopen();
  EXPECT_THAT(put("Things", {{"pk", "a"}}), IsOk());
}

TEST_F(CatalogFormat, RefusesUnknownRows) {
  engine_.reset();
  std::string kind(1, static_cast<char>(CatalogRow::kRecord));
  for (const std::string& rest : {std::string("z"), kind + "z", std::string("dxx"),
                                  std::string("bxxxxx"), std::string("hx")}) {
    SCOPED_TRACE(rest);
    const std::string key = catalog_row_key(CatalogRow::kHeader).substr(0, kPartitionBytes) + rest;
    put_row(key, "");
    EXPECT_THAT(try_open(), FailsWith(Code::kCorruption, "unknown row in the catalog"));
    ASSERT_THAT(inner_->drop_range({.begin = key, .end = key + '\0'}), IsOk());
  }
  EXPECT_THAT(try_open(), IsOk());
}

TEST_F(CatalogFormat, RefusesUnknownMembersOfADefinition) {
  engine_.reset();
  const std::string key = catalog_row_key(CatalogRow::kTable, "Things");
  Item definition = decode_item(ItemView(row(key)));
  definition["Later"] = 1;
  put_row(key, encode_item(definition));
  EXPECT_THAT(try_open(), FailsWith(Code::kCorruption, "unknown members"));
}

TEST_F(CatalogFormat, RefusesUnknownMembersOfARecord) {
  engine_.reset();
  const std::string key = record_key(RecordKind::kBackup, "id");
  for (const char* member : {"Aaa", "Later", "Zzz"}) {
    put_row(key, encode_item({{"Name", "n"}, {member, 1}}));
    EXPECT_THAT(try_open(), FailsWith(Code::kCorruption, "unknown row in the catalog"));
  }
}

// The documentation contains all members. A change of them requires a new format; see
// kCatalogFormat.
TEST(StoredRecords, HaveTheMembersOfTheirFormat) {
  const std::string page = read_file(source_path("docs/formats/catalog.md"));
  const std::vector<std::pair<RecordKind, std::size_t>> kinds = {
      {RecordKind::kSettings, 4}, {RecordKind::kBackup, 9},  {RecordKind::kRestore, 9},
      {RecordKind::kImport, 14},  {RecordKind::kExport, 18}, {RecordKind::kBulk, 33},
      {RecordKind::kOutput, 6}};
  for (const auto& [kind, count] : kinds) {
    const auto members = record_members(kind);
    EXPECT_EQ(members.size(), count);
    EXPECT_TRUE(std::ranges::is_sorted(members));
    for (const std::string_view member : members) {
      EXPECT_TRUE(page.contains(member)) << member << " is not in docs/formats/catalog.md";
    }
  }
}

// A change of this list requires a new format; see kCatalogFormat.
TEST(StoredDefinition, HasTheMembersOfItsFormat) {
  const IndexDefinition index{.name = "i",
                              .key_schema = {{"pk", KeyType::kHash}},
                              .projection = {},
                              .throughput = Throughput{1, 1},
                              .on_demand_throughput = OnDemandThroughput{1, 1},
                              .warm_throughput = Throughput{1, 1}};
  TableDefinition definition{.settings = hash_table(), .id = "id", .created_ms = 1, .space = 16};
  CreateTableRequest& settings = definition.settings;
  settings.local_indexes = {index};
  settings.global_indexes = {index};
  definition.local_spaces = {17};
  definition.global_spaces = {18};
  settings.vector_indexes = {{{.name = "v",
                               .vector_attribute = "a",
                               .search_schema = {{"pk", SearchSchemaElementType::kHash}},
                               .projection = {},
                               .dimensions = 2}}};
  definition.vector_spaces = {21};
  settings.throughput = Throughput{1, 1};
  settings.on_demand_throughput = OnDemandThroughput{1, 1};
  settings.warm_throughput = Throughput{1, 1};
  settings.table_class = TableClass::kStandard;
  settings.deletion_protection = true;
  settings.encryption =
      EncryptionSpecification{.enabled = true, .type = EncryptionType::kKms, .key_id = "key"};
  settings.resource_policy = "{}";
  settings.stream = StreamSpecification{.enabled = true, .view = StreamViewType::kKeysOnly};
  definition.expiry = ExpiryQueue{.attribute = "a", .space = 19};
  definition.unfinished = {19};
  definition.on_demand_since_ms = 1;
  definition.table_class_changed_ms = 1;
  definition.throughput_changes.decreases_today = 1;
  definition.index_throughput_changes["i"].decreases_today = 1;
  definition.restored =
      RestoreSummary{.source_backup_arn = "b", .source_table_arn = "t", .time_ms = 1};
  definition.recovery_ms = 1;
  definition.log_space = 20;
  definition.latest_stream_ms = 1;
  const std::string bytes = encode_table(definition);
  std::vector<std::string> members;
  for (const auto& [name, value] : decode_item(ItemView(bytes))) members.push_back(name);
  EXPECT_THAT(
      members,
      ElementsAre("Attributes", "BillingMode", "CreatedMs", "DeletionProtection", "Encryption",
                  "Expiry", "GlobalIndexes", "Id", "IndexThroughputChanges", "KeySchema",
                  "LatestStreamMs", "LocalIndexes", "Log", "Name", "OnDemand", "OnDemandSinceMs",
                  "RecoveryMs", "RecoverySinceMs", "ResourcePolicy", "Restored", "Space", "Stream",
                  "TableClass", "TableClassChangedMs", "Tags", "Throughput", "ThroughputChanges",
                  "Unfinished", "VectorIndexes", "Version", "Warm"));
  EXPECT_THAT(decode_table(bytes), IsOk());
}

TEST(StoredCodes, AlwaysRepresentTheSameEnumerators) {
  const auto codes = [](auto... values) { return std::vector<int>{stored_code(values)...}; };
  EXPECT_THAT(codes(KeyType::kHash, KeyType::kRange), ElementsAre(0, 1));
  EXPECT_THAT(codes(ScalarType::kS, ScalarType::kN, ScalarType::kB), ElementsAre(0, 1, 2));
  EXPECT_THAT(codes(ProjectionType::kAll, ProjectionType::kKeysOnly, ProjectionType::kInclude),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(codes(BillingMode::kProvisioned, BillingMode::kPayPerRequest), ElementsAre(0, 1));
  EXPECT_THAT(codes(TableClass::kStandard, TableClass::kStandardInfrequentAccess),
              ElementsAre(0, 1));
  EXPECT_THAT(codes(EncryptionType::kAes256, EncryptionType::kKms), ElementsAre(0, 1));
  EXPECT_THAT(codes(StreamViewType::kNewImage, StreamViewType::kOldImage,
                    StreamViewType::kNewAndOldImages, StreamViewType::kKeysOnly),
              ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(codes(SearchSchemaElementType::kHash, SearchSchemaElementType::kInlineFilter),
              ElementsAre(0, 1));
  EXPECT_THAT(codes(VectorDistanceFunction::kCosine, VectorDistanceFunction::kDotProduct,
                    VectorDistanceFunction::kEuclidean),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(codes(TransactAction::kConditionCheck, TransactAction::kPut, TransactAction::kDelete,
                    TransactAction::kUpdate),
              ElementsAre(0, 1, 2, 3));
}

template <class E>
void expect_read_back() {
  for (std::size_t code = 0; code < kStored<E>.size(); ++code) {
    EXPECT_EQ(stored_code(kStored<E>[code]), static_cast<int>(code));
    EXPECT_EQ(from_stored<E>(static_cast<int64_t>(code)), kStored<E>[code]);
  }
  EXPECT_EQ(from_stored<E>(-1), std::nullopt);
  EXPECT_EQ(from_stored<E>(std::ssize(kStored<E>)), std::nullopt);
}

TEST(StoredCodes, AreReadBack) {
  expect_read_back<KeyType>();
  expect_read_back<ScalarType>();
  expect_read_back<ProjectionType>();
  expect_read_back<BillingMode>();
  expect_read_back<TableClass>();
  expect_read_back<EncryptionType>();
  expect_read_back<StreamViewType>();
  expect_read_back<SearchSchemaElementType>();
  expect_read_back<VectorDistanceFunction>();
}

// ---- Directories written by the first version of each format: tests/formats/README.md

constexpr int kFirstFormatOfBulkPuts = 5;
constexpr int kFirstFormatOfVectors = 6;

class WrittenDirectory : public EngineTest, public ::testing::WithParamInterface<int> {
 protected:
  WrittenDirectory() {
    engine_.reset();
    std::filesystem::copy(test::source_path("tests/formats/" + std::to_string(GetParam())),
                          directory_.path() / "data", std::filesystem::copy_options::recursive);
  }

  void expect_sound() {
    engine_.reset();
    const auto store = open_rocks_store({.path = directory_.path() / "data", .read_only = true});
    ASSERT_THAT(store, IsOk());
    const VerifyReport report = verify(**store, [](std::string_view, uint64_t, uint64_t) {});
    for (const Finding& finding : report.findings) ADD_FAILURE() << finding.message;
    EXPECT_EQ(report.tokens, 1U);
    EXPECT_GT(report.changes, 0U);
  }
  int64_t count(const std::string& table, std::optional<std::string> index = {}) {
    return must(
               call_and_wait(*engine_, &Engine::scan,
                             {.table = table, .index = std::move(index), .select = Select::kCount}))
        .count;
  }
  // The numbers of the songs, in pages of 3.
  std::vector<int64_t> songs(QueryRequest request) {
    request.table = "Music";
    request.limit = 3;
    std::vector<int64_t> songs;
    for (const Item& item : all_pages(request)) {
      songs.push_back(item.at("song").get_if<Number>()->to_int64().value());
    }
    return songs;
  }
  // Song i has artist "a(i mod 2)" and year 1900 + i; songs with even numbers have genre folk.
  void expect_right_queries() {
    for (const bool forward : {true, false}) {
      std::vector<int64_t> odd = {5, 7, 9, 11, 13, 15};
      if (!forward) std::ranges::reverse(odd);
      EXPECT_EQ(songs({.index = "byYear",
                       .key_condition = "artist = :a and #y between :b and :c",
                       .names = Names{{"#y", "year"}},
                       .values = Values{{":a", "a1"}, {":b", 1904}, {":c", 1915}},
                       .forward = forward}),
                odd);
      EXPECT_THAT(songs({.index = "byGenre",
                         .key_condition = "genre = :g",
                         .values = Values{{":g", Binary{"folk"}}},
                         .forward = forward}),
                  ::testing::UnorderedElementsAre(0, 2, 4, 6, 8, 10, 12, 14, 16, 18));
    }
  }
  // Place i is at (i, 0.5), in one of three countries, and has kind i mod 2.
  void expect_vectors() {
    const auto found = must(call_and_wait(*engine_, &Engine::search_vectors,
                                          {.table = "Places",
                                           .index = "near",
                                           .vector = {4, 0.5},
                                           .top_k = 2,
                                           .condition = "country = :c AND kind = :k",
                                           .values = Values{{":c", "b"}, {":k", 1}}}));
    ASSERT_EQ(found.items.size(), 2U);
    EXPECT_EQ(decode_item(found.items[0]),
              (Item{{"pk", "p7"}, {"country", "b"}, {"kind", 1}, {"name", "place 7"}}));
    EXPECT_THAT(found.scores, ElementsAre(3, 3));
  }
  // Song i expires at 9,000,000,000 + i seconds. The token expired long before.
  void expect_sweeps() {
    clock_.advance(std::chrono::seconds(9'000'000'007 - clock_.unix_ms() / 1000));
    EXPECT_EQ(engine_->sweep_expired(), 8U);
    EXPECT_EQ(count("Music"), 13);
    engine_->run_maintenance();
    EXPECT_TRUE(comes_true([&] {
      bool found = false;
      for (const SpaceId space : {kTokenSpace, kTokenExpirySpace}) {
        EXPECT_THAT(read_range(engine_->store(), {.range = space_range(space)},
                               [&](std::string_view, std::string_view) { return !(found = true); }),
                    IsOk());
      }
      return !found;
    }));
  }
  Item call(const admin::Operation& operation, const Item& request) {
    return must(engine_->administer(operation, request));
  }
};

TEST_P(WrittenDirectory, IsReadMigratedAndWritten) {
  expect_sound();
  open_directory();
  const TableDescription music = must(engine_->describe_table({.table = "Music"})).table;
  EXPECT_EQ(music.item_count, 20);
  ASSERT_EQ(music.local_indexes.size(), 1U);
  EXPECT_EQ(music.local_indexes[0].definition.projection.type, ProjectionType::kKeysOnly);
  ASSERT_EQ(music.global_indexes.size(), 1U);
  EXPECT_EQ(music.global_indexes[0].definition.projection.type, ProjectionType::kInclude);
  EXPECT_EQ(music.stream->view, StreamViewType::kOldImage);
  EXPECT_EQ(count("Music"), 20);
  EXPECT_EQ(count("Music", "byYear"), 20);
  EXPECT_EQ(count("Music", "byGenre"), 10);
  expect_right_queries();
  EXPECT_EQ(get("Music", {{"artist", "a1"}, {"song", Number::parse("3").value()}})->at("title"),
            AttributeValue("title 3"));
  EXPECT_EQ(must(engine_->describe_time_to_live({.table = "Music"})).attribute, "expires");
  EXPECT_EQ(must(engine_->list_streams({})).streams.size(), 1U);
  const Item backups = call(admin::kListBackups, {{"BackupType", "ALL"}});
  const List& summaries = list_of(backups, "BackupSummaries");
  ASSERT_EQ(summaries.size(), 2U) << "one of Plain, and the last one of a table that was dropped";
  for (const AttributeValue& summary : summaries) {
    const std::string target = "From" + text_of(as_map(summary), "TableName");
    call(admin::kRestoreTableFromBackup,
         {{"BackupArn", text_of(as_map(summary), "BackupArn")}, {"TargetTableName", target}});
    wait_for_table(target);
    EXPECT_EQ(count(target), 1);
  }
  EXPECT_EQ(text_of(as_map(list_of(call(admin::kListTagsOfResource, {{"ResourceArn", music.arn}}),
                                   "Tags")[0]),
                    "Key"),
            "team");
  if (GetParam() >= kFirstFormatOfVectors) expect_vectors();
  ASSERT_THAT(put("Music", {{"artist", "a1"}, {"song", 1000}, {"year", 2000}}), IsOk());
  expect_sound();
  open_directory();
  EXPECT_EQ(must(engine_->describe_table({.table = "Music"})).table.item_count, 21);
  expect_sweeps();
}

INSTANTIATE_TEST_SUITE_P(Formats, WrittenDirectory,
                         ::testing::Range(static_cast<int>(kOldestFormat),
                                          static_cast<int>(kCatalogFormat) + 1));

// Directories with jobs that had begun when the process was killed: an export and a restore of
// Plain from before its third item, and from format 5 on a bulk put operation with
// 10,002 invalid lines, of which a file of its report has 10,000. From format 4 on, the log of
// Logged was trimmed.
class WrittenJobs : public EngineTest, public ::testing::WithParamInterface<int> {
 protected:
  WrittenJobs() {
    engine_.reset();
    std::filesystem::copy(
        test::source_path("tests/formats/" + std::to_string(GetParam()) + "-jobs"),
        directory_.path() / "data", std::filesystem::copy_options::recursive);
    const auto bucket = directory_.path() / "buckets" / "bucket";
    std::filesystem::create_directories(bucket / "in");
    std::ofstream input(bucket / "in" / "items");
    input << R"({"Item": {"pk": {"S": "d"}}})" << '\n';
    for (int i = 0; i < 10'002; ++i) {
      input << R"({"Item": {"other": {"S": "e"}}})" << '\n';
    }
  }
  ~WrittenJobs() override { engine_.reset(); }

  bool has_pins() const { return GetParam() >= static_cast<int>(kFirstFormatOfPins); }
  bool has_bulk_puts() const { return GetParam() >= kFirstFormatOfBulkPuts; }

  std::unique_ptr<TransactStore> open_to_read() {
    engine_.reset();
    return must(open_rocks_store({.path = directory_.path() / "data", .read_only = true}));
  }
  void open_with_buckets() {
    auto opened = Engine::open(must(open_rocks_store({.path = directory_.path() / "data"})),
                               {.clock = &clock_,
                                .buckets = directory_.path() / "buckets",
                                .sweep_interval = {},
                                .maintenance_interval = {}});
    ASSERT_THAT(opened, IsOk());
    engine_ = std::move(*opened);
  }
  static Item only_record(TransactStore& store, RecordKind kind) {
    const auto records = must(Records(store).list(kind));
    EXPECT_EQ(records.size(), 1U);
    return records.empty() ? Item() : records.begin()->second;
  }
  static std::vector<std::string> members_of(const Item& record) {
    std::vector<std::string> members;
    for (const auto& [name, value] : record) members.push_back(name);
    return members;
  }
  static std::vector<Pins> stored_pins(TransactStore& store) {
    std::vector<Pins> pins;
    const std::string begin = catalog_row_key(CatalogRow::kPins);
    EXPECT_THAT(read_range(store, {.range = {.begin = begin, .end = prefix_end(begin)}},
                           [&](std::string_view, std::string_view value) {
                             pins.push_back(must(decode_pins(std::string(value))));
                             return true;
                           }),
                IsOk());
    return pins;
  }
  static void expect_sound(TransactStore& store) {
    const VerifyReport report = verify(store, [](std::string_view, uint64_t, uint64_t) {});
    for (const Finding& finding : report.findings) ADD_FAILURE() << finding.message;
  }

  // The data contains what its format added.
  void expect_additions(TransactStore& store) {
    EXPECT_THAT(members_of(only_record(store, RecordKind::kRestore)),
                IsSupersetOf({"Log", "StampLimit", "TimeMs"}));
    EXPECT_THAT(members_of(only_record(store, RecordKind::kExport)), Contains("StampLimit"));
    const std::vector<Pins> pins = stored_pins(store);
    EXPECT_EQ(std::ranges::count_if(pins, [](const Pins& of) { return of.records.size() == 2; }),
              has_pins() ? 2 : 0)
        << "of the table and its log, for the two jobs";
    EXPECT_EQ(std::ranges::count_if(pins, [](const Pins& of) { return of.given_up_before > 0; }),
              has_pins() ? 1 : 0);
    if (!has_bulk_puts()) return;
    EXPECT_THAT(members_of(only_record(store, RecordKind::kBulk)),
                IsSupersetOf({"ErrorFirst", "ErrorNext", "Failed"}));
    EXPECT_EQ(must(Records(store).list(RecordKind::kOutput)).size(), 3U) << "two lines and a file";
  }
};

TEST_P(WrittenJobs, EndAfterAMigration) {
  expect_additions(*open_to_read());
  expect_sound(*open_to_read());
  open_with_buckets();
  ASSERT_TRUE(comes_true([&] { return engine_->stats().jobs == 0; }));
  EXPECT_EQ(must(engine_->describe_table({.table = "Restored"})).table.status,
            TableStatus::kActive);
  EXPECT_TRUE(get("Restored", {{"pk", "b"}}));
  EXPECT_FALSE(get("Restored", {{"pk", "c"}})) << "it was written later";
  EXPECT_TRUE(get("Plain", {{"pk", "c"}}));
  const Item exported = only_record(engine_->store(), RecordKind::kExport);
  EXPECT_EQ(text_of(exported, "Status"), "COMPLETED");
  EXPECT_EQ(integer_of(exported, "Items"), 2);
  if (has_bulk_puts()) {
    const Item bulk = only_record(engine_->store(), RecordKind::kBulk);
    EXPECT_EQ(text_of(bulk, "Status"), "COMPLETED_WITH_ERRORS");
    EXPECT_EQ(integer_of(bulk, "ErrorFiles"), 2);
    EXPECT_EQ(integer_of(bulk, "Failed"), 10'002);
    EXPECT_TRUE(get("Plain", {{"pk", "d"}}));
  }
  const auto store = open_to_read();
  expect_sound(*store);
  const std::vector<Pins> pins = stored_pins(*store);
  ASSERT_EQ(pins.size(), has_pins() ? 1U : 0U) << "the jobs have ended";
  for (const Pins& of : pins) EXPECT_GT(of.given_up_before, 0U);
}

INSTANTIATE_TEST_SUITE_P(Formats, WrittenJobs, ::testing::Values(2, 4, 5, 6));

}  // namespace
}  // namespace stator::test
