// SPDX-License-Identifier: Apache-2.0
// The engine writes rows of the current format. The test changes their keys to those of format 2. A
// startup must restore each row, no matter where earlier startups stopped.
#include "engine/catalog/migration.h"

#include <future>
#include <map>

#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/pins.h"
#include "engine/catalog/records.h"
#include "engine/jobs/job_engine.h"
#include "engine/rows/time_queue.h"
#include "engine/testing/engine_harness.h"
#include "engine/testing/faulty_store.h"
#include "engine/verify/verify.h"
#include "support/must.h"

namespace stator::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Rows = std::map<std::string, std::string>;
constexpr uint64_t kOldFormat = 2;
constexpr SpaceId kMusic = kFirstTableSpace;
constexpr SpaceId kByYear = kFirstTableSpace + 1;
constexpr SpaceId kByGenre = kFirstTableSpace + 2;

// Returns the rows, except those of versions: each change of the format increases them.
Rows rows_of(TransactStore& store, const KeyRange& range = {}) {
  Rows rows;
  const std::string versions = catalog_row_key(CatalogRow::kVersion);
  EXPECT_THAT(read_range(store, {.range = range},
                         [&](std::string_view key, std::string_view value) {
                           if (!key.starts_with(versions)) rows.emplace(key, value);
                           return true;
                         }),
              IsOk());
  return rows;
}

void write_rows(TransactStore& store, const Rows& rows) {
  Batch batch;
  for (const auto& [key, value] : rows) batch.put(key, value);
  ASSERT_EQ(write_and_wait(store, std::move(batch)).outcome, CommitOutcome::kCommitted);
}

std::shared_ptr<TransactStore> store_of(const Rows& rows) {
  std::shared_ptr<TransactStore> store = make_memory_store();
  write_rows(*store, rows);
  return store;
}

// Rejects blind writes after the first few, and measures them.
class CountedStore final : public ForwardingStore {
 public:
  explicit CountedStore(std::shared_ptr<TransactStore> inner, int writes_max = INT32_MAX)
      : ForwardingStore(std::move(inner)), left_(writes_max) {}
  void write(Batch batch, CommitDone done, SchemaVersions expected) override {
    if (left_-- == 0) {
      return done({.outcome = CommitOutcome::kUnavailable,
                   .error = {.code = Code::kIo, .message = "refused"}});
    }
    std::size_t bytes = 0;
    for (const Write& write : batch.writes()) {
      bytes += write.key.size() + (write.value ? write.value->size() : 0);
    }
    most_bytes_ = std::max(most_bytes_, bytes);
    inner_->write(std::move(batch), std::move(done), expected);
  }
  std::size_t most_bytes() const { return most_bytes_; }

 private:
  int left_;
  std::size_t most_bytes_ = 0;
};

