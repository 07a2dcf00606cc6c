// SPDX-License-Identifier: Apache-2.0
// ExportTableToPointInTime into a directory used as a bucket, on each backend.
#include <fstream>
#include <sstream>

#include "client/client_test.h"
#include "support/transfer_jobs.h"
#include "transfer/bucket.h"
#include "transfer/item_reader.h"

namespace stator::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::string_view kArn = "arn:aws:dynamodb:us-east-1:000000782867:table/";

class ExportsTest : public ClientTest {
 protected:
  void SetUp() override {
    if (home_.buckets.empty()) GTEST_SKIP() << "there are no buckets";
    fs::create_directory(home_.buckets / "mine");
    create(hash_table("Tab"));
  }
  void switch_recovery_on() {
    ASSERT_THAT(client_.call("UpdateContinuousBackups",
                             R"({"TableName":"Tab","PointInTimeRecoverySpecification":
                                 {"PointInTimeRecoveryEnabled":true}})"),
                IsOk());
  }
  static std::string request(const std::string& more = "", const std::string& bucket = "mine") {
    return R"({"TableArn":")" + std::string(kArn) + R"(Tab","S3Bucket":")" + bucket + "\"" + more +
           "}";
  }
  // Runs an export, and returns its description after it has ended.
  Item run(const std::string& asked) {
    const Item begun = described_job("Export", client_.call("ExportTableToPointInTime", asked));
    EXPECT_EQ(text_of(begun, "ExportStatus"), "IN_PROGRESS");
    return wait_for_job(client_, "Export", text_of(begun, "ExportArn"));
  }
  std::string content(const std::string& key) const {
    std::stringstream text;
    text << std::ifstream(home_.buckets / "mine" / key).rdbuf();
    return text.str();
  }
  // Returns the items in an export's files.
  std::map<std::string, Item> exported(const std::string& manifest, transfer::DataFormat format) {
    std::map<std::string, Item> items;
    const auto bucket = transfer::Bucket::open(home_.buckets, "mine");
    EXPECT_THAT(bucket, IsOk());
    const auto keys = bucket->keys(manifest.substr(0, manifest.rfind('/')) + "/data/");
    EXPECT_THAT(keys, IsOk());
    for (const std::string& key : *keys) {
      auto reader =
          transfer::read_items(*bucket->read(key), format, transfer::Compression::kGzip, {});
      EXPECT_THAT(reader, IsOk());
      while ((*reader)->next() == transfer::Found::kItem) {
        const Item& item = (*reader)->item();
        items.emplace(*item.at("pk").get_if<std::string>(), item);
      }
    }
    return items;
  }
};
STATOR_IN_EACH_HOME(ExportsTest);

TEST_P(ExportsTest, AFullExportContainsTheItemsOfItsTime) {
  switch_recovery_on();
  std::map<std::string, Item> all;
  for (int i = 0; i < 600; ++i) {
    const Item item{{"pk", "p" + std::to_string(i)}, {"set", NumberSet{i, -1}}, {"x", Null{}}};
    put("Tab", item);
    all.emplace("p" + std::to_string(i), item);
  }
  for (const auto format : {transfer::DataFormat::kDynamoDbJson, transfer::DataFormat::kIon}) {
    const Item done = run(request(R"(,"S3Prefix":"some/where/","ExportFormat":")" +
                                  std::string(name_of(format)) + "\""));
    EXPECT_EQ(text_of(done, "ExportStatus"), "COMPLETED") << text_of(done, "FailureMessage");
    EXPECT_EQ(integer_of(done, "ItemCount"), 600);
    EXPECT_GT(integer_of(done, "BilledSizeBytes"), 600 * 10);
    EXPECT_EQ(text_of(done, "S3SseAlgorithm"), "AES256");
    EXPECT_EQ(text_of(done, "DestinationType"), "S3");
    EXPECT_FALSE(done.contains("ExportType"));
    const std::string manifest = text_of(done, "ExportManifest");
    EXPECT_THAT(manifest, ::testing::MatchesRegex("some/where/AWSDynamoDB/[0-9]*-[0-9a-f]*/"
                                                  "manifest-summary.json"));
    EXPECT_THAT(content(manifest),
                HasSubstr(R"("itemCount":600,"outputFormat":")" + std::string(name_of(format))));
    EXPECT_EQ(exported(manifest, format), all);
  }
}

