// SPDX-License-Identifier: Apache-2.0
// ImportTable from a directory used as a bucket, on each backend.
#include <fstream>

#include "api/admin/document.h"
#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "client/client_test.h"
#include "support/transfer_jobs.h"
#include "transfer/data_file.h"
#include "transfer/export_lines.h"

namespace stator::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ImportsTest : public ClientTest {
 protected:
  void SetUp() override {
    if (home_.buckets.empty()) GTEST_SKIP() << "there are no buckets";
    fs::create_directory(home_.buckets / "mine");
  }
  void write(const std::string& key, const std::string& text) const {
    fs::create_directories((home_.buckets / "mine" / key).parent_path());
    std::ofstream(home_.buckets / "mine" / key) << text;
  }
  static std::string line(const Item& item) {
    return transfer::line_of(transfer::DataFormat::kDynamoDbJson, item);
  }

  struct Wanted {
    std::string table = "Tab";
    std::string prefix = "";
    std::string format = "DYNAMODB_JSON";
    std::string more = "";  // more members of the request
    std::string bucket = "mine";
    std::string attributes = R"({"AttributeName":"pk","AttributeType":"S"})";
    std::string schema = R"({"AttributeName":"pk","KeyType":"HASH"})";
    std::string indexes = "";
  };
  static std::string request(const Wanted& wanted) {
    return R"({"S3BucketSource":{"S3Bucket":")" + wanted.bucket + R"(","S3KeyPrefix":")" +
           wanted.prefix + R"("},"InputFormat":")" + wanted.format + "\"" + wanted.more +
           R"(,"TableCreationParameters":{"TableName":")" + wanted.table +
           R"(","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[)" + wanted.attributes +
           R"(],"KeySchema":[)" + wanted.schema + "]" + wanted.indexes + "}}";
  }
  // Runs an import, and returns its description after it has ended.
  Item import(const Wanted& wanted) {
    const Item begun = described_job("Import", client_.call("ImportTable", request(wanted)));
    EXPECT_EQ(text_of(begun, "ImportStatus"), "IN_PROGRESS");
    return wait_for_job(client_, "Import", text_of(begun, "ImportArn"));
  }
  static std::string outcome(const Item& import) {
    return text_of(import, "ImportStatus") + " " + text_of(import, "FailureCode") + " " +
           std::to_string(integer_of(import, "ProcessedItemCount")) + "/" +
           std::to_string(integer_of(import, "ImportedItemCount")) + "/" +
           std::to_string(integer_of(import, "ErrorCount"));
  }
};
STATOR_IN_EACH_HOME(ImportsTest);

TEST_P(ImportsTest, ATableIsThereWithItsItemsAndIndexesOnceItIsImported) {
  std::string lines;
  for (int i = 0; i < 700; ++i) {
    lines += line({{"pk", "p" + std::to_string(i % 350)}, {"place", i < 350 ? "old" : "new"}});
  }
  write("data/1.json", lines);
  const Item done = import({.prefix = "data/",
                            .attributes = R"({"AttributeName":"pk","AttributeType":"S"},
                        {"AttributeName":"place","AttributeType":"S"})",
                            .indexes = R"(,"GlobalSecondaryIndexes":[{"IndexName":"ByPlace",
                       "KeySchema":[{"AttributeName":"place","KeyType":"HASH"}],
                       "Projection":{"ProjectionType":"ALL"}}])"});
  EXPECT_EQ(outcome(done), "COMPLETED  700/700/0");
  EXPECT_EQ(integer_of(done, "ProcessedSizeBytes"), static_cast<int64_t>(lines.size()));
  EXPECT_EQ(text_of(done, "InputCompressionType"), "NONE");
  EXPECT_EQ(text_of(map_of(done, "S3BucketSource"), "S3BucketOwner"), "000000782867");
  EXPECT_EQ(all_items(ScanRequest{.table = "Tab"}).size(), 350);
  const auto in = [&](const char* place) {
    return all_items(QueryRequest{.table = "Tab",
                                  .index = "ByPlace",
                                  .key_condition = "place = :p",
                                  .values = Values{{":p", place}}})
        .size();
  };
  EXPECT_EQ(in("old"), 0);
  EXPECT_EQ(in("new"), 350);
  const auto table = client_.describe_table({.table = "Tab"});
  ASSERT_THAT(table, IsOk());
  EXPECT_EQ(table->table.status, TableStatus::kActive);
  EXPECT_EQ(table->table.id, text_of(done, "TableId"));
}