class MigrationTest : public EngineTest {
 protected:
  // Creates two indexes, one of them of several megabytes, a TTL queue and tokens.
  MigrationTest() {
    engine_.reset();
    std::shared_ptr<TransactStore> store = make_memory_store();
    open(std::make_unique<ForwardingStore>(store));
    CreateTableRequest music = range_table("Music");
    music.attributes = {{"pk", ScalarType::kS},
                        {"sk", ScalarType::kN},
                        {"genre", ScalarType::kS},
                        {"year", ScalarType::kN}};
    music.local_indexes = {index_on("byYear", {{"pk", KeyType::kHash}, {"year", KeyType::kRange}},
                                    {.type = ProjectionType::kKeysOnly})};
    music.global_indexes = {index_on(
        "byGenre", {{"genre", KeyType::kHash}, {"year", KeyType::kRange}, {"pk", KeyType::kRange}},
        {.type = ProjectionType::kAll})};
    create(music);
    EXPECT_THAT(engine_->update_time_to_live(
                    {.table = "Music", .specification = {.enabled = true, .attribute = "expires"}}),
                IsOk());
    for (int i = 0; i < 700; ++i) {
      Item item{{"pk", "artist " + std::to_string(i % 7)}, {"sk", i}, {"expires", 2'000'000'000}};
      if (i % 3 != 0) item["year"] = 1900 + i % 5;
      if (i % 4 != 0) item["genre"] = i % 5 == 0 ? "folk" : "blues";
      item["text"] = std::string(5000, 'x');
      EXPECT_THAT(put("Music", item), IsOk());
    }
    for (int i = 0; i < 20; ++i) {
      EXPECT_THAT(transact({.items = {{.action = TransactAction::kPut,
                                       .table = "Music",
                                       .item = {{"pk", "token"}, {"sk", i}}}},
                            .client_request_token = "token " + std::to_string(i)}),
                  IsOk());
    }
    EXPECT_TRUE(comes_true([&] { return engine_->stats().jobs == 0; }));
    const TablePtr table = *engine_->parts().catalog->snapshot()->find("Music");
    queue_ = table->expiry()->space;
    secret_ = table->secret();
    engine_.reset();
    current_ = rows_of(*store);
    old_ = with_old_keys(*table);
  }
  ~MigrationTest() override { engine_.reset(); }

  // docs/formats/catalog.md describes format 2.
  Rows with_old_keys(const Table& table) const {
    Rows old;
    for (const auto& [key, value] : current_) {
      const auto space = static_cast<SpaceId>(read_big_endian(key.substr(0, sizeof(SpaceId))));
      std::string moved = key;
      if (space == kByYear || space == kByGenre) {
        moved.resize(key.size() - sizeof(Hash128));
        for (const char* name : {"pk", "sk"}) {
          append_key_component(moved, *ItemView(value).find(name));
        }
      } else if (space == queue_ || space == kTokenExpirySpace) {
        moved[sizeof(SpaceId)] = '\0';
      }
      old.emplace(std::move(moved), value);
    }
    old[catalog_row_key(CatalogRow::kHeader)] =
        encode_catalog_header({.format = kOldFormat, .secret = table.secret()});
    return old;
  }

  Result<std::unique_ptr<Engine>> try_open(const std::shared_ptr<TransactStore>& store) {
    return std::async(
               std::launch::async,
               [&] {
                 return Engine::open(
                     std::make_unique<FaultyStore>(faults_, store),
                     {.clock = &clock_,
                      .report = [&](LogLevel, const std::string& line) { lines_.push_back(line); },
                      .sweep_interval = {},
                      .maintenance_interval = {}});
               })
        .get();
  }
  // After a clean shutdown, the store must have exactly the rows of the current format.
  void expect_migrated(const std::shared_ptr<TransactStore>& store) {
    ASSERT_THAT(try_open(store), IsOk());
    EXPECT_EQ(rows_of(*store), current_);
  }
  static std::vector<std::string> findings(TransactStore& store) {
    std::vector<std::string> lines;
    for (const Finding& finding :
         verify(store, [](std::string_view, uint64_t, uint64_t) {}).findings) {
      lines.push_back(finding.message);
    }
    return lines;
  }

  Faults faults_;
  std::vector<std::string> lines_;
  SpaceId queue_ = 0;
  Hash128 secret_ = {};
  Rows current_;
  Rows old_;
};

TEST_F(MigrationTest, MovesEveryRowToItsKey) {
  ASSERT_NE(old_, current_);
  const auto store = store_of(old_);
  EXPECT_THAT(findings(*store), IsEmpty()) << "verify knows the older keys";
  expect_migrated(store);
  EXPECT_THAT(findings(*store), IsEmpty());
  EXPECT_THAT(lines_, Contains(HasSubstr("migrating the data to format 6")));
  lines_.clear();
  expect_migrated(store);
  EXPECT_THAT(lines_, IsEmpty()) << "there is nothing to do";
}

TEST_F(MigrationTest, ResumesAfterAFailureOfAnyOperation) {
  int unfinished = 0;
  for (int operation = 0;; ++operation) {
    SCOPED_TRACE(operation);
    const auto store = store_of(old_);
    faults_.fail_at(operation, {.code = Code::kIo, .message = "refused"});
    const bool opened = try_open(store).has_value();
    const bool has_failed = faults_.has_failed();
    faults_.mend();
    const Rows between = rows_of(*store);
    if (between.contains(catalog_row_key(CatalogRow::kMigration))) {
      ++unfinished;
      EXPECT_FALSE(opened);
      EXPECT_THAT(findings(*store),
                  ElementsAre(HasSubstr("the migration to format 6 is unfinished")));
    }
    // An older version reads only the header, so no row may move before the header changes.
    const std::string header = between.at(catalog_row_key(CatalogRow::kHeader));
    if (must(read_catalog_header(header)).format == kOldFormat) {
      EXPECT_EQ(between, old_);
    }
    expect_migrated(store);
    if (opened && !has_failed) break;
  }
  EXPECT_GT(unfinished, 10) << "several batches of several spaces";
}

TEST_F(MigrationTest, AdvancesWithEachStart) {
  const auto store = store_of(old_);
  std::vector<std::string> positions;
  CatalogHeader header{.format = kOldFormat, .secret = secret_};
  for (int start = 0; start < 100; ++start) {
    CountedStore one_batch(store, 1);
    if (migrate_rows(one_batch, header, {})) break;
    header.format = kCatalogFormat;
    positions.push_back(rows_of(*store).at(catalog_row_key(CatalogRow::kMigration)));
  }
  EXPECT_GT(positions.size(), 4U);
  for (std::size_t i = 1; i < positions.size(); ++i) EXPECT_LT(positions[i - 1], positions[i]);
  expect_migrated(store);
}

TEST_F(MigrationTest, DoesNotReadAgainRowsThatAnEarlierStartMoved) {
  const auto store = store_of(old_);
  CountedStore three_batches(store, 3);
  ASSERT_THAT(migrate_rows(three_batches, {.format = kOldFormat, .secret = secret_}, {}),
              FailsWith(Code::kIo, "refused"));
  const std::string position = rows_of(*store).at(catalog_row_key(CatalogRow::kMigration));
  const KeyRange entries{.begin = space_range(kByYear).begin, .end = space_range(kByGenre).end};
  ASSERT_GT(position, entries.begin);
  expect_migrated(store);
  const auto scans = faults_.take_scans(entries);
  ASSERT_FALSE(scans.empty());
  for (const KeyRange& scan : scans) EXPECT_GT(scan.begin, position);
}

TEST_F(MigrationTest, CommitsBoundedBatches) {
  CountedStore store(store_of(old_));
  ASSERT_THAT(migrate_rows(store, {.format = kOldFormat, .secret = secret_}, {}), IsOk());
  EXPECT_GT(store.most_bytes(), 900'000U);
  EXPECT_LT(store.most_bytes(), 1'500'000U) << "a megabyte, the erased keys, and one more row";
}

TEST_F(MigrationTest, MovesTheEntriesOfATableThatIsBeingRestored) {
  const auto as_restoring = [](Rows rows) {
    auto table = rows.extract(catalog_row_key(CatalogRow::kTable, "Music"));
    rows[record_key(RecordKind::kRestore, "Music")] =
        encode_item({{"Definition", Binary{table.mapped()}}, {"From", 99}});
    rows[catalog_row_key(CatalogRow::kHeader)] = "";
    return rows;
  };
  const auto store = store_of(as_restoring(old_));
  write_rows(*store, {{catalog_row_key(CatalogRow::kHeader),
                       encode_catalog_header({.format = kOldFormat, .secret = secret_})}});
  ASSERT_THAT(migrate_rows(*store, {.format = kOldFormat, .secret = secret_}, {}), IsOk());
  Rows rows = rows_of(*store);
  rows[catalog_row_key(CatalogRow::kHeader)] = "";
  EXPECT_EQ(rows, as_restoring(current_));
}

// In older formats, the pins of a job are only in its record.
TEST_F(MigrationTest, PinsTheHistoryForJobsOfOlderFormats) {
  const auto job = [](int64_t commit_version) {
    return encode_item({{"From", kMusic}, {"Log", 99}, {"Stamp", commit_version}});
  };
  for (const uint64_t older : {kOldFormat, uint64_t{kFirstFormatOfPins - 1}}) {
    Rows rows = older == kOldFormat ? old_ : current_;
    rows[catalog_row_key(CatalogRow::kHeader)] =
        encode_catalog_header({.format = older, .secret = secret_});
    rows[record_key(RecordKind::kExport, "one")] = job(7);
    rows[record_key(RecordKind::kRestore, "Two")] = job(0);
    rows[record_key(RecordKind::kExport, "ended")] = encode_item({{"Status", "COMPLETED"}});
    rows[catalog_row_key(CatalogRow::kTable, "Music")] =
        current_.at(catalog_row_key(CatalogRow::kTable, "Music"));
    rows[record_key(RecordKind::kRestore, "Three")] =
        encode_item({{"From", kMusic}, {"Backup", "its ARN"}});
    for (const char* name : {"Two", "Three"}) {
      auto& restored = rows[record_key(RecordKind::kRestore, name)];
      Item record = decode_item(ItemView(restored));
      record["Definition"] = Binary{rows.at(catalog_row_key(CatalogRow::kTable, "Music"))};
      restored = encode_item(record);
    }
    const auto store = store_of(rows);
    ASSERT_THAT(migrate_rows(*store, {.format = older, .secret = secret_}, {}), IsOk());
    const Rows migrated = rows_of(*store);
    const auto pins = [&](SpaceId space) {
      return must(decode_pins(migrated.at(pins_key(space)))).records;
    };
    using Expected = decltype(Pins::records);
    EXPECT_EQ(pins(kMusic), (Expected{{"eone", 0}, {"rThree", 0}, {"rTwo", 0}}));
    EXPECT_EQ(pins(99), (Expected{{"eone", 7}, {"rTwo", 0}}));
    EXPECT_EQ(migrated.at(catalog_row_key(CatalogRow::kHeader)),
              current_.at(catalog_row_key(CatalogRow::kHeader)));
  }
}

// Format 3 has the same keys as the current format.
TEST_F(MigrationTest, MovesNothingInFormat3) {
  Rows rows = current_;
  rows[catalog_row_key(CatalogRow::kHeader)] =
      encode_catalog_header({.format = kFirstFormatOfKeys, .secret = secret_});
  const auto store = store_of(rows);
  CountedStore no_batches(store, 0);
  ASSERT_THAT(migrate_rows(no_batches, {.format = kFirstFormatOfKeys, .secret = secret_}, {}),
              IsOk());
  expect_migrated(store);
}

TEST_F(MigrationTest, LeavesDamagedRowsToVerify) {
  const auto store = store_of(old_);
  const std::string key = rows_of(*store, space_range(kByYear)).begin()->first;
  write_rows(*store, {{key, "no item"}});
  ASSERT_THAT(try_open(store), IsOk());
  EXPECT_THAT(lines_, Contains("1 rows of table 'Music', index 'byYear' are damaged and were not "
                               "migrated; run 'stator verify'"));
  EXPECT_TRUE(rows_of(*store).contains(key));
  EXPECT_THAT(findings(*store), Contains(HasSubstr("is damaged")));
}

TEST_F(MigrationTest, WritesNothingIfADefinitionIsDamaged) {
  Rows damaged = old_;
  damaged[catalog_row_key(CatalogRow::kTable, "Music")] = "no definition";
  const auto store = store_of(damaged);
  EXPECT_THAT(try_open(store), FailsWith(Code::kCorruption, "damaged"));
  EXPECT_EQ(rows_of(*store), damaged);
}

}  // namespace
}  // namespace stator::test
