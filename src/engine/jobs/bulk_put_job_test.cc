// SPDX-License-Identifier: Apache-2.0
// Bulk put operations on one engine: writes, reports, counts and lists, and the effects of
// cancellations, restarts and dropped tables.
#include <fstream>

#include "api/admin/document.h"
#include "api/json/item_json.h"
#include "engine/admin/administration.h"
#include "engine/jobs/bulk_put_job.h"
#include "engine/testing/engine_harness.h"
#include "support/must.h"
#include "support/read_file.h"
#include "transfer/bulk_report.h"
#include "transfer/export_lines.h"
#include "transfer/item_reader.h"

namespace stator::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A line of DynamoDB JSON. `more`: other members of the record, such as a condition.
std::string line(const Item& item, const std::string& more = {}) {
  return R"({"Item":)" + wire::item_to_json(item) + more + "}\n";
}
constexpr const char* kIfNew = R"-(,"ConditionExpression":"attribute_not_exists(pk)")-";

class BulkPutsTest : public EngineTest {
 protected:
  BulkPutsTest() {
    fs::create_directories(buckets_ / "mine");
    open_directory();
    create(hash_table("Tab"));
  }
  ~BulkPutsTest() override { engine_.reset(); }

  EngineOptions options() const override {
    EngineOptions options = EngineTest::options();
    options.buckets = buckets_;
    options.export_file_bytes = file_bytes_;
    options.retry_delay = [](int) { return 0ms; };
    return options;
  }
  void write(const std::string& key, const std::string& text) const {
    fs::create_directories((buckets_ / "mine" / key).parent_path());
    std::ofstream(buckets_ / "mine" / key) << text;
  }

  static Item request(const std::string& prefix = "in/", const Item& more = {}) {
    Item request{
        {"TableName", "Tab"},
        {"InputS3Configuration",
         Item{{"S3Bucket", "mine"}, {"S3KeyPrefix", prefix}, {"InputFormat", "DYNAMODB_JSON"}}},
        {"OutputS3Configuration", Item{{"S3Bucket", "mine"},
                                       {"S3KeyPrefix", "/out/"},
                                       {"OutputType", List{"ERROR", "CONDITION_CHECK_FAILURE"}}}}};
    for (const auto& [name, value] : more) request.insert_or_assign(name, value);
    return request;
  }
  Result<Item> call(const admin::Operation& operation, const Item& asked) {
    auto answer = engine_->administer(operation, asked);
    if (!answer || !answer->contains("BulkOperationDescription")) return answer;
    return map_of(*answer, "BulkOperationDescription");
  }
  std::string start(const Item& asked) {
    const auto begun = call(admin::kStartBulkPutItems, asked);
    EXPECT_THAT(begun, IsOk());
    return begun ? text_of(*begun, "BulkOperationArn") : "";
  }
  Item describe(const std::string& arn) {
    const auto described = call(admin::kDescribeBulkOperation, {{"BulkOperationArn", arn}});
    EXPECT_THAT(described, IsOk());
    return described.value_or(Item());
  }
  Item wait_for(const std::string& arn) {
    if (arn.empty()) return {};
    EXPECT_TRUE(comes_true([&] { return describe(arn).contains("EndTime"); }));
    return describe(arn);
  }
  Item run(const Item& asked) { return wait_for(start(asked)); }
  static std::string outcome(const Item& bulk) {
    return text_of(bulk, "BulkOperationStatus") + " " + text_of(bulk, "FailureCode") + " " +
           std::to_string(integer_of(bulk, "ProcessedItemCount")) + "/" +
           std::to_string(integer_of(bulk, "FailedItemCount"));
  }
  static std::string id_of(const std::string& arn) { return arn.substr(arn.rfind('/') + 1); }

