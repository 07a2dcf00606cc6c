// SPDX-License-Identifier: Apache-2.0
// stator export and import: copying a table, even if a run is killed.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

#include "cli/stator_program.h"
#include "cli/terminal.h"
#include "client/scripted_service.h"
#include "stator/http_client.h"
#include "support/must.h"
#include "support/read_file.h"

namespace stator::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class TransferCommand : public CommandTest {
 protected:
  std::string items(int count, const std::string& beginning) {
    std::string lines;
    for (int i = 0; i < count; ++i) {
      lines += R"({"Item":{"pk":{"S":")" + beginning + std::to_string(i) +
               R"("},"list":{"L":[{"N":"1.5"},{"NULL":true}]},"set":{"SS":["a"]}}})" + "\n";
    }
    return lines;
  }
};
STATOR_ON_DATA_AND_ENDPOINT(TransferCommand);

TEST_P(TransferCommand, ImportsAnExport) {
  const std::string source = write("items.json", items(60, "k"));
  EXPECT_THAT(stator({"import", "One", source, "--key", "pk:S"}),
              Prints("imported 60 items, 0 errors\n"));
  for (const std::string format : {"json", "ion"}) {
    const std::string directory = where_.path(format);
    const Ran exported = stator({"export", "One", directory, "--format", format});
    EXPECT_EQ(exported.status, 0) << exported.err;
    EXPECT_THAT(exported.out,
                MatchesRegex("exported 60 items in 1 files: AWSDynamoDB/[0-9]*-[0-9a-f]*/"
                             "manifest-summary.json\n"));
    EXPECT_THAT(stator({"import", "Copy-" + format, directory, "--key", "pk:S", "--json"}),
                Prints("{\"errors\":0,\"items\":60}\n"));
    const Ran again = stator({"export", "Copy-" + format, where_.path("again"), "--json"});
    EXPECT_THAT(again.out, AllOf(HasSubstr("\"items\":60"), HasSubstr("\"files\":1")));
  }
}

