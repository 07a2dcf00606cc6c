// SPDX-License-Identifier: Apache-2.0
// The parts of `stator copy`: scans in segments, items, comparisons, definitions, checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <set>

#include "api/admin/document.h"
#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "cli/compare_items.h"
#include "cli/copy_checkpoint.h"
#include "cli/copy_definition.h"
#include "cli/copy_items.h"
#include "cli/pace.h"
#include "cli/table_access.h"
#include "stator/database.h"
#include "support/fake_time.h"
#include "support/faulty_client.h"
#include "support/matchers.h"
#include "support/must.h"
#include "support/temp_dir.h"

namespace stator::cli {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const CreateTableRequest kTable = {.table = "Tab",
                                   .attributes = {{"pk", ScalarType::kS}},
                                   .key_schema = {{"pk", KeyType::kHash}},
                                   .billing_mode = BillingMode::kPayPerRequest};

Item numbered(int i) {
  return {{"pk", "k" + std::to_string(i)}, {"n", i}};
}

void put(Client& client, const Item& item) {
  must(client.put_item({.table = "Tab", .item = item}));
}

std::string describe(const ItemDifference& difference) {
  static const char* const kNames[] = {"missing", "extra", "changed"};
  return std::string(kNames[static_cast<int>(difference.kind)]) + " " +
         *difference.key.at("pk").get_if<std::string>();
}

// Two databases in memory, each with an empty table.
class CopyItems : public testing::Test {
 protected:
  CopyItems() {
    for (Database* database : {&source_, &target_}) must(database->create_table(kTable));
  }

  void fill(int items) {
    for (int i = 0; i < items; ++i) put(source_, numbered(i));
  }
  TablePair tables() { return {from_, "Tab", to_, "Tab"}; }
  Result<void> copy(ScanPositions positions = ScanPositions(4), CopyOptions options = {}) {
    if (!options.advanced) {
      options.advanced = [this](const ScanPositions& reached) {
        reached_ = reached;
        return Result<void>();
      };
    }
    return copy_items(tables(), kTable.key_schema, std::move(positions), options);
  }
  Comparison compare(const std::string& time_to_live = "") {
    differences_.clear();
    return must(compare_items(
        tables(),
        {.segments = 3,
         .key_schema = kTable.key_schema,
         .time_to_live = time_to_live,
         .differs = [this](const ItemDifference& one) { differences_.push_back(describe(one)); },
         .advanced = [](const std::string&, int64_t) {}}));
  }
  int64_t items_in_target() {
    return must(target_.describe_table({.table = "Tab"})).table.item_count;
  }