  // The report lines of one output type, from all its files.
  std::vector<std::string> report(const std::string& arn, const std::string& type,
                                  std::size_t* files = nullptr) {
    const auto bucket = must(transfer::Bucket::open(buckets_, "mine"));
    std::string text;
    const auto keys = must(bucket.keys("out/AWSDynamoDB/" + id_of(arn) + "/" + type + "/"));
    if (files != nullptr) *files = keys.size();
    for (const std::string& key : keys) {
      auto bytes = must(transfer::unfolded(must(bucket.read(key)), transfer::Compression::kGzip));
      std::string buffer(1UL << 20, '\0');
      while (const std::size_t count = must(bytes->read(buffer))) text.append(buffer, 0, count);
    }
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }
  std::string manifest(const std::string& arn, const std::string& name) const {
    return test::read_file(buckets_ / "mine/out/AWSDynamoDB" / id_of(arn) / name);
  }
  std::size_t count(const std::string& table = "Tab", std::optional<std::string> index = {}) {
    return all_pages(ScanRequest{.table = table, .index = std::move(index)}).size();
  }
  // The number of stored output rows; 0 after the job has ended.
  std::size_t output_rows() {
    return must(Records(engine_->store()).list(RecordKind::kOutput)).size();
  }
  static std::string many(int items, const std::string& more = {}) {
    std::string lines;
    for (int i = 0; i < items; ++i)
      lines += line({{"pk", "p" + std::to_string(i)}, {"n", i}}, more);
    return lines;
  }

  fs::path buckets_ = directory_.path() / "buckets";
  int64_t file_bytes_ = 64L << 20;
};

TEST_F(BulkPutsTest, WritesEveryItemAndDescribesItself) {
  const std::string lines = many(700) + line({{"pk", "p0"}, {"n", -1}});
  write("in/1.json", lines);
  write("in/2.json", line({{"pk", "last"}}));
  write("other.json", line({{"pk", "not asked for"}}));
  const auto begun =
      must(call(admin::kStartBulkPutItems,
                request("in/", {{"ClientToken", "t"}, {"MaxWriteRequestUnits", 1'000'000}})));
  EXPECT_EQ(text_of(begun, "BulkOperationStatus"), "IN_PROGRESS");
  EXPECT_FALSE(begun.contains("EndTime"));
  EXPECT_FALSE(begun.contains("TotalInputBytes"));
  const std::string arn = text_of(begun, "BulkOperationArn");
  EXPECT_TRUE(comes_true([&] {
    clock_.advance(1s);
    return describe(arn).contains("EndTime");
  }));
  const Item done = describe(arn);
  EXPECT_EQ(outcome(done), "COMPLETED  702/0");
  EXPECT_EQ(text_of(done, "ClientToken"), "t");
  EXPECT_EQ(text_of(done, "PerformanceTier"), "STANDARD");
  EXPECT_EQ(integer_of(done, "MaxWriteRequestUnits"), 1'000'000);
  const auto bytes = static_cast<int64_t>(lines.size() + line({{"pk", "last"}}).size());
  EXPECT_EQ(integer_of(done, "TotalInputBytes"), bytes);
  EXPECT_EQ(integer_of(done, "ProcessedInputBytes"), bytes);
  const Item& input = map_of(done, "InputS3Configuration");
  EXPECT_EQ(text_of(input, "InputCompressionType"), "NONE");
  EXPECT_EQ(text_of(input, "S3BucketOwner"), "000000782867");
  const Item table = as_map(list_of(done, "TableDetails").at(0));
  EXPECT_EQ(text_of(table, "TableName"), "Tab");
  EXPECT_EQ(text_of(table, "TableId"), engine_->describe_table({.table = "Tab"})->table.id);
  EXPECT_EQ(count(), 701U);
  // Of two records with the same key, the later one remains.
  EXPECT_EQ(get("Tab", {{"pk", "p0"}}), (Item{{"pk", "p0"}, {"n", -1}}));
  share_counts();
  EXPECT_EQ(engine_->describe_table({.table = "Tab"})->table.item_count, 701);
}