TEST_P(ImportsTest, EachFormatAndCompressionIsRead) {
  auto bucket = transfer::Bucket::open(home_.buckets, "mine");
  ASSERT_THAT(bucket, IsOk());
  for (const auto format : {transfer::DataFormat::kDynamoDbJson, transfer::DataFormat::kIon}) {
    auto file = transfer::DataFileWriter::create(*bucket, std::string(name_of(format)) + ".gz");
    ASSERT_THAT(file, IsOk());
    const Item item{{"pk", "a"}, {"set", NumberSet{1, 2}}, {"bytes", Binary{"\x01"}}};
    ASSERT_THAT((*file)->add(transfer::line_of(format, item)), IsOk());
    ASSERT_THAT((*file)->finish(), IsOk());
    const std::string table = "Of-" + std::string(name_of(format));
    EXPECT_EQ(outcome(import({.table = table,
                              .prefix = std::string(name_of(format)),
                              .format = std::string(name_of(format)),
                              .more = R"(,"InputCompressionType":"GZIP")"})),
              "COMPLETED  1/1/0");
    EXPECT_EQ(get(table, {{"pk", "a"}}), item);
  }
  write("rows.csv", "a;1\nb;2\n");
  EXPECT_EQ(outcome(import({.table = "Rows",
                            .prefix = "rows",
                            .format = "CSV",
                            .more = R"(,"InputFormatOptions":{"Csv":{"Delimiter":";",
                                        "HeaderList":["text","pk"]}})",
                            .attributes = R"({"AttributeName":"pk","AttributeType":"N"})"})),
            "COMPLETED  2/2/0");
  EXPECT_EQ(get("Rows", {{"pk", 2}}), (Item{{"pk", 2}, {"text", "b"}}));
}

// A record that is not an item makes the import skip the rest of its object. An item that the table
// rejects is only skipped itself.
TEST_P(ImportsTest, AnInvalidItemSkipsTheRestOfItsObject) {
  const std::string rest = line({{"pk", "lost"}});
  write("no-item", line({{"pk", "a"}}) +
                       R"({"Thing":{"pk":{"S":"x"}}})"
                       "\n" +
                       rest);
  write("no-type", line({{"pk", "b"}}) +
                       R"({"Item":{"pk":{"X":"x"}}})"
                       "\n" +
                       rest);
  write("wrong-type", line({{"pk", "c"}}) + line({{"pk", 1}}) + line({{"pk", "d"}}));
  write("no-name", R"({"Item":{"pk":{"S":"x"},"":{"S":"v"}}})");
  write("nothing", "");
  write("spaces", "\n   \n");
  EXPECT_EQ(outcome(import({})), "FAILED ItemValidationError 8/4/4");
  EXPECT_EQ(get("Tab", {{"pk", "lost"}}), std::nullopt);
}

TEST_P(ImportsTest, AnInvalidCsvRowIsSkipped) {
  write("rows.csv", "pk,n\na,1\nb\nc,x\nd,1,2\ne,5\n");
  EXPECT_EQ(outcome(import({.format = "CSV",
                            .attributes = R"({"AttributeName":"pk","AttributeType":"S"},
                                             {"AttributeName":"n","AttributeType":"N"})",
                            .indexes = R"(,"GlobalSecondaryIndexes":[{"IndexName":"ByN",
                       "KeySchema":[{"AttributeName":"n","KeyType":"HASH"}],
                       "Projection":{"ProjectionType":"ALL"}}])"})),
            "FAILED ItemValidationError 5/2/3");
  EXPECT_EQ(get("Tab", {{"pk", "e"}}), (Item{{"pk", "e"}, {"n", 5}}));
}

TEST_P(ImportsTest, ItemsOfATruncatedObjectAreImported) {
  auto bucket = transfer::Bucket::open(home_.buckets, "mine");
  ASSERT_THAT(bucket, IsOk());
  auto file = transfer::DataFileWriter::create(*bucket, "cut.json.gz");
  ASSERT_THAT(file, IsOk());
  constexpr int kItems = 5000;
  for (int i = 0; i < kItems; ++i) {
    ASSERT_THAT((*file)->add(line({{"pk", "p" + std::to_string(i)}, {"n", i * 7919}})), IsOk());
  }
  ASSERT_THAT((*file)->finish(), IsOk());
  const fs::path path = home_.buckets / "mine" / "cut.json.gz";
  fs::resize_file(path, fs::file_size(path) / 2);
  const Item done = import({.more = R"(,"InputCompressionType":"GZIP")"});
  EXPECT_EQ(text_of(done, "FailureCode"), "ItemValidationError");
  EXPECT_EQ(integer_of(done, "ErrorCount"), 1);
  const int64_t imported = integer_of(done, "ImportedItemCount");
  EXPECT_TRUE(imported > 0 && imported < kItems) << imported;
  EXPECT_EQ(integer_of(done, "ProcessedItemCount"), imported + 1);
  EXPECT_EQ(static_cast<int64_t>(all_items(ScanRequest{.table = "Tab"}).size()), imported);
}

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataImport.Validation.html
TEST_P(ImportsTest, InvalidItemsAreCountedAndTheRestImported) {
  std::string lines = line({{"pk", "a"}}) + line({{"other", "x"}}) + line({{"pk", 1}});
  lines += line({{"pk", "b"}, {"big", std::string(400UL * 1024, 'x')}}) + line({{"pk", "c"}});
  write("1.json", lines);
  write("2.json", line({{"pk", "d"}}) + "garbage\n" + line({{"pk", "lost"}}));
  write("3.json", R"({"pk":{"S":"x"}})");
  const Item done = import({});
  EXPECT_EQ(outcome(done), "FAILED ItemValidationError 8/3/5");
  EXPECT_EQ(text_of(done, "FailureMessage"),
            "Some of the items failed validation checks and were not imported. Please check "
            "CloudWatch error logs for more details.");
  EXPECT_EQ(all_items(ScanRequest{.table = "Tab"}).size(), 3);
  EXPECT_EQ(outcome(import({.table = "Folded", .more = R"(,"InputCompressionType":"GZIP")"})),
            "FAILED ItemValidationError 3/0/3");
}