  Database source_ = must(Database::open());
  Database target_ = must(Database::open());
  FaultyClient from_{source_};
  FaultyClient to_{target_};
  ScanPositions reached_;
  std::vector<std::string> differences_;
};

TEST_F(CopyItems, CopiesAllAndReportsEverySegmentAsEnded) {
  fill(300);
  EXPECT_THAT(copy(), IsOk());
  EXPECT_EQ(items_in(reached_), 300);
  for (const SegmentPosition& segment : reached_) EXPECT_TRUE(segment.ended);
  const Comparison compared = compare();
  EXPECT_EQ(compared.target_items, 300);
  EXPECT_EQ(compared.differences, 0);
}

TEST_F(CopyItems, SendsUnprocessedItemsAgain) {
  fill(100);
  to_.process_at_most(7);
  EXPECT_THAT(copy(), IsOk());
  EXPECT_EQ(items_in_target(), 100);
}

TEST_F(CopyItems, RepeatsRequestsWithoutAResponse) {
  fill(60);
  // More failures than write_batch() repeats by itself.
  to_.first("BatchWriteItem", 5, lose_reply());
  from_.first("Scan", 3, refuse(Code::kUnavailable));
  EXPECT_THAT(copy(ScanPositions(1)), IsOk());
  EXPECT_EQ(compare().differences, 0);
}

TEST_F(CopyItems, NamesTheItemThatTheTargetRejectsAndStopsAllSegments) {
  fill(200);
  std::atomic<bool> rejected = false;
  to_.before([&](std::string_view operation, int) {
    // All but the first batch would be repeated for minutes.
    if (operation != "BatchWriteItem") return refuse({.code = Code::kValidation, .message = "no"});
    if (rejected.exchange(true)) return refuse(Code::kUnavailable);
    return refuse(Code::kValidation);
  });
  const auto copied = copy();
  EXPECT_THAT(copied,
              FailsWith(Code::kValidation, R"(target: the target rejects the item {"pk":{"S":")"));
  EXPECT_THAT(copied, FailsWith(Code::kValidation, R"("}}: no)"));
  EXPECT_EQ(items_in(reached_), 0);
}

TEST_F(CopyItems, ResumesAfterTheLastPageOfEachSegment) {
  fill(400);
  std::stop_source stop;
  // With a rate, pages are small, so that the copy stops in the middle of each segment.
  const CopyOptions until_stopped{.rate = 200, .stop = stop.get_token(), .advanced = {}};
  to_.after([&](std::string_view) {
    if (to_.sent("BatchWriteItem") >= 6) stop.request_stop();
  });
  EXPECT_THAT(copy(ScanPositions(2), until_stopped), FailsWith(Code::kCancelled, "stopped"));
  const int64_t before = items_in(reached_);
  ASSERT_GT(before, 0);
  ASSERT_LT(before, 400);
  EXPECT_GE(items_in_target(), before);

  // Only items after the positions are read again.
  must(target_.delete_table({.table = "Tab"}));
  must(target_.create_table(kTable));
  EXPECT_THAT(copy(reached_), IsOk());
  EXPECT_EQ(items_in(reached_), 400);
  EXPECT_EQ(items_in_target(), 400 - before);
}

TEST_F(CopyItems, StopsIfThePositionsCannotBeSaved) {
  fill(100);
  EXPECT_THAT(copy(ScanPositions(2), {.advanced = [](const ScanPositions&) -> Result<void> {
                     return fail(Code::kIo, "no space");
                   }}),
              FailsWith(Code::kIo, "no space"));
}

TEST_F(CopyItems, AnEndedSegmentIsNotReadAgain) {
  fill(10);
  EXPECT_THAT(copy({SegmentPosition{.items = 10, .ended = true}}), IsOk());
  EXPECT_EQ(from_.sent("Scan"), 0);
  EXPECT_EQ(items_in(reached_), 10);
}

TEST_F(CopyItems, ComparisonFindsEachDifference) {
  fill(250);
  ASSERT_THAT(copy(), IsOk());
  put(target_, {{"pk", "k17"}, {"n", "17"}});
  must(target_.delete_item({.table = "Tab", .key = {{"pk", "k101"}}}));
  put(target_, numbered(999));
  const Comparison compared = compare();
  EXPECT_EQ(compared.differences, 3);
  EXPECT_EQ(compared.source_items, 250);
  EXPECT_EQ(compared.target_items, 250);
  EXPECT_THAT(differences_, UnorderedElementsAre("changed k17", "missing k101", "extra k999"));
}

// The numbers of items are equal, and sums of hashes of single attributes would be equal too.
TEST_F(CopyItems, ComparisonFindsSwappedAttributes) {
  put(source_, {{"pk", "a"}, {"x", 1}, {"y", 2}});
  put(source_, {{"pk", "b"}, {"x", 2}, {"y", 1}});
  put(target_, {{"pk", "a"}, {"x", 2}, {"y", 1}});
  put(target_, {{"pk", "b"}, {"x", 1}, {"y", 2}});
  EXPECT_EQ(compare().differences, 2);
}

TEST_F(CopyItems, ComparisonExcusesExpiredItemsOnOneSideOnly) {
  const int64_t now = Time::now().unix_seconds();
  constexpr int64_t kYear = 365LL * 24 * 3600;
  put(source_, {{"pk", "expired"}, {"ttl", now - 10}});
  put(source_, {{"pk", "later"}, {"ttl", now + kYear}});
  put(source_, {{"pk", "too old"}, {"ttl", now - 6 * kYear}});
  put(source_, {{"pk", "text"}, {"ttl", "1"}});
  put(target_, {{"pk", "expired too"}, {"ttl", now - 10}});
  put(source_, {{"pk", "changed"}, {"ttl", now - 10}, {"n", 1}});
  put(target_, {{"pk", "changed"}, {"ttl", now - 10}, {"n", 2}});
  EXPECT_EQ(compare("ttl").expired, 2);
  EXPECT_THAT(differences_, UnorderedElementsAre("missing later", "missing too old", "missing text",
                                                 "changed changed"));
  EXPECT_EQ(compare().differences, 6);
}

TEST(Pace, LimitsItemsPerSecond) {
  FakeTime time;
  const auto start = time.since_boot();
  Pace pace(100, time);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(pace.admit(50, {}));
  EXPECT_EQ(time.since_boot() - start, std::chrono::seconds(2));  // the first 50 did not wait
  time.advance(std::chrono::minutes(1));
  const auto later = time.since_boot();
  EXPECT_TRUE(pace.admit(100, {}));
  EXPECT_EQ(time.since_boot(), later);  // but a pause does not allow a burst
  EXPECT_TRUE(pace.admit(1, {}));
  EXPECT_EQ(time.since_boot() - later, std::chrono::seconds(1));
}

// ---- Checkpoints

class CopyCheckpointFile : public testing::Test {
 protected:
  CopyCheckpoint load(const std::string& ends = "a\nb\n") {
    return must(CopyCheckpoint::load(path_, ends));
  }
  static TableDescription table(const std::string& id) {
    return {.table = "Tab", .id = id, .arn = "arn", .created_ms = 5};
  }

