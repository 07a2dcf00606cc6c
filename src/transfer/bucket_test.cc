// SPDX-License-Identifier: Apache-2.0
#include "transfer/bucket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/matchers.h"
#include "support/temp_dir.h"
#include "transfer/export_lines.h"
#include "transfer/export_manifests.h"
#include "transfer/item_reader.h"

namespace stator::transfer {
namespace {

namespace fs = std::filesystem;
using test::FailsWith;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BucketTest : public ::testing::Test {
 protected:
  BucketTest() {
    fs::create_directories(buckets_ / "mine" / "data");
    write("mine/data/1.json");
    write("mine/data.bak");
    write("secret.json");
  }
  void write(const std::string& path) const { std::ofstream(buckets_ / path) << "x"; }
  std::string content(const std::string& path) const {
    std::stringstream text;
    text << std::ifstream(buckets_ / path).rdbuf();
    return text.str();
  }
  Bucket mine() const { return *Bucket::open(buckets_, "mine"); }

  test::TempDir directory_;
  fs::path buckets_ = directory_.path() / "buckets";
};

TEST_F(BucketTest, APrefixIsABeginningOfKeys) {
  EXPECT_THAT(*mine().keys(""), ElementsAre("data.bak", "data/1.json"));
  EXPECT_THAT(*mine().keys("data"), ElementsAre("data.bak", "data/1.json"));
  EXPECT_THAT(*mine().keys("data/"), ElementsAre("data/1.json"));
  EXPECT_THAT(*mine().keys("data/1.json"), ElementsAre("data/1.json"));
  EXPECT_THAT(*mine().keys("nothing"), ElementsAre());
}

TEST_F(BucketTest, NothingLeadsOutOfIt) {
  fs::create_directory_symlink(buckets_, buckets_ / "linked");
  fs::create_directory_symlink(buckets_, buckets_ / "mine" / "out");
  fs::create_symlink(buckets_ / "secret.json", buckets_ / "mine" / "secret");
  EXPECT_THAT(Bucket::open(buckets_, "linked"), FailsWith(Code::kNotFound, "linked"));
  for (const char* name : {"", "..", ".", "mine/data", "none", "secret.json"}) {
    EXPECT_THAT(Bucket::open(buckets_, name), FailsWith(Code::kNotFound, "does not exist"));
  }
  EXPECT_THAT(Bucket::open("", "mine"), FailsWith(Code::kNotFound, "does not exist"));
  EXPECT_THAT(*mine().keys(""), ElementsAre("data.bak", "data/1.json"));
  for (const char* key : {"../secret.json", "/etc/passwd", "data/../../secret.json", "data//1.json",
                          "out/secret.json", "", "."}) {
    EXPECT_THAT(mine().read(key), FailsWith(Code::kAccessDenied, "no access")) << key;
    EXPECT_THAT(mine().write(key, "y"), FailsWith(Code::kAccessDenied, "no access")) << key;
  }
  EXPECT_THAT(mine().read("secret"), FailsWith(Code::kAccessDenied, "could not open"));
  ASSERT_THAT(mine().write("secret", "y"), IsOk());  // in the link's place
  EXPECT_EQ(content("secret.json"), "x");
}

TEST_F(BucketTest, AnExportsFilesAreNamedAndSummarizedAsInDynamoDb) {
  ExportSummary summary{.arn = "arn:aws:dynamodb:us-east-1:000000782867:table/T/export/0170-ab",
                        .id = "0170-ab",
                        .bucket = "mine",
                        .prefix = "/2020-Nov/",
                        .has_prefix = true,
                        .started_ms = 1'604'474'914'028,
                        .ended_ms = 1'604'475'223'897,
                        .time_ms = 1'604'474'914'028,
                        .items = 2};
  const std::string key = data_key(summary, 0);
  EXPECT_THAT(key,
              ::testing::MatchesRegex("2020-Nov/AWSDynamoDB/0170-ab/data/[a-z2-7]*\\.json\\.gz"));
  EXPECT_NE(key, data_key(summary, 1));
  auto writer = DataFileWriter::create(mine(), key);
  ASSERT_THAT(writer, IsOk());
  const std::vector<Item> items = {{{"pk", "a"}}, {{"pk", "b"}}};
  for (const Item& item : items) {
    ASSERT_THAT((*writer)->add(line_of(summary.format, item)), IsOk());
  }
  const auto file = (*writer)->finish();
  ASSERT_THAT(file, IsOk());
  ASSERT_THAT(write_manifests(mine(), summary, {*file}), IsOk());
  const std::string directory = "mine/" + export_directory(summary);
  EXPECT_THAT(content(directory + "/manifest-summary.json"),
              ::testing::AllOf(HasSubstr(R"("version":"2020-06-30")"),
                               HasSubstr(R"("startTime":"2020-11-04T07:28:34.028Z")"),
                               HasSubstr(R"("endTime":"2020-11-04T07:33:43.897Z")"),
                               HasSubstr(R"("s3Prefix":"/2020-Nov/","s3SseAlgorithm":"AES256")"),
                               HasSubstr(R"("itemCount":2,"outputFormat":"DYNAMODB_JSON"})")));
  const std::string files = content(directory + "/manifest-files.json");
  EXPECT_THAT(files, HasSubstr(R"({"itemCount":2,"md5Checksum":")" + file->md5 + "\""));
  EXPECT_THAT(files, HasSubstr(R"(-1","dataFileS3Key":")" + key + "\"}\n"));
  EXPECT_EQ(content(directory + "/manifest-files.md5").size(), 24);
  auto reader = read_items(*mine().read(key), summary.format, Compression::kGzip, {});
  ASSERT_THAT(reader, IsOk());
  for (const Item& item : items) {
    ASSERT_EQ((*reader)->next(), Found::kItem);
    EXPECT_EQ((*reader)->item(), item);
  }
  EXPECT_EQ((*reader)->next(), Found::kEnd);
}

TEST_F(BucketTest, ADataFileAppearsOnceItIsComplete) {
  {
    const auto writer = DataFileWriter::create(mine(), "part/of.json.gz");
    ASSERT_THAT(writer, IsOk());
    ASSERT_THAT((*writer)->add("line\n"), IsOk());
  }
  EXPECT_THAT(*mine().keys("part"), ElementsAre());
}

TEST(Changes, AreWrittenAsInDynamoDb) {
  const ItemChange change{.keys = {{"pk", "a"}},
                          .written_us = 1'680'109'764'000'001,
                          .old_image = Item{{"pk", "a"}},
                          .new_image = Item{{"pk", "a"}, {"n", 1}}};
  EXPECT_EQ(line_of(DataFormat::kDynamoDbJson, change),
            R"({"Metadata":{"WriteTimestampMicros":{"N":"1680109764000001"}},)"
            R"("Keys":{"pk":{"S":"a"}},"OldImage":{"pk":{"S":"a"}},)"
            R"("NewImage":{"n":{"N":"1"},"pk":{"S":"a"}}})"
            "\n");
  EXPECT_EQ(line_of(DataFormat::kIon, ItemChange{.keys = {{"pk", "a"}}, .written_us = 5}),
            "$ion_1_0 {Record:{Keys:{pk:\"a\"},Metadata:{WriteTimestampMicros:5.}}}\n");
}

}  // namespace
}  // namespace stator::transfer