TEST_F(BulkPutsTest, ReadsEachFormatAndCompression) {
  const auto bucket = must(transfer::Bucket::open(buckets_, "mine"));
  for (const auto format : {transfer::DataFormat::kDynamoDbJson, transfer::DataFormat::kIon}) {
    const Item item{{"pk", std::string(name_of(format))}, {"set", NumberSet{1, 2}}};
    const std::string name(name_of(format));
    auto file = must(transfer::DataFileWriter::create(bucket, "gz/" + name));
    ASSERT_THAT(file->add(transfer::line_of(format, item)), IsOk());
    ASSERT_THAT(file->finish(), IsOk());
    const Item done =
        run(request("", {{"InputS3Configuration", Item{{"S3Bucket", "mine"},
                                                       {"S3KeyPrefix", "gz/" + name},
                                                       {"InputFormat", name},
                                                       {"InputCompressionType", "GZIP"}}}}));
    EXPECT_EQ(outcome(done), "COMPLETED  1/0");
    EXPECT_EQ(integer_of(done, "ProcessedInputBytes"), integer_of(done, "TotalInputBytes"));
    EXPECT_EQ(get("Tab", {{"pk", name}}), item);
  }
  // An uncompressed zstd frame: {"Item":{"pk":{"S":"z"}}}.
  const std::string text = line({{"pk", "z"}});
  write("z", std::string("\x28\xb5\x2f\xfd\x20", 5) + static_cast<char>(text.size()) +
                 static_cast<char>((text.size() << 3 | 1) & 255) +
                 static_cast<char>(text.size() >> 5) + '\0' + text);
  EXPECT_EQ(
      outcome(run(request("", {{"InputS3Configuration", Item{{"S3Bucket", "mine"},
                                                             {"S3KeyPrefix", "z"},
                                                             {"InputFormat", "DYNAMODB_JSON"},
                                                             {"InputCompressionType", "ZSTD"}}}}))),
      "COMPLETED  1/0");
  EXPECT_EQ(count(), 3U);
}

TEST_F(BulkPutsTest, ARecordCanHaveItsOwnCondition) {
  ASSERT_THAT(put("Tab", {{"pk", "old"}, {"v", 1}}), IsOk());
  const std::string if_two =
      R"(,"ConditionExpression":"#v = :v","ExpressionAttributeNames":{"#v":"v"},)"
      R"("ExpressionAttributeValues":{":v":{"N":"1"}})";
  write("in/1", line({{"pk", "old"}, {"v", 5}}, kIfNew) + line({{"pk", "new"}}, kIfNew) +
                    line({{"pk", "old"}, {"v", 2}}, if_two) +
                    line({{"pk", "old"}, {"v", 3}}, if_two));
  write("ion", R"({Item:{pk:"ion",v:1.}})"
               "\n"
               R"({Item:{pk:"old",v:9.},ConditionExpression:"#v = :v",)"
               R"(ExpressionAttributeNames:{'#v':"v"},ExpressionAttributeValues:{':v':2.}})"
               "\n"
               R"-({Item:{pk:"ion",v:7.},ConditionExpression:"attribute_not_exists(pk)"})-"
               "\n");
  const std::string arn = start(request());
  EXPECT_EQ(outcome(wait_for(arn)), "COMPLETED  4/0");
  EXPECT_EQ(get("Tab", {{"pk", "old"}}), (Item{{"pk", "old"}, {"v", 2}}));
  EXPECT_TRUE(get("Tab", {{"pk", "new"}}));
  const auto lines = report(arn, "condition-check-failure");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], R"({"s3Key":"in/1","position":0,"Item":{"pk":{"S":"old"},"v":{"N":"5"}},)"
                      R"("ExistingItem":{"pk":{"S":"old"},"v":{"N":"1"}}})");
  EXPECT_THAT(lines[1], HasSubstr(R"("ExistingItem":{"pk":{"S":"old"},"v":{"N":"2"}}})"));
  EXPECT_EQ(
      outcome(run(request(
          "", {{"InputS3Configuration",
                Item{{"S3Bucket", "mine"}, {"S3KeyPrefix", "ion"}, {"InputFormat", "ION"}}}}))),
      "COMPLETED  3/0");
  EXPECT_EQ(get("Tab", {{"pk", "old"}}), (Item{{"pk", "old"}, {"v", 9}}));
  EXPECT_EQ(get("Tab", {{"pk", "ion"}}), (Item{{"pk", "ion"}, {"v", 1}}));
}