  TempDir directory_;
  std::string path_ = (directory_.path() / "position").string();
};

TEST_F(CopyCheckpointFile, RemembersPositionsByTheTablesOfBothSides) {
  const ScanPositions positions = {{.after = Item{{"pk", Binary{std::string("\0\xff\n", 3)}},
                                                  {"sk", must(Number::parse("-1.5"))}},
                                    .items = 7},
                                   {.items = 9, .ended = true},
                                   {}};
  ASSERT_THAT(load().save(table("1"), table("2"), positions), IsOk());
  CopyCheckpoint again = load();
  const ScanPositions* found = again.find(table("1"), table("2"));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(*found, positions);
  EXPECT_EQ(again.find(table("1"), table("3")), nullptr);
  EXPECT_EQ(again.find(table("2"), table("1")), nullptr);
  ASSERT_THAT(again.remove(), IsOk());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(CopyCheckpointFile, RefusesOtherFiles) {
  const auto refused = [&] {
    EXPECT_THAT(CopyCheckpoint::load(path_, "a\nb\n"),
                FailsWith(Code::kInvalidArgument, "is not a checkpoint of this copy"));
  };
  for (const char* text : {"", "{", "[]", "{}", R"({"copy":"x","tables":{}})"}) {
    std::ofstream(path_) << text;
    refused();
  }
  std::filesystem::remove(path_);
  ASSERT_THAT(load("a\nc\n").save(table("1"), table("2"), ScanPositions(2)), IsOk());
  refused();
  std::filesystem::remove(path_);
  ASSERT_THAT(load().save(table("1"), table("2"), ScanPositions(kSegmentsMax + 1)), IsOk());
  refused();
}

// ---- Definitions

const char* const kPolicy =
    R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*",)"
    R"("Action":"dynamodb:GetItem","Resource":"arn:aws:dynamodb:us-east-1:000000782867:table/All"}]})";

// A table with every setting that can be described and set.
void create_all(Database& database) {
  must(database.create_table(
      {.table = "All",
       .attributes = {{"pk", ScalarType::kB}, {"sk", ScalarType::kN}, {"a", ScalarType::kS}},
       .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}},
       .local_indexes = {{{.name = "Local",
                           .key_schema = {{"pk", KeyType::kHash}, {"a", KeyType::kRange}},
                           .projection = {.type = ProjectionType::kKeysOnly}}}},
       .global_indexes = {{{.name = "Global",
                            .key_schema = {{"a", KeyType::kHash}, {"sk", KeyType::kRange}},
                            .projection = {.type = ProjectionType::kInclude,
                                           .non_key_attributes = {"y", "x"}},
                            .throughput = Throughput{3, 4},
                            .warm_throughput = Throughput{30, 40}}}},
       .billing_mode = BillingMode::kProvisioned,
       .throughput = Throughput{5, 6},
       .warm_throughput = Throughput{50, 60},
       .table_class = TableClass::kStandardInfrequentAccess,
       .deletion_protection = true,
       .tags = {{"team", "blue"}, {"empty", ""}},
       .encryption = EncryptionSpecification{.enabled = true, .key_id = "a-key"},
       .stream = StreamSpecification{.enabled = true, .view = StreamViewType::kOldImage},
       .resource_policy = kPolicy}));
  must(database.update_time_to_live({"All", {.enabled = true, .attribute = "expires"}}));
  const auto stream = must(database.describe_table({.table = "All"})).table.latest_stream_arn;
  must(database.call(
      "PutResourcePolicy",
      wire::document_to_json(
          {{"ResourceArn", *stream},
           {"Policy", R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*",)"
                      R"("Action":"dynamodb:GetRecords","Resource":")" +
                          *stream + R"("}]})"}})));
  must(database.call("UpdateContinuousBackups",
                     R"({"TableName":"All","PointInTimeRecoverySpecification":)"
                     R"({"PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":3}})"));
  must(database.call(
      "UpdateContributorInsights",
      R"({"TableName":"All","IndexName":"Global","ContributorInsightsAction":"ENABLE",)"
      R"("ContributorInsightsMode":"THROTTLED_KEYS"})"));
}