TEST_P(ExportsTest, AFilterChoosesItemsAndTheirAttributes) {
  switch_recovery_on();
  for (int i = 0; i < 20; ++i) {
    put("Tab", {{"pk", "p" + std::to_string(i)}, {"n", i}, {"more", "x"}});
  }
  const auto filtered = [&](const std::string& specification) {
    const Item done = run(request(R"(,"FilterSpecification":)" + specification));
    EXPECT_EQ(text_of(done, "ExportStatus"), "COMPLETED") << text_of(done, "FailureMessage");
    EXPECT_TRUE(done.contains("FilterSpecification"));
    auto items = exported(text_of(done, "ExportManifest"), transfer::DataFormat::kDynamoDbJson);
    EXPECT_EQ(integer_of(done, "ItemCount"), static_cast<int64_t>(items.size()));
    return items;
  };
  EXPECT_EQ(filtered(R"({"FilterExpression":"#n >= :least AND pk <> :pk",
                         "ProjectionExpression":"pk, #n",
                         "ExpressionAttributeNames":{"#n":"n"},
                         "ExpressionAttributeValues":{":least":{"N":"18"},":pk":{"S":"p19"}}})"),
            (std::map<std::string, Item>{{"p18", {{"pk", "p18"}, {"n", 18}}}}));
  EXPECT_EQ(filtered(R"({"KeyConditionExpression":"pk = :pk",
                         "ExpressionAttributeValues":{":pk":{"S":"p7"}}})"),
            (std::map<std::string, Item>{{"p7", {{"pk", "p7"}, {"n", 7}, {"more", "x"}}}}));
  const auto refused = [&](const std::string& specification, const std::string& text) {
    EXPECT_THAT(
        client_.call("ExportTableToPointInTime",
                     request(R"(,"FilterSpecification":)" + specification)),
        FailsWith(Code::kValidation, "Invalid Request: Invalid FilterSpecification: " + text));
  };
  refused("{}", "The specification can not be empty");
  refused(R"({"FilterExpression":"a <"})", "Invalid FilterExpression: Syntax error");
  refused(R"({"KeyConditionExpression":"pk = :pk","FilterExpression":"pk = :pk",
              "ExpressionAttributeValues":{":pk":{"S":"p7"}}})",
          "Filter Expression can only contain non-primary key attributes");
}

TEST_P(ExportsTest, ImportTableReadsAnExport) {
  switch_recovery_on();
  put("Tab", {{"pk", "a"}, {"bytes", Binary{"x"}}});
  const std::string manifest = text_of(run(request()), "ExportManifest");
  const std::string data = manifest.substr(0, manifest.rfind('/')) + "/data/";
  ASSERT_THAT(client_.call("ImportTable",
                           R"({"S3BucketSource":{"S3Bucket":"mine","S3KeyPrefix":")" + data +
                               R"("},"InputFormat":"DYNAMODB_JSON","InputCompressionType":"GZIP",
      "TableCreationParameters":{"TableName":"Again","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}})"),
              IsOk());
  while (true) {
    const auto table = client_.describe_table({.table = "Again"});
    ASSERT_THAT(table, IsOk());
    if (table->table.status == TableStatus::kActive) break;
    std::this_thread::yield();
  }
  EXPECT_EQ(get("Again", {{"pk", "a"}}), (Item{{"pk", "a"}, {"bytes", Binary{"x"}}}));
}

TEST_P(ExportsTest, AnExportThatCannotBeWrittenFails) {
  const std::string full = R"(,"ExportType":"FULL_EXPORT")";
  switch_recovery_on();
  const auto code = [&](const std::string& asked) {
    const Item done = run(asked);
    EXPECT_EQ(text_of(done, "ExportStatus"), "FAILED");
    EXPECT_EQ(text_of(done, "ExportType"), "FULL_EXPORT");
    return text_of(done, "FailureCode");
  };
  EXPECT_EQ(code(request(full, "absent")), "S3NoSuchBucket");
  EXPECT_EQ(code(request(full + R"(,"S3BucketOwner":"111111111111")")), "S3AccessDenied");
  EXPECT_EQ(code(request(full + R"(,"S3Prefix":"../outside")")), "S3AccessDenied");
  EXPECT_EQ(code(request(full + R"(,"S3SseAlgorithm":"KMS","S3SseKmsKeyId":"alias/x")")),
            "KmsNotFoundException");
  EXPECT_FALSE(fs::exists(home_.buckets / "outside"));
}