TEST_P(TransferCommand, RowsOfCsvHaveTheKeysOfTheTable) {
  const std::string source = write("rows.csv", "pk;n\na;1\nb;x\nc;3\n");
  const Ran ran =
      stator({"import", "Rows", source, "--key", "pk:S", "--key", "n:N", "--delimiter", ";"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "imported 2 items, 1 errors\n");
  EXPECT_THAT(ran.err, MatchesRegex("rows.csv: [^\n]*numeric[^\n]*\n"));
}

TEST_P(TransferCommand, ReportsRejectedItemsAndImportsTheRest) {
  const std::string source = write(
      "items.json", items(30, "k") + "{\"Item\":{\"other\":{\"S\":\"x\"}}}\n" + items(3, "l"));
  const Ran ran = stator({"import", "Some", source, "--key", "pk:S"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "imported 33 items, 1 errors\n");
  EXPECT_THAT(ran.err, HasSubstr("items.json: "));
}

TEST_P(TransferCommand, ReportsTwentyErrorsAndCountsTheOthers) {
  ASSERT_EQ(stator({"import", "Some", write("none.json", ""), "--key", "pk:S"}).status, 0);
  const auto reported = [&](int errors) {
    std::string lines;
    for (int i = 0; i < errors; ++i) lines += "{\"Item\":{\"other\":{\"S\":\"x\"}}}\n";
    const Ran ran = stator({"import", "Some", write("items.json", lines)});
    EXPECT_EQ(ran.out, "imported 0 items, " + std::to_string(errors) + " errors\n");
    return ran.err;
  };
  const std::string twenty = reported(20);
  EXPECT_EQ(std::ranges::count(twenty, '\n'), 20);
  EXPECT_THAT(twenty, Not(HasSubstr("further errors")));
  EXPECT_EQ(reported(25), twenty + "further errors are only counted\n");
}

TEST(Import, StopsWhileTheTableAcceptsNothing) {
  constexpr const char* kPut = R"({"PutRequest":{"Item":{"pk":{"S":"a"}}}})";
  std::vector<ScriptStep> script = {
      answer(200, R"({"Table":{"TableName":"Tab","TableStatus":"ACTIVE","KeySchema":[)"
                  R"({"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":[)"
                  R"({"AttributeName":"pk","AttributeType":"S"}]}})")};
  for (int i = 0; i < 20; ++i) {
    script.push_back(answer(200, R"({"UnprocessedItems":{"Tab":[)" + std::string(kPut) + "]}}"));
  }
  const ScriptedService service(std::move(script));
  const TempDir directory;
  const fs::path source = directory.path() / "items.json";
  std::ofstream(source) << R"({"Item":{"pk":{"S":"a"}}})" << "\n";
  Process import(stator_command({"import", "Tab", source, "--endpoint", service.url()}));
  while (service.requests().size() < 3 && import.is_running()) std::this_thread::yield();
  import.send_signal(SIGINT);
  EXPECT_EQ(import.wait(), 1);
  EXPECT_EQ(import.err(), "stator: stopped; the same command starts over\n");
}

TEST_P(TransferCommand, ShowsOnATerminalHowFarAnImportIs) {
  const std::string source = write("items.json", items(1'000, "k"));
  std::vector<std::string> command = {"import", "Many", source, "--key", "pk:S"};
  const std::vector<std::string> where = where_.flags();
  command.insert(command.end(), where.begin(), where.end());
  EXPECT_THAT(Terminal(stator_command(command)).rest(),
              AllOf(ContainsRegex("import: [0-9]+%"), HasSubstr("imported 1000 items")));
}

TEST_P(TransferCommand, AKilledImportResumesFromItsCheckpoint) {
  const std::string source = write("items.json", items(20'000, "k"));
  const std::string checkpoint = where_.path("checkpoint");
  ASSERT_EQ(stator({"import", "Many", write("none.json", ""), "--key", "pk:S"}).status, 0);
  std::vector<std::string> command = {"import", "Many", source, "--checkpoint", checkpoint};
  const std::vector<std::string> where = where_.flags();
  command.insert(command.end(), where.begin(), where.end());
  {
    Process killed(stator_command(command));
    while (!fs::exists(checkpoint) && killed.is_running()) std::this_thread::yield();
    killed.send_signal(SIGKILL);
    EXPECT_EQ(killed.wait(), -1);
  }
  EXPECT_THAT(run_stator(command), Prints("imported 20000 items, 0 errors\n"));
  const Ran exported = stator({"export", "Many", where_.path("out"), "--json"});
  EXPECT_THAT(exported.out, HasSubstr("\"items\":20000"));
}

TEST_P(TransferCommand, AKilledExportResumes) {
  ASSERT_EQ(
      stator({"import", "Tab", write("items.json", items(9'000, "k")), "--key", "pk:S"}).status, 0);
  const fs::path root = where_.path("out/AWSDynamoDB");
  const std::vector<std::string> where = where_.flags();
  std::vector<std::string> command = {"export", "Tab", where_.path("out")};
  command.insert(command.end(), where.begin(), where.end());
  {
    Process killed(stator_command(command));
    const auto has_begun = [&] {
      return fs::exists(root) && fs::directory_iterator(root) != fs::directory_iterator() &&
             fs::exists(fs::directory_iterator(root)->path() / "_progress");
    };
    while (!has_begun() && killed.is_running()) std::this_thread::yield();
    killed.send_signal(SIGKILL);
    ASSERT_EQ(killed.wait(), -1);
  }
  const Ran ran = stator({"export", "Tab", where_.path("out"), "--json"});
  EXPECT_THAT(ran.out, HasSubstr("\"items\":9000"));
  // The same export is complete, without files of the killed run.
  ASSERT_EQ(std::distance(fs::directory_iterator(root), fs::directory_iterator()), 1);
  const fs::path directory = fs::directory_iterator(root)->path();
  EXPECT_TRUE(fs::exists(directory / "manifest-summary.json"));
  EXPECT_FALSE(fs::exists(directory / "_progress"));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory / "data"), fs::directory_iterator()), 1);
}

TEST_P(TransferCommand, AnExportWithManyFilesResumes) {
  ASSERT_EQ(stator({"import", "Tab", write("items.json", items(1, "k")), "--key", "pk:S"}).status,
            0);
  const fs::path root = where_.path("out/AWSDynamoDB");
  ASSERT_EQ(stator({"export", "Tab", where_.path("out")}).status, 0);
  const std::string summary =
      read_file(fs::directory_iterator(root)->path() / "manifest-summary.json");
  const std::string member = "\"tableId\":\"";
  const std::size_t id = summary.find(member) + member.size();
  std::string progress = R"({"id":"resumed","format":"DYNAMODB_JSON","started":1,"scanned":true,)"
                         R"("after":"","table":")" +
                         summary.substr(id, summary.find('"', id) - id) + R"(","files":[)";
  constexpr int kFiles = 10'000;
  for (int i = 0; i < kFiles; ++i) {
    progress += (i == 0 ? "" : ",") + (R"({"key":"AWSDynamoDB/resumed/data/)" + std::to_string(i)) +
                R"(.json.gz","items":2,"md5":"0123456789012345678901==",)"
                R"("etag":"01234567890123456789012345678901-1"})";
  }
  progress += "]}";
  ASSERT_GT(progress.size(), 1UL << 20);
  fs::create_directory(root / "resumed");
  std::ofstream(root / "resumed/_progress") << progress;
  EXPECT_THAT(stator({"export", "Tab", where_.path("out")}),
              Prints("exported 20000 items in 10000 files: "
                     "AWSDynamoDB/resumed/manifest-summary.json\n"));
}

// A server that is killed during a job, and started again.
class KilledJob : public ::testing::Test {
 protected:
  KilledJob() { fs::create_directories(buckets_ / "mine"); }

  static HttpClient client_of(const Serving& serving) {
    return must(HttpClient::open({.endpoint = serving.url(), .credentials = {"a", "b"}}));
  }
  static std::string member(const std::string& json, const std::string& name) {
    const std::size_t at = json.find("\"" + name + "\":") + name.size() + 3;
    return json.substr(at, json.find_first_of(",}", at) - at);
  }
  // Describes a job when it has ended or, if `begun`, has processed items.
  static std::string description(HttpClient& client, const std::string& operation,
                                 const std::string& request, const std::string& status,
                                 bool begun = false) {
    std::string described;
    do {
      described = must(client.call(operation, request));
    } while (member(described, status) == "\"IN_PROGRESS\"" &&
             (!begun || member(described, "ProcessedItemCount") == "0"));
    return described;
  }
  static int64_t count(Client& client, ScanRequest scan) {
    int64_t items = 0;
    do {
      const PageResult page = must(client.scan(scan));
      items += page.count;
      scan.exclusive_start_key = page.last_evaluated_key;
    } while (scan.exclusive_start_key);
    return items;
  }

  const TempDir directory_;
  const fs::path buckets_ = directory_.path() / "buckets";
  const std::vector<std::string> serve_ = {"--data", directory_.path() / "data", "--buckets",
                                           buckets_};
};

TEST_F(KilledJob, AnImportResumes) {
  constexpr int kItems = 30'000;
  const fs::path input = buckets_ / "mine/items.csv";
  {
    std::ofstream file(input);
    file << "pk,place\n";
    for (int i = 0; i < kItems; ++i) file << "k" << i % 20'000 << ",p" << i << "\n";
  }
  std::string describe;
  {
    Serving serving(serve_);
    HttpClient client = client_of(serving);
    const std::string begun = must(client.call("ImportTable", R"({
      "S3BucketSource":{"S3Bucket":"mine"},"InputFormat":"CSV","TableCreationParameters":{
        "TableName":"Tab","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},
                                {"AttributeName":"place","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
        "GlobalSecondaryIndexes":[{"IndexName":"Place","Projection":{"ProjectionType":"KEYS_ONLY"},
          "KeySchema":[{"AttributeName":"place","KeyType":"HASH"}]}]}})"));
    describe = R"({"ImportArn":)" + member(begun, "ImportArn") + "}";
    const std::string described =
        description(client, "DescribeImport", describe, "ImportStatus", true);
    serving.process().send_signal(SIGKILL);
  }
  const Serving serving(serve_);
  HttpClient client = client_of(serving);
  const std::string described = description(client, "DescribeImport", describe, "ImportStatus");
  EXPECT_EQ(member(described, "ImportStatus"), "\"COMPLETED\"") << described;
  EXPECT_EQ(member(described, "ImportedItemCount"), std::to_string(kItems));
  EXPECT_EQ(member(described, "ProcessedSizeBytes"), std::to_string(fs::file_size(input)));
  EXPECT_EQ(count(client, {.table = "Tab", .index = "Place"}), 20'000);
}

TEST_F(KilledJob, ABulkPutResumesAndPutsEachItemOnce) {
  constexpr int kItems = 60'000;
  const fs::path input = buckets_ / "mine/items.json";
  {
    std::ofstream file(input);
    for (int i = 0; i < kItems; ++i) {
      const std::string key = "k" + std::to_string(i);
      file << R"({"Item":{"pk":{"S":")" << key
           << R"x("}},"ConditionExpression":"attribute_not_exists(pk)"})x" << "\n";
    }
  }
  std::string describe;
  {
    Serving serving(serve_);
    HttpClient client = client_of(serving);
    must(client.create_table({.table = "Tab",
                              .attributes = {{"pk", ScalarType::kS}},
                              .key_schema = {{"pk", KeyType::kHash}},
                              .billing_mode = BillingMode::kPayPerRequest}));
    const std::string begun = must(client.call("StartBulkPutItems", R"({"TableName":"Tab",
      "InputS3Configuration":{"S3Bucket":"mine","S3KeyPrefix":"items","InputFormat":"DYNAMODB_JSON"},
      "OutputS3Configuration":{"S3Bucket":"mine","S3KeyPrefix":"out","OutputType":["ERROR"]}})"));
    describe = R"({"BulkOperationArn":)" + member(begun, "BulkOperationArn") + "}";
    const std::string described =
        description(client, "DescribeBulkOperation", describe, "BulkOperationStatus", true);
    ASSERT_LT(std::stoi(member(described, "ProcessedItemCount")), kItems);
    serving.process().send_signal(SIGKILL);
  }
  const Serving serving(serve_);
  HttpClient client = client_of(serving);
  const std::string described =
      description(client, "DescribeBulkOperation", describe, "BulkOperationStatus");
  EXPECT_EQ(member(described, "BulkOperationStatus"), "\"COMPLETED\"") << described;
  EXPECT_EQ(member(described, "ProcessedItemCount"), std::to_string(kItems));
  EXPECT_EQ(member(described, "FailedItemCount"), "0");
  // A record that was put twice would count as a failed condition.
  const std::string arn = member(described, "BulkOperationArn");
  const std::string id = arn.substr(arn.rfind('/') + 1, arn.size() - arn.rfind('/') - 2);
  const std::string summary =
      read_file(buckets_ / "mine/out/AWSDynamoDB" / id / "manifest-summary.json");
  EXPECT_EQ(member(summary, "conditionCheckFailureCount"), "0") << summary;
  EXPECT_EQ(member(summary, "writtenItemCount"), std::to_string(kItems)) << summary;
  EXPECT_EQ(member(described, "ProcessedInputBytes"), std::to_string(fs::file_size(input)));
  EXPECT_EQ(count(client, {.table = "Tab"}), kItems);
}

TEST_P(TransferCommand, ReportsMissingFilesAndTables) {
  expect_failure({"import", "Tab", write("a.json", "")}, 1, "table 'Tab' does not exist");
  expect_failure({"import", "Tab", where_.path("nowhere")}, 1,
                 "nowhere': No such file or directory");
  expect_failure({"import", "Tab", where_.path("a.json/b")}, 1, "a.json/b': Not a directory");
  expect_failure({"import", "Tab", write("a.json", ""), "--key", "pk:X"}, 2,
                 "NAME:S, NAME:N or NAME:B");
  fs::create_directory(where_.path("empty"));
  expect_failure({"import", "Tab", where_.path("empty")}, 2, "no item files in");
  expect_failure({"export", "Tab", where_.path("out")}, 1, "not found");
  ASSERT_EQ(stator({"import", "Tab", write("a.json", ""), "--key", "pk:S"}).status, 0);
  expect_failure({"import", "Tab", where_.path("a.json"), "--checkpoint", write("other", "{}")}, 2,
                 "is not a checkpoint of this import");
}

}  // namespace
}  // namespace stator::test