void expect_same(const CopiedTable& found, const CopiedTable& wanted) {
  EXPECT_EQ(wire::to_json(found.wanted.request), wire::to_json(wanted.wanted.request));
  EXPECT_EQ(found.wanted.time_to_live, wanted.wanted.time_to_live);
  EXPECT_EQ(found.wanted.recovery.enabled, wanted.wanted.recovery.enabled);
  EXPECT_EQ(found.wanted.recovery.days, wanted.wanted.recovery.days);
  EXPECT_EQ(found.policy, wanted.policy);
  EXPECT_EQ(found.stream_policy.empty(), wanted.stream_policy.empty());
  EXPECT_EQ(found.insights, wanted.insights);
}

TEST(CopyDefinition, TheCopyHasTheDefinitionAndTheSettingsOfTheSource) {
  Database source = must(Database::open());
  Database target = must(Database::open());
  create_all(source);
  const CopiedTable table = must(read_copied_table(source, "All", "All"));
  must(create_copy(target, table));
  EXPECT_FALSE(must(target.describe_table({.table = "All"})).table.stream);
  EXPECT_THAT(must(copy_settings(target, table)), IsEmpty());
  const CopiedTable copied = must(read_copied_table(target, "All", "All"));
  expect_same(copied, table);
  EXPECT_EQ(copied.wanted.request.tags.size(), 2U);
  EXPECT_EQ(copied.wanted.request.warm_throughput, (Throughput{50, 60}));
  EXPECT_EQ(copied.policy, kPolicy);
  EXPECT_THAT(copied.stream_policy, HasSubstr('"' + *copied.source.latest_stream_arn + '"'));
  EXPECT_EQ(copied.insights.size(), 1U);
  EXPECT_THAT(table.wanted.ignored,
              ElementsAre(HasSubstr("point-in-time recovery"), HasSubstr("stream: its records")));
  // Again, nothing is refused.
  EXPECT_THAT(must(copy_settings(target, table)), IsEmpty());
}

