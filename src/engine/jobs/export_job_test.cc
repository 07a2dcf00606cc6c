// SPDX-License-Identifier: Apache-2.0
// Incremental exports, exports that a shutdown interrupted, and reports of import errors.
#include <fstream>
#include <mutex>
#include <sstream>

#include "api/admin/document.h"
#include "engine/admin/administration.h"
#include "engine/testing/engine_harness.h"
#include "transfer/bucket.h"

namespace stator::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

class ExportsTest : public EngineTest {
 protected:
  ExportsTest() {
    fs::create_directories(buckets_ / "mine");
    open_directory();
    create(hash_table("Tab"));
    EXPECT_THAT(engine_->administer(admin::kUpdateContinuousBackups,
                                    {{"TableName", "Tab"},
                                     {"PointInTimeRecoverySpecification",
                                      Item{{"PointInTimeRecoveryEnabled", true}}}}),
                IsOk());
  }
  ~ExportsTest() override { engine_.reset(); }
  EngineOptions options() const override {
    EngineOptions options = EngineTest::options();
    options.buckets = buckets_;
    options.report = [this](LogLevel, const std::string& line) {
      const std::scoped_lock lock(mutex_);
      reports_.push_back(line);
    };
    return options;
  }
  std::string begin(const std::string& view, const Item& more = {}) {
    Item request{
        {"TableArn", "arn:aws:dynamodb:us-east-1:000000782867:table/Tab"},
        {"S3Bucket", "mine"},
        {"ExportType", "INCREMENTAL_EXPORT"},
        {"IncrementalExportSpecification",
         Item{{"ExportFromTime", from_ms_}, {"ExportToTime", to_ms_}, {"ExportViewType", view}}}};
    request.insert(more.begin(), more.end());
    const auto begun = engine_->administer(admin::kExportTableToPointInTime, request);
    EXPECT_THAT(begun, IsOk());
    return begun ? text_of(map_of(*begun, "ExportDescription"), "ExportArn") : "";
  }
  Item wait_for(const std::string& arn) {
    return wait_for(admin::kDescribeExport, "Export", "ExportDescription", arn);
  }
  Item wait_for(const admin::Operation& describe, const std::string& kind,
                const std::string& member, const std::string& arn) {
    while (true) {
      const auto answer = engine_->administer(describe, {{kind + "Arn", arn}});
      EXPECT_THAT(answer, IsOk());
      if (!answer) return {};
      Item now = map_of(*answer, member);
      if (text_of(now, kind + "Status") != "IN_PROGRESS") return now;
      std::this_thread::yield();
    }
  }
  // The lines of all incremental exports so far.
  std::string lines() const {
    std::string all;
    const auto bucket = transfer::Bucket::open(buckets_, "mine");
    EXPECT_THAT(bucket, IsOk());
    const auto keys = bucket->keys("AWSDynamoDB/data/");
    EXPECT_THAT(keys, IsOk());
    for (const std::string& key : *keys) {
      auto bytes = transfer::unfolded(*bucket->read(key), transfer::Compression::kGzip);
      EXPECT_THAT(bytes, IsOk());
      std::string buffer(1UL << 20, '\0');
      while (const std::size_t count = (*bytes)->read(buffer).value_or(0)) {
        all.append(buffer, 0, count);
      }
    }
    return all;
  }
  // Writes before, within and after a window of 20 minutes.
  void write_history() {
    put_ok({{"pk", "kept"}, {"v", 1}});
    put_ok({{"pk", "gone"}, {"v", 1}});
    clock_.advance(1min);
    from_ms_ = clock_.unix_ms();
    put_ok({{"pk", "kept"}, {"v", 2}});
    put_ok({{"pk", "kept"}, {"v", 3}});
    put_ok({{"pk", "new"}, {"v", 3}});
    put_ok({{"pk", "brief"}});
    ASSERT_THAT(erase({.table = "Tab", .key = {{"pk", "brief"}}}), IsOk());
    ASSERT_THAT(erase({.table = "Tab", .key = {{"pk", "gone"}}}), IsOk());
    clock_.advance(20min);
    to_ms_ = clock_.unix_ms();
    put_ok({{"pk", "kept"}, {"v", 4}});
    clock_.advance(1min);
  }
  void put_ok(Item item) { ASSERT_THAT(put("Tab", std::move(item)), IsOk()); }

  fs::path buckets_ = directory_.path() / "buckets";
  int64_t from_ms_ = 0;
  int64_t to_ms_ = 0;
  mutable std::mutex mutex_;
  mutable std::vector<std::string> reports_;  // guarded by mutex_
};