TEST_P(ImportsTest, AMissingBucketMakesNoTableAndAnEmptyPrefixAnEmptyOne) {
  const Item failed = import({.bucket = "absent"});
  EXPECT_EQ(outcome(failed), "FAILED S3NoSuchBucket 0/0/0");
  EXPECT_THAT(text_of(failed, "FailureMessage"), HasSubstr("The specified bucket does not exist"));
  EXPECT_THAT(client_.describe_table({.table = "Tab"}), FailsWith(Code::kResourceNotFound, "Tab"));
  EXPECT_EQ(outcome(import({.prefix = "nothing/"})), "COMPLETED  0/0/0");
  EXPECT_TRUE(all_items(ScanRequest{.table = "Tab"}).empty());
}

TEST_P(ImportsTest, RequestsAreRefusedAsInDynamoDb) {
  create(hash_table("Taken"));
  EXPECT_THAT(client_.call("ImportTable", request({.table = "Taken"})),
              FailsWith(Code::kResourceInUse, "Table already exists: Taken"));
  EXPECT_THAT(client_.call("ImportTable",
                           request({.more = R"(,"InputFormatOptions":{"Csv":{"Delimiter":","}})"})),
              FailsWith(Code::kValidation,
                        "Invalid Request: Unsupported InputFormatOptions for the "
                        "given input format: DYNAMODB_JSON."));
  EXPECT_THAT(client_.call("ImportTable", request({.schema = ""})),
              FailsWith(Code::kValidation, ""));
  EXPECT_THAT(client_.call("ImportTable", request({.bucket = "../mine"})),
              FailsWith(Code::kValidation, "s3BucketSource.s3Bucket"));
  const std::string arn = "arn:aws:dynamodb:us-east-1:000000782867:table/Taken";
  EXPECT_THAT(client_.call("DescribeImport", R"({"ImportArn":")" + arn + "\"}"),
              FailsWith(Code::kValidation, "Invalid Import ARN"));
  EXPECT_THAT(client_.call("DescribeImport", R"({"ImportArn":")" + arn + "/import/0170-ab\"}"),
              FailsWith(Code::kImportNotFound, "Import not found"));
}

TEST_P(ImportsTest, ATokenNamesOneImport) {
  const std::string token = R"(,"ClientToken":"once")";
  const Item done = import({.more = token});
  EXPECT_THAT(client_.call("ImportTable", request({.more = token})),
              FailsWith(Code::kResourceInUse, "Table already exists: Tab"));
  EXPECT_THAT(client_.call("ImportTable", request({.table = "Other", .more = token})),
              FailsWith(Code::kImportConflict,
                        "Import conflict: Duplicate request detected with "
                        "conflicting parameters"));
  ASSERT_THAT(client_.delete_table({.table = "Tab"}), IsOk());
  const auto again = client_.call("ImportTable", request({.more = token}));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(text_of(described_job("Import", again), "ImportArn"), text_of(done, "ImportArn"));
}

TEST_P(ImportsTest, AreListedTheNewestFirst) {
  import({.table = "One"});
  import({.table = "Two"});
  const auto list = [&](const std::string& json) {
    const auto page = client_.call("ListImports", json);
    EXPECT_THAT(page, IsOk());
    return page ? wire::item_from_plain_json(*page).value_or(Item()) : Item();
  };
  const Item page = list(R"({"PageSize":1})");
  ASSERT_EQ(list_of(page, "ImportSummaryList").size(), 1);
  EXPECT_THAT(text_of(as_map(list_of(page, "ImportSummaryList")[0]), "TableArn"),
              ::testing::EndsWith("/Two"));
  const Item rest = list(R"({"NextToken":")" + text_of(page, "NextToken") + "\"}");
  ASSERT_EQ(list_of(rest, "ImportSummaryList").size(), 1);
  EXPECT_FALSE(rest.contains("NextToken"));
  const std::string arn = text_of(as_map(list_of(rest, "ImportSummaryList")[0]), "TableArn");
  EXPECT_EQ(list_of(list(R"({"TableArn":")" + arn + "\"}"), "ImportSummaryList").size(), 1);
  EXPECT_THAT(client_.call("ListImports", R"({"NextToken":")" + std::string(112, 'a') + "\"}"),
              FailsWith(Code::kValidation, "Provided nextToken is invalid"));
}

}  // namespace
}  // namespace stator::test