TEST_P(ExportsTest, RequestsAreRefusedAsInDynamoDb) {
  const auto refused = [&](const std::string& asked, Code code, const std::string& text) {
    EXPECT_THAT(client_.call("ExportTableToPointInTime", asked), FailsWith(code, text)) << asked;
  };
  refused(request(), Code::kPointInTimeRecoveryUnavailable,
          "Point in time recovery is not enabled for table 'Tab'");
  refused(request(R"(,"ExportType":"INCREMENTAL_EXPORT",
                      "IncrementalExportSpecification":{"ExportFromTime":1700000000})"),
          Code::kInvalidExportTime,
          "Incremental export period from time cannot be less than the table creation time : "
          "2023-11-14T22:13:20Z");
  switch_recovery_on();
  refused(R"({"TableArn":"Tab","S3Bucket":"mine"})", Code::kValidation,
          "tableArn is not a valid ARN");
  refused(R"({"TableArn":")" + std::string(kArn) + R"(None","S3Bucket":"mine"})",
          Code::kTableNotFound, "Table not found: " + std::string(kArn) + "None");
  refused(request(R"(,"ExportTime":1)"), Code::kInvalidExportTime, "Export Time is invalid");
  refused(request(R"(,"ExportTime":99999999999)"), Code::kInvalidExportTime,
          "Export Time is invalid");
  refused(request(R"(,"S3SseKmsKeyId":"alias/x")"), Code::kValidation, "KMS Key Id");
  refused(request(R"(,"ExportType":"INCREMENTAL_EXPORT")"), Code::kValidation,
          "Incremental Export Specification expected");
  refused(request(R"(,"IncrementalExportSpecification":{})"), Code::kValidation,
          "Export Type expected to be Incremental Export");
  refused(request(R"(,"ExportType":"INCREMENTAL_EXPORT","IncrementalExportSpecification":{})"),
          Code::kValidation, "ExportFromTime must be provided");
  refused(request(R"(,"ExportType":"INCREMENTAL_EXPORT",
                      "IncrementalExportSpecification":{"ExportFromTime":1700000000})"),
          Code::kInvalidExportTime,
          "Incremental export period from time cannot be less than the table creation time : "
          "2023-11-14T22:13:20Z");
  EXPECT_THAT(client_.call("DescribeExport",
                           R"({"ExportArn":")" + std::string(kArn) + "Tab/export/0170-ab\"}"),
              FailsWith(Code::kExportNotFound, "Export not found: Export not found: "));
}

TEST_P(ExportsTest, ATokenNamesOneExportAndAllAreListed) {
  switch_recovery_on();
  const std::string asked = request(R"(,"ClientToken":"once")");
  const Item done = run(asked);
  EXPECT_EQ(text_of(described_job("Export", client_.call("ExportTableToPointInTime", asked)),
                    "ExportArn"),
            text_of(done, "ExportArn"));
  EXPECT_THAT(client_.call("ExportTableToPointInTime",
                           request(R"(,"ClientToken":"once","S3Prefix":"other")")),
              FailsWith(Code::kExportConflict,
                        "Export conflict: Duplicate request detected with "
                        "conflicting parameters"));
  const auto listed = [&] {
    const auto page =
        client_.call("ListExports", R"({"TableArn":")" + std::string(kArn) + "Tab\"}");
    EXPECT_THAT(page, IsOk());
    return page.value_or("");
  };
  EXPECT_THAT(listed(), HasSubstr(R"("ExportType":"FULL_EXPORT")"));
  ASSERT_THAT(client_.delete_table({.table = "Tab"}), IsOk());
  EXPECT_EQ(listed(), R"({"ExportSummaries":[]})");
  EXPECT_THAT(
      client_.call("DescribeExport", R"({"ExportArn":")" + text_of(done, "ExportArn") + "\"}"),
      IsOk());
}

}  // namespace
}  // namespace stator::test
