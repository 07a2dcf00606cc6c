// SPDX-License-Identifier: Apache-2.0
// Backups and restores that an earlier process began.
#include "engine/jobs/backup_job.h"

#include <functional>

#include "engine/admin/administration.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/pins.h"
#include "engine/catalog/records.h"
#include "engine/testing/engine_harness.h"
#include "support/must.h"

namespace stator::test {
namespace {

class Backups : public EngineTest {
 protected:
  Backups() {
    open_directory();
    CreateTableRequest songs = range_table("Songs");
    songs.attributes = {{"pk", ScalarType::kS}, {"sk", ScalarType::kN}, {"genre", ScalarType::kS}};
    songs.global_indexes = {index_on("byGenre", {{"genre", KeyType::kHash}})};
    create(songs);
    for (int i = 0; i < 900; ++i) {
      EXPECT_THAT(put("Songs", {{"pk", "a" + std::to_string(i % 5)},
                                {"sk", i},
                                {"genre", i % 2 == 0 ? "folk" : "blues"}}),
                  IsOk());
    }
  }

  std::string create_backup() {
    const auto created =
        engine_->administer(admin::kCreateBackup, {{"TableName", "Songs"}, {"BackupName", "Copy"}});
    EXPECT_THAT(created, IsOk());
    return text_of(map_of(*created, "BackupDetails"), "BackupArn");
  }
  // Returns "CREATING", "AVAILABLE", or "" if the backup does not exist.
  std::string status(const std::string& arn) {
    const auto described = engine_->administer(admin::kDescribeBackup, {{"BackupArn", arn}});
    if (!described) return "";
    return text_of(map_of(map_of(*described, "BackupDescription"), "BackupDetails"),
                   "BackupStatus");
  }
  void wait_for_backup(const std::string& arn) {
    ASSERT_TRUE(comes_true([&] { return status(arn) != "CREATING"; }));
  }
  int64_t count(const std::string& table, std::optional<std::string> index = {}) {
    const auto page =
        call_and_wait(*engine_, &Engine::scan,
                      {.table = table, .index = std::move(index), .select = Select::kCount});
    EXPECT_THAT(page, IsOk());
    return page->count;
  }
  // Changes a record to a state that an earlier process could have left.
  void change(const std::string& key, const std::function<void(Item&)>& change) {
    EXPECT_THAT(Records(engine_->store())
                    .change(key,
                            [&](Item& record) -> Result<void> {
                              change(record);
                              return {};
                            }),
                IsOk());
  }
  static std::string backup_key(const std::string& arn) {
    return record_key(RecordKind::kBackup, arn.substr(arn.rfind('/') + 1));
  }
  static TableDefinition definition_in(const Item& backup) {
    return must(decode_table(backup.at("Definition").get_if<Binary>()->bytes));
  }
};

TEST_F(Backups, AnInterruptedBackupIsTakenAgain) {
  const std::string arn = create_backup();
  wait_for_backup(arn);
  change(backup_key(arn), [](Item& record) { record["Status"] = "CREATING"; });
  ASSERT_THAT(put("Songs", {{"pk", "late"}, {"sk", 1}}), IsOk());
  open_directory();
  wait_for_backup(arn);
  EXPECT_EQ(status(arn), "AVAILABLE");
  ASSERT_THAT(engine_->administer(admin::kRestoreTableFromBackup,
                                  {{"BackupArn", arn}, {"TargetTableName", "Again"}}),
              IsOk());
  wait_for_table("Again");
  EXPECT_EQ(count("Again"), 901);
}

TEST_F(Backups, AnInterruptedBackupOfADroppedTableIsDeleted) {
  const std::string arn = create_backup();
  wait_for_backup(arn);
  change(backup_key(arn), [](Item& record) { record["Status"] = "CREATING"; });
  ASSERT_THAT(engine_->delete_table({.table = "Songs"}), IsOk());
  open_directory();
  EXPECT_TRUE(comes_true([&] { return status(arn).empty(); }));
}

TEST_F(Backups, AnInterruptedRestorationResumes) {
  const std::string arn = create_backup();
  wait_for_backup(arn);
  // A restore whose record is durable, and which has copied half of the rows.
  const Item kept = must(Records(engine_->store()).get(backup_key(arn)));
  TableDefinition definition = definition_in(kept);
  const auto from = static_cast<SpaceId>(integer_of(kept, "Space"));
  std::vector<std::pair<std::string, std::string>> rows;
  ASSERT_THAT(read_range(engine_->store(), {.range = space_range(from)},
                         [&](std::string_view key, std::string_view value) {
                           rows.emplace_back(key, value);
                           return true;
                         }),
              IsOk());
  ASSERT_EQ(rows.size(), 900U);
  definition.settings.table = "Half";
  definition.id = "4fd3b6f4-2f3c-4a53-8d3a-1d2c5a0e7f10";
  constexpr SpaceId kSpace = 1000;
  definition.space = kSpace;
  definition.global_spaces = {kSpace + 1};
  change(record_key(RecordKind::kRestore, "Half"), [&](Item& record) {
    record = Item{{"Backup", arn},
                  {"From", from},
                  {"Definition", Binary{encode_table(definition)}},
                  {"Position", Binary{rows[449].first}}};
  });
  open_directory();
  wait_for_table("Half");
  // Rows before the position count as copied by the earlier process.
  EXPECT_EQ(count("Half"), 450);
  EXPECT_EQ(count("Half", "byGenre"), 450);
  open_directory();
  EXPECT_EQ(count("Half"), 450);
}

TEST_F(Backups, ATableThatIsBeingRestoredHasItsNameAndNothingElse) {
  const std::string arn = create_backup();
  wait_for_backup(arn);
  const Item kept = must(Records(engine_->store()).get(backup_key(arn)));
  TableDefinition definition = definition_in(kept);
  definition.settings.table = "Waiting";
  definition.space = 1000;
  definition.global_spaces = {1001};
  // The restore of an import that no job resumes, so it cannot end. It pins the backup.
  const std::string waiting = record_key(RecordKind::kRestore, "Waiting");
  const int64_t from = integer_of(kept, "Space");
  change(waiting, [&](Item& record) {
    record = Item{{"Backup", arn},
                  {"From", from},
                  {"Import", "none"},
                  {"Definition", Binary{encode_table(definition)}}};
  });
  Batch pins;
  put_pins(pins, static_cast<SpaceId>(from), {.records = {{std::string(pin_name(waiting)), 0}}});
  ASSERT_EQ(write_and_wait(engine_->store(), std::move(pins)).outcome, CommitOutcome::kCommitted);
  open_directory();
  EXPECT_THAT(engine_->create_table(hash_table("Waiting")),
              FailsWith(Code::kResourceInUse, "Waiting"));
  EXPECT_THAT(engine_->delete_table({.table = "Waiting"}),
              FailsWith(Code::kResourceInUse, "Table is being created: Waiting"));
  EXPECT_THAT(call_and_wait(*engine_, &Engine::get_item,
                            {.table = "Waiting", .key = {{"pk", "a"}, {"sk", 1}}}),
              FailsWith(Code::kResourceNotFound, ""));
  const auto listed = engine_->list_tables({});
  ASSERT_THAT(listed, IsOk());
  EXPECT_THAT(listed->tables, ::testing::ElementsAre("Songs", "Waiting"));
  EXPECT_THAT(engine_->administer(admin::kDeleteBackup, {{"BackupArn", arn}}),
              FailsWith(Code::kBackupInUse, arn));
}

}  // namespace
}  // namespace stator::test