TEST_F(BulkPutsTest, ReportsItemsThatCannotBeWritten) {
  write("in/1", line({{"pk", "a"}}) + line({{"other", "x"}}) + line({{"pk", 1}}) +
                    line({{"pk", "big"}, {"b", std::string(400UL << 10, 'x')}}) +
                    line({{"pk", "b"}}, R"(,"ConditionExpression":"nonsense(")") +
                    line({{"pk", "c"}}));
  write("in/2", line({{"pk", "d"}}) + "garbage\n" + line({{"pk", "lost"}}));
  write("in/3", R"({"pk":{"S":"x"}})"
                "\n" +
                    line({{"pk", "lost too"}}));
  const std::string arn = start(request());
  EXPECT_EQ(outcome(wait_for(arn)), "COMPLETED_WITH_ERRORS  9/6");
  EXPECT_EQ(count(), 3U);
  EXPECT_FALSE(get("Tab", {{"pk", "lost"}}));
  const auto lines = report(arn, "error");
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_THAT(lines[0],
              HasSubstr(R"("s3Key":"in/1","position":26,"errorCode":"ValidationException",)"
                        R"("errorMessage":)"));
  EXPECT_THAT(lines[0], HasSubstr(R"("Item":{"other":{"S":"x"}}})"));
  EXPECT_THAT(lines[2], HasSubstr("Item size has exceeded the maximum allowed size"));
  EXPECT_THAT(lines[3], HasSubstr("Invalid ConditionExpression"));
  EXPECT_THAT(lines[4],
              HasSubstr(R"("s3Key":"in/2","position":26,"errorCode":"ValidationException",)"
                        R"("errorMessage":"not a JSON object"})"));
  EXPECT_THAT(lines[5], HasSubstr("the member 'Item' is missing"));
  EXPECT_TRUE(report(arn, "condition-check-failure").empty());
  EXPECT_EQ(output_rows(), 0U);
  // Errors of a type that the request does not list are counted but not reported.
  const std::string quiet = start(request(
      "in/", {{"OutputS3Configuration", Item{{"S3Bucket", "mine"},
                                             {"S3KeyPrefix", "out"},
                                             {"OutputType", List{"CONDITION_CHECK_FAILURE"}}}}}));
  EXPECT_EQ(outcome(wait_for(quiet)), "COMPLETED_WITH_ERRORS  9/6");
  EXPECT_TRUE(report(quiet, "error").empty());
  EXPECT_THAT(manifest(quiet, "manifest-summary.json"), HasSubstr(R"("failedItemCount":6,)"));
}

TEST_F(BulkPutsTest, ItsReportHasAManifestAndFilesOfBoundedSize) {
  file_bytes_ = 2000;
  open_directory();
  write("in/1", many(600, kIfNew));
  EXPECT_EQ(outcome(run(request())), "COMPLETED  600/0");
  const std::string arn = start(request());
  EXPECT_EQ(outcome(wait_for(arn)), "COMPLETED  600/0");
  std::size_t files = 0;
  const auto lines = report(arn, "condition-check-failure", &files);
  ASSERT_EQ(lines.size(), 600U);
  EXPECT_GT(files, 10U);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_THAT(lines[i],
                HasSubstr(R"("pk":{"S":"p)" + std::to_string(i) + R"("}},"ExistingItem")"));
  }
  const std::string summary = manifest(arn, "manifest-summary.json");
  EXPECT_THAT(summary, HasSubstr(R"({"bulkOperationArn":")" + arn + R"(","startTime":"2023-)"));
  EXPECT_THAT(summary, HasSubstr(R"("processedItemCount":600,"writtenItemCount":0,)"
                                 R"("failedItemCount":0,"conditionCheckFailureCount":600,)"));
  const std::string listed = manifest(arn, "manifest-files.json");
  EXPECT_EQ(std::ranges::count(listed, '\n'), static_cast<std::ptrdiff_t>(files));
  EXPECT_THAT(listed, HasSubstr(R"({"outputType":"CONDITION_CHECK_FAILURE","itemCount":)"));
  EXPECT_EQ(manifest(arn, "manifest-files.md5"), transfer::checksum_of(listed));
  EXPECT_EQ(manifest(arn, "manifest-summary.md5"), transfer::checksum_of(summary));
  EXPECT_EQ(output_rows(), 0U);
}

TEST_F(BulkPutsTest, ItsPutsAreOrdinaryWrites) {
  CreateTableRequest songs = hash_table("Songs");
  songs.attributes.push_back({"genre", ScalarType::kS});
  songs.global_indexes = {index_on("byGenre", {{"genre", KeyType::kHash}})};
  songs.stream = StreamSpecification{.enabled = true, .view = StreamViewType::kNewAndOldImages};
  create(songs);
  ASSERT_THAT(engine_->update_time_to_live(
                  {.table = "Songs", .specification = {.enabled = true, .attribute = "expires"}}),
              IsOk());
  const int64_t soon = clock_.unix_ms() / 1000 + 10;
  write("in/1", line({{"pk", "a"}, {"genre", "folk"}}) +
                    line({{"pk", "a"}, {"genre", "jazz"}, {"expires", soon}}) +
                    line({{"pk", "b"}, {"genre", 1}}) + line({{"pk", "c"}}));
  const Item done = run(request("in/", {{"TableName", "Songs"}}));
  EXPECT_EQ(outcome(done), "COMPLETED_WITH_ERRORS  4/1") << "an index key has the wrong type";
  const auto in_index = all_pages(ScanRequest{.table = "Songs", .index = "byGenre"});
  ASSERT_EQ(in_index.size(), 1U);
  EXPECT_EQ(in_index[0].at("genre"), AttributeValue("jazz"));
  const Item usage = as_map(list_of(done, "BulkOperationUsage").at(0));
  // Bytes: a, genre, folk: 12; a, genre, jazz, expires: 25; c: 3.
  constexpr int64_t kTableBytes = 12 + 25 + 3;
  EXPECT_EQ(integer_of(map_of(usage, "Table"), "BulkPutBytes"), kTableBytes);
  const Item& indexes = map_of(usage, "GlobalSecondaryIndexes");
  EXPECT_EQ(integer_of(map_of(indexes, "byGenre"), "BulkPutBytes"), 12 + 25);
  EXPECT_EQ(integer_of(usage, "BulkPutBytes"), kTableBytes + 12 + 25);

  const std::string stream = must(engine_->list_streams({})).streams.at(0).arn;
  const auto shards = must(engine_->describe_stream({.stream = stream})).stream.shards;
  std::vector<std::string> events;
  for (const auto& shard : shards) {
    const auto iterator = must(engine_->get_shard_iterator(
        {.stream = stream, .shard = shard.id, .type = ShardIteratorType::kTrimHorizon}));
    const auto records =
        must(call_and_wait(*engine_, &Engine::get_records, {.iterator = iterator.iterator}));
    for (const auto& record : records.records) {
      events.push_back(record.event == StreamEvent::kInsert ? "INSERT" : "MODIFY");
    }
  }
  std::ranges::sort(events);
  EXPECT_THAT(events, ElementsAre("INSERT", "INSERT", "MODIFY"));
  clock_.advance(20s);
  EXPECT_EQ(engine_->sweep_expired(), 1U);
  EXPECT_EQ(count("Songs"), 1U);
}

TEST_F(BulkPutsTest, ATokenNamesOneOperationForEightHoursFromItsStart) {
  write("in/1", many(257));
  const Item asked = request("in/", {{"ClientToken", "once"}, {"MaxWriteRequestUnits", 1024}});
  const std::string arn = start(asked);
  ASSERT_TRUE(comes_true([&] { return integer_of(describe(arn), "ProcessedItemCount") == 256; }));
  EXPECT_EQ(start(asked), arn);
  clock_.advance(1h);
  engine_->run_maintenance();
  EXPECT_EQ(outcome(wait_for(arn)), "COMPLETED  257/0");
  EXPECT_THAT(call(admin::kStartBulkPutItems,
                   request("in/", {{"ClientToken", "once"}, {"PerformanceTier", "ACCELERATED"}})),
              FailsWith(Code::kIdempotentParameterMismatch, "same client token"));
  clock_.advance(7h - 1ms);
  EXPECT_EQ(start(asked), arn);
  clock_.advance(1ms);
  const std::string again = start(asked);
  EXPECT_NE(again, arn);
}

TEST_F(BulkPutsTest, AreListedTheNewestFirstForNinetyDays) {
  write("in/1", line({{"pk", "a"}}));
  const std::string first = start(request());
  wait_for(first);
  clock_.advance(1h);
  const std::string second = start(request());
  wait_for(second);
  const auto list = [&](const Item& asked) {
    return must(call(admin::kListBulkOperations, asked));
  };
  const Item page = list({{"MaxResults", 1}});
  ASSERT_EQ(list_of(page, "BulkOperationsSummaryList").size(), 1U);
  const Item newest = as_map(list_of(page, "BulkOperationsSummaryList")[0]);
  EXPECT_EQ(text_of(newest, "BulkOperationArn"), second);
  EXPECT_EQ(text_of(newest, "BulkOperationStatus"), "COMPLETED");
  EXPECT_TRUE(newest.contains("StartTime") && newest.contains("EndTime"));
  const Item rest = list({{"NextToken", text_of(page, "NextToken")}});
  ASSERT_EQ(list_of(rest, "BulkOperationsSummaryList").size(), 1U);
  EXPECT_FALSE(rest.contains("NextToken"));
  EXPECT_THAT(call(admin::kListBulkOperations, {{"NextToken", std::string(112, 'a')}}),
              FailsWith(Code::kValidation, "Provided nextToken is invalid"));

  clock_.advance(std::chrono::days(90) - 1h - 1ms);
  EXPECT_EQ(list_of(list({}), "BulkOperationsSummaryList").size(), 2U);
  clock_.advance(1ms);
  EXPECT_EQ(list_of(list({}), "BulkOperationsSummaryList").size(), 1U);
  EXPECT_THAT(call(admin::kDescribeBulkOperation, {{"BulkOperationArn", first}}),
              FailsWith(Code::kResourceNotFound, "Bulk operation not found"));
  engine_->run_maintenance();
  EXPECT_EQ(must(Records(engine_->store()).list(RecordKind::kBulk)).size(), 1U);
  EXPECT_EQ(text_of(describe(second), "BulkOperationStatus"), "COMPLETED");
}

TEST_F(BulkPutsTest, CanBeCancelled) {
  write("in/1", many(600));
  write("in/2", many(600, kIfNew));
  // The first transaction uses up the rate for a quarter of a second, and the clock does not
  // advance.
  const std::string arn = start(request("in/", {{"MaxWriteRequestUnits", 1024}}));
  ASSERT_TRUE(comes_true([&] { return integer_of(describe(arn), "ProcessedItemCount") > 0; }));
  const auto cancelled = call(admin::kCancelBulkOperation, {{"BulkOperationArn", arn}});
  ASSERT_THAT(cancelled, IsOk());
  EXPECT_EQ(text_of(*cancelled, "BulkOperationStatus"), "CANCELLING");
  EXPECT_EQ(text_of(*cancelled, "BulkOperationArn"), arn);
  engine_->run_maintenance();
  const Item done = wait_for(arn);
  EXPECT_EQ(outcome(done), "CANCELLED OperationCancelled 256/0");
  EXPECT_EQ(text_of(done, "FailureMessage"), "The operation was cancelled by a request");
  EXPECT_EQ(count(), 256U);
  EXPECT_THAT(manifest(arn, "manifest-summary.json"), HasSubstr(R"("processedItemCount":256,)"));
  EXPECT_THAT(call(admin::kCancelBulkOperation, {{"BulkOperationArn", arn}}),
              FailsWith(Code::kValidation, "its status is CANCELLED"));
}

TEST_F(BulkPutsTest, KeepsToTheRateOfTheRequest) {
  write("in/1", many(600));
  const std::string arn = start(request("in/", {{"MaxWriteRequestUnits", 1024}}));
  for (const int64_t processed : {256, 512, 600}) {
    ASSERT_TRUE(
        comes_true([&] { return integer_of(describe(arn), "ProcessedItemCount") == processed; }));
    // 256 units take 250 ms.
    clock_.advance(249ms);
    engine_->run_maintenance();
    run(request("nothing/"));  // jobs take turns, so the first job has had a turn too
    EXPECT_EQ(integer_of(describe(arn), "ProcessedItemCount"), processed);
    clock_.advance(1ms);
    engine_->run_maintenance();
  }
  EXPECT_EQ(outcome(wait_for(arn)), "COMPLETED  600/0");
}

// The rate limit permits one transaction, so the restart comes after it.
TEST_F(BulkPutsTest, ResumesAtItsPositionAfterARestart) {
  ASSERT_THAT(put("Tab", {{"pk", "p3"}, {"v", "before"}}), IsOk());
  write("in/1", many(300, kIfNew) + line({{"pk", 7}}) + many(400, kIfNew));
  write("in/2", many(10, kIfNew));
  const std::string arn = start(request("in/", {{"MaxWriteRequestUnits", 1024}}));
  int restarts = 0;
  for (int64_t processed = 0; !describe(arn).contains("EndTime"); ++restarts) {
    ASSERT_TRUE(comes_true([&] {
      const Item now = describe(arn);
      return now.contains("EndTime") || integer_of(now, "ProcessedItemCount") > processed;
    }));
    processed = integer_of(describe(arn), "ProcessedItemCount");
    open_directory();
  }
  EXPECT_GT(restarts, 2);
  EXPECT_EQ(outcome(describe(arn)), "COMPLETED_WITH_ERRORS  711/1");
  EXPECT_EQ(count(), 400U);
  EXPECT_EQ(report(arn, "error").size(), 1U);
  EXPECT_EQ(report(arn, "condition-check-failure").size(), 1U + 300U + 10U);
  EXPECT_EQ(get("Tab", {{"pk", "p3"}}), (Item{{"pk", "p3"}, {"v", "before"}}));
  EXPECT_EQ(output_rows(), 0U);
}

TEST_F(BulkPutsTest, UsesTheNewestDefinitionOfItsTable) {
  write("in/1", many(600));
  const std::string arn = start(request("in/", {{"MaxWriteRequestUnits", 1024}}));
  ASSERT_TRUE(comes_true([&] { return integer_of(describe(arn), "ProcessedItemCount") == 256; }));
  ASSERT_THAT(engine_->update_table(
                  {.table = "Tab",
                   .attributes = {{{"n", ScalarType::kN}}},
                   .global_indexes = {{{.create = index_on("byN", {{"n", KeyType::kHash}})}}}}),
              IsOk());
  EXPECT_TRUE(comes_true([&] {
    clock_.advance(1s);
    engine_->run_maintenance();
    return describe(arn).contains("EndTime");
  }));
  EXPECT_EQ(outcome(describe(arn)), "COMPLETED  600/0");
  wait_for_table("Tab");
  EXPECT_TRUE(comes_true([&] {
    const auto indexes = engine_->describe_table({.table = "Tab"})->table.global_indexes;
    return indexes.at(0).status == TableStatus::kActive;
  }));
  EXPECT_EQ(count("Tab", "byN"), 600U);
}

TEST_F(BulkPutsTest, FailsOnceItsTableIsDropped) {
  write("in/1", line({{"other", "x"}}) + many(300));
  const std::string arn = start(request("in/", {{"MaxWriteRequestUnits", 1024}}));
  ASSERT_TRUE(comes_true([&] { return integer_of(describe(arn), "ProcessedItemCount") == 256; }));
  EXPECT_EQ(output_rows(), 1U);
  ASSERT_THAT(engine_->delete_table({.table = "Tab"}), IsOk());
  create(hash_table("Tab"));
  clock_.advance(1s);
  engine_->run_maintenance();
  EXPECT_EQ(outcome(wait_for(arn)), "FAILED ResourceNotFoundException 256/1");
  EXPECT_EQ(count(), 0U);
  EXPECT_EQ(output_rows(), 0U);
}

TEST_F(BulkPutsTest, FailsWithoutItsBuckets) {
  const auto input = [](const Item& more) {
    Item bucket{{"S3Bucket", "mine"}, {"InputFormat", "DYNAMODB_JSON"}};
    for (const auto& [name, value] : more) bucket.insert_or_assign(name, value);
    return request("", {{"InputS3Configuration", bucket}});
  };
  const auto output = [](const Item& more) {
    Item bucket{{"S3Bucket", "mine"}, {"OutputType", List{"ERROR"}}};
    for (const auto& [name, value] : more) bucket.insert_or_assign(name, value);
    return request("", {{"OutputS3Configuration", bucket}});
  };
  const Item failed = run(input({{"S3Bucket", "absent"}}));
  EXPECT_EQ(outcome(failed), "FAILED S3NoSuchBucket 0/0");
  EXPECT_THAT(text_of(failed, "FailureMessage"), HasSubstr("The specified bucket does not exist"));
  EXPECT_EQ(outcome(run(output({{"S3Bucket", "absent"}}))), "FAILED S3NoSuchBucket 0/0");
  EXPECT_EQ(outcome(run(input({{"S3BucketOwner", "123456789012"}}))), "FAILED S3AccessDenied 0/0");
  EXPECT_EQ(outcome(run(output({{"S3BucketOwner", "123456789012"}}))), "FAILED S3AccessDenied 0/0");
  EXPECT_EQ(outcome(run(output({{"S3SseAlgorithm", "KMS"}, {"S3SseKmsKeyId", "k"}}))),
            "FAILED KmsNotFoundException 0/0");
  EXPECT_EQ(outcome(run(request("nothing/"))), "COMPLETED  0/0");
}

TEST_F(BulkPutsTest, AreRefusedAsInDynamoDb) {
  const auto refuses = [&](const Item& asked, Code code, const std::string& text) {
    EXPECT_THAT(call(admin::kStartBulkPutItems, asked), FailsWith(code, text));
  };
  refuses(request("", {{"TableName", "None"}}), Code::kResourceNotFound, "None");
  refuses(request("", {{"OutputS3Configuration", Item{{"OutputType", List{"ERROR"}}}}}),
          Code::kValidation, "OutputS3Configuration must have S3Bucket");
  refuses(
      request("", {{"OutputS3Configuration", Item{{"S3Bucket", "mine"}, {"OutputType", List{}}}}}),
      Code::kValidation, "OutputType must have at least one value");
  refuses(request("", {{"OutputS3Configuration", Item{{"S3Bucket", "mine"},
                                                      {"OutputType", List{"ERROR"}},
                                                      {"S3SseKmsKeyId", "k"}}}}),
          Code::kValidation, "KMS Key Id is not supported");
  for (const admin::Operation* operation :
       {&admin::kDescribeBulkOperation, &admin::kCancelBulkOperation}) {
    const std::string arn = "arn:aws:dynamodb:us-east-1:000000782867:table/Tab";
    EXPECT_THAT(call(*operation, {{"BulkOperationArn", arn}}),
                FailsWith(Code::kValidation, "Invalid Bulk operation ARN"));
    EXPECT_THAT(call(*operation, {{"BulkOperationArn", arn + "/bulk-operation/0170-ab"}}),
                FailsWith(Code::kResourceNotFound, "Bulk operation not found"));
  }
}

TEST_F(BulkPutsTest, AtMostFiftyAreInProgress) {
  write("in/1", many(600));
  std::vector<std::string> arns;
  for (int i = 0; i < 50; ++i) {
    arns.push_back(start(request("in/", {{"MaxWriteRequestUnits", 1024}})));
  }
  EXPECT_THAT(call(admin::kStartBulkPutItems, request()),
              FailsWith(Code::kLimitExceeded, "50 bulk operations"));
  for (const std::string& arn : arns) {
    EXPECT_THAT(call(admin::kCancelBulkOperation, {{"BulkOperationArn", arn}}), IsOk());
  }
  engine_->run_maintenance();
  for (const std::string& arn : arns) {
    EXPECT_EQ(text_of(wait_for(arn), "BulkOperationStatus"), "CANCELLED");
  }
  EXPECT_EQ(outcome(run(request())), "COMPLETED  600/0");
}

TEST_F(BulkPutsTest, DoNotStartWhileAnIndexIsCreated) {
  write("in/1", many(10));
  EXPECT_EQ(outcome(run(request())), "COMPLETED  10/0");
  engine_.for_each([](Engine& engine) {
    ASSERT_THAT(engine.parts().catalog->refresh(), IsOk());
    engine.parts().jobs.stop();  // the index stays unfinished
  });
  ASSERT_THAT(engine_->update_table(
                  {.table = "Tab",
                   .attributes = {{{"n", ScalarType::kN}}},
                   .global_indexes = {{{.create = index_on("byN", {{"n", KeyType::kHash}})}}}}),
              IsOk());
  EXPECT_THAT(call(admin::kStartBulkPutItems, request()),
              FailsWith(Code::kResourceInUse, "Index is being created: byN"));
}

}  // namespace
}  // namespace stator::test