TEST_F(ExportsTest, AnIncrementHasTheChangeOfEachItemBetweenTwoTimes) {
  write_history();
  const Item done = wait_for(begin("NEW_AND_OLD_IMAGES"));
  EXPECT_EQ(text_of(done, "ExportStatus"), "COMPLETED") << text_of(done, "FailureMessage");
  EXPECT_EQ(integer_of(done, "ItemCount"), 3);
  EXPECT_EQ(integer_of(done, "BilledSizeBytes"), 10'000'000);
  const std::string text = lines();
  const std::string at = R"({"Metadata":{"WriteTimestampMicros":{"N":")" +
                         std::to_string(from_ms_ * 1000) + R"("}},"Keys":)";
  EXPECT_THAT(text, HasSubstr(at + R"({"pk":{"S":"kept"}},)"
                                   R"("OldImage":{"pk":{"S":"kept"},"v":{"N":"1"}},)"
                                   R"("NewImage":{"pk":{"S":"kept"},"v":{"N":"3"}}})"
                                   "\n"));
  EXPECT_THAT(text,
              HasSubstr(at + R"({"pk":{"S":"new"}},"NewImage":{"pk":{"S":"new"},"v":{"N":"3"}}})"
                             "\n"));
  EXPECT_THAT(text,
              HasSubstr(at + R"({"pk":{"S":"gone"}},"OldImage":{"pk":{"S":"gone"},"v":{"N":"1"}}})"
                             "\n"));
  EXPECT_THAT(text, Not(HasSubstr("brief")));
}

TEST_F(ExportsTest, WithoutOldImagesADeletionHasOnlyItsKey) {
  write_history();
  EXPECT_EQ(text_of(wait_for(begin("NEW_IMAGE")), "ExportStatus"), "COMPLETED");
  EXPECT_THAT(lines(), HasSubstr(R"("Keys":{"pk":{"S":"gone"}}})"
                                 "\n"));
  EXPECT_THAT(lines(), Not(HasSubstr("OldImage")));
}

TEST_F(ExportsTest, AFilterOfAnIncrementSeesTheNewestImageOrTheDeletedItem) {
  write_history();
  const Item filter{{"FilterExpression", "v = :one"},
                    {"ProjectionExpression", "v"},
                    {"ExpressionAttributeValues", Item{{":one", Item{{"N", "1"}}}}}};
  const Item done = wait_for(begin("NEW_AND_OLD_IMAGES", {{"FilterSpecification", filter}}));
  EXPECT_EQ(text_of(done, "ExportStatus"), "COMPLETED") << text_of(done, "FailureMessage");
  EXPECT_EQ(integer_of(done, "ItemCount"), 1);
  EXPECT_THAT(lines(), HasSubstr(R"("Keys":{"pk":{"S":"gone"}},"OldImage":{"v":{"N":"1"}}})"));
}

TEST_F(ExportsTest, AnExportResumesAfterItsTableWasDroppedAndTheEngineReopened) {
  write_history();
  const std::string arn = begin("NEW_AND_OLD_IMAGES");
  ASSERT_THAT(engine_->delete_table({.table = "Tab"}), IsOk());
  open_directory();
  const Item done = wait_for(arn);
  EXPECT_EQ(text_of(done, "ExportStatus"), "COMPLETED") << text_of(done, "FailureMessage");
  EXPECT_EQ(integer_of(done, "ItemCount"), 3);
}

TEST_F(ExportsTest, TheFirstErrorsOfAnImportAreReported) {
  std::string rows = "pk,n\na,1\nb,x\n";
  for (int i = 0; i < 200; ++i) rows += "too,many,fields\n";
  std::ofstream(buckets_ / "mine" / "rows.csv") << rows;
  const auto begun = engine_->administer(
      admin::kImportTable,
      {{"S3BucketSource", Item{{"S3Bucket", "mine"}}},
       {"InputFormat", "CSV"},
       {"TableCreationParameters",
        Item{{"TableName", "New"},
             {"BillingMode", "PAY_PER_REQUEST"},
             {"AttributeDefinitions", List{Item{{"AttributeName", "pk"}, {"AttributeType", "S"}},
                                           Item{{"AttributeName", "n"}, {"AttributeType", "N"}}}},
             {"KeySchema", List{Item{{"AttributeName", "pk"}, {"KeyType", "HASH"}},
                                Item{{"AttributeName", "n"}, {"KeyType", "RANGE"}}}}}}});
  ASSERT_THAT(begun, IsOk());
  const std::string arn = text_of(map_of(*begun, "ImportTableDescription"), "ImportArn");
  const Item done = wait_for(admin::kDescribeImport, "Import", "ImportTableDescription", arn);
  EXPECT_EQ(integer_of(done, "ErrorCount"), 201);
  const std::scoped_lock lock(mutex_);
  ASSERT_EQ(reports_.size(), 100U);
  const std::string import = "import " + arn.substr(arn.rfind('/') + 1);
  EXPECT_THAT(reports_[0], HasSubstr(import + ": object 'rows.csv' at byte 9: "));
  EXPECT_THAT(reports_[1], HasSubstr("at byte 13: row has another number of fields"));
  EXPECT_THAT(reports_[98], Not(HasSubstr("(what follows is counted only)")));
  EXPECT_THAT(reports_[99], HasSubstr("(what follows is counted only)"));
}

}  // namespace
}  // namespace stator::test