TEST(CopyDefinition, APlainTableOnDemandHasNothingThatIsNotCopied) {
  Database source = must(Database::open());
  Database target = must(Database::open());
  must(source.create_table(kTable));
  const CopiedTable table = must(read_copied_table(source, "Tab", "New-Tab"));
  EXPECT_THAT(table.wanted.ignored, IsEmpty());
  must(create_copy(target, table));
  EXPECT_THAT(must(copy_settings(target, table)), IsEmpty());
  expect_same(must(read_copied_table(target, "New-Tab", "New-Tab")), table);
}

TEST(CopyDefinition, ASettingThatTheTargetRefusesIsNamed) {
  Database source = must(Database::open());
  Database target = must(Database::open());
  FaultyClient faulty(target);
  create_all(source);
  const CopiedTable table = must(read_copied_table(source, "All", "All"));
  must(create_copy(target, table));
  faulty.first("UpdateTimeToLive", 1, refuse({.code = Code::kValidation, .message = "not now"}));
  EXPECT_THAT(must(copy_settings(faulty, table)), ElementsAre("time to live on expires: not now"));
  EXPECT_TRUE(must(target.describe_table({.table = "All"})).table.deletion_protection);
}

TEST(CopyDefinition, SettingsThatTheSourceDoesNotReportAreNamed) {
  Database source = must(Database::open());
  must(source.create_table(kTable));
  FaultyClient faulty(source);
  faulty.first("ListContributorInsights", 1,
               refuse({.code = Code::kAccessDenied, .message = "no"}));
  EXPECT_THAT(must(read_copied_table(faulty, "Tab", "Tab")).wanted.ignored,
              ElementsAre("contributor insights: could not be read: no"));
  faulty.first("GetResourcePolicy", 1, refuse(Code::kUnknownOperation));
  EXPECT_THAT(must(read_copied_table(faulty, "Tab", "Tab")).wanted.ignored, IsEmpty());
  faulty.first("ListBackups", 1, refuse(Code::kUnavailable));
  EXPECT_THAT(read_copied_table(faulty, "Tab", "Tab"), FailsWith(Code::kUnavailable, ""));
}

TEST(CopyDefinition, OnlyATableWithTheSameKeysAndIndexesIsTheSame) {
  Database source = must(Database::open());
  create_all(source);
  const CopiedTable table = must(read_copied_table(source, "All", "All"));
  const auto check = [&](const std::function<void(CreateTableRequest&)>& change) {
    Database target = must(Database::open());
    CreateTableRequest request = table.wanted.request;
    change(request);
    must(target.create_table(request));
    return check_same_definition(table, must(read_state(target, "All", ReadTags::kNo)));
  };
  EXPECT_THAT(check([](auto& request) {
                request.stream.reset();  // settings
                request.throughput = Throughput{50, 50};
                request.tags.clear();
              }),
              IsOk());
  EXPECT_THAT(check([](auto& request) { request.attributes[0].type = ScalarType::kS; }),
              FailsWith(Code::kConflict, "attribute pk has another type"));
  EXPECT_THAT(check([](auto& request) {
                request.key_schema.pop_back();
                request.local_indexes.reset();
              }),
              FailsWith(Code::kConflict, "another key schema"));
  EXPECT_THAT(check([](auto& request) { request.global_indexes->front().name = "Other"; }),
              FailsWith(Code::kConflict, "remove index Other"));
  EXPECT_THAT(check([](auto& request) {
                request.global_indexes->front().projection = {.type = ProjectionType::kAll};
              }),
              FailsWith(Code::kConflict, "index Global has another projection"));
  EXPECT_THAT(check([](auto& request) { request.local_indexes.reset(); }),
              FailsWith(Code::kConflict, "no local index Local"));
}

TEST(CopyDefinition, PoliciesNameTheTargetTable) {
  EXPECT_EQ(with_arn(R"(["arn:t/A","arn:t/A/index/*","arn:t/AB","arn:t/A-1","arn:t/A"])", "arn:t/A",
                     "arn:u/N"),
            R"(["arn:u/N","arn:u/N/index/*","arn:t/AB","arn:t/A-1","arn:u/N"])");
}

}  // namespace
}  // namespace stator::cli
