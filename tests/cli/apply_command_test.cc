// SPDX-License-Identifier: Apache-2.0
// stator apply: the tables of a template, created if missing and changed if different.
#include <filesystem>
#include <fstream>

#include "cli/stator_program.h"
#include "cli/terminal.h"
#include "client/scripted_service.h"
#include "support/paths.h"

namespace stator::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTemplate = R"(Parameters:
  Stage: {Type: String, Default: dev}
Resources:
  Music:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub '${Stage}-music'
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - {AttributeName: artist, AttributeType: S}
        - {AttributeName: year, AttributeType: N}
      KeySchema: [{AttributeName: artist, KeyType: HASH}]
      GlobalSecondaryIndexes:
        - IndexName: ByYear
          KeySchema: [{AttributeName: year, KeyType: HASH}]
          Projection: {ProjectionType: ALL}
      KinesisStreamSpecification: {StreamArn: arn}
  Simple: {Type: AWS::Serverless::SimpleTable}
  Bucket: {Type: AWS::S3::Bucket}
)";

class ApplyCommand : public CommandTest {
 protected:
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  }
};
STATOR_ON_DATA_AND_ENDPOINT(ApplyCommand);

TEST_P(ApplyCommand, CreatesMissingTablesAndIsIdempotent) {
  const std::string path = write("template.yml", kTemplate);
  Ran ran = stator({"apply", path, "--dry-run"});
  EXPECT_EQ(ran.out, "dev-music\tmissing\nSimple\tmissing\n");
  ran = stator({"apply", path});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "dev-music\tcreated\nSimple\tcreated\n");
  EXPECT_EQ(ran.err, "stator: note: Music: KinesisStreamSpecification is not applied\n");
  EXPECT_THAT(stator({"apply", path, "--json"}),
              Prints("{\"changes\":[],\"not_applied\":[\"KinesisStreamSpecification\"],"
                     "\"outcome\":\"unchanged\",\"resource\":\"Music\",\"table\":\"dev-music\"}\n"
                     "{\"changes\":[],\"not_applied\":[],\"outcome\":\"unchanged\","
                     "\"resource\":\"Simple\",\"table\":\"Simple\"}\n"));
  EXPECT_EQ(stator({"apply", path, "--parameter", "Stage=prod"}).out,
            "prod-music\tcreated\nSimple\tunchanged\n");
}

constexpr const char* kBefore = R"(Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - {AttributeName: id, AttributeType: S}
        - {AttributeName: day, AttributeType: S}
        - {AttributeName: sum, AttributeType: N}
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      GlobalSecondaryIndexes:
        - IndexName: ByDay
          KeySchema: [{AttributeName: day, KeyType: HASH}]
          Projection: {ProjectionType: ALL}
        - IndexName: BySum
          KeySchema: [{AttributeName: sum, KeyType: HASH}]
          Projection: {ProjectionType: INCLUDE, NonKeyAttributes: [b, a]}
      StreamSpecification: {StreamViewType: KEYS_ONLY}
      TimeToLiveSpecification: {AttributeName: expires, Enabled: true}
      SSESpecification: {SSEEnabled: true}
      DeletionProtectionEnabled: true
      Tags: [{Key: team, Value: a}, {Key: cost, Value: b}]
)";

constexpr const char* kAfter = R"(Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PROVISIONED
      ProvisionedThroughput: {ReadCapacityUnits: 5, WriteCapacityUnits: 6}
      TableClass: STANDARD_INFREQUENT_ACCESS
      AttributeDefinitions:
        - {AttributeName: id, AttributeType: S}
        - {AttributeName: day, AttributeType: N}
        - {AttributeName: sum, AttributeType: N}
        - {AttributeName: city, AttributeType: S}
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      GlobalSecondaryIndexes:
        - IndexName: BySum
          KeySchema: [{AttributeName: sum, KeyType: HASH}]
          Projection: {ProjectionType: INCLUDE, NonKeyAttributes: [a, b]}
          ProvisionedThroughput: {ReadCapacityUnits: 1, WriteCapacityUnits: 2}
        - IndexName: ByCity
          KeySchema: [{AttributeName: city, KeyType: HASH}, {AttributeName: sum, KeyType: RANGE}]
          Projection: {ProjectionType: KEYS_ONLY}
          ProvisionedThroughput: {ReadCapacityUnits: 3, WriteCapacityUnits: 4}
        - IndexName: ByDayNumber
          KeySchema: [{AttributeName: day, KeyType: HASH}]
          Projection: {ProjectionType: ALL}
          ProvisionedThroughput: {ReadCapacityUnits: 3, WriteCapacityUnits: 4}
      StreamSpecification: {StreamViewType: NEW_IMAGE}
      TimeToLiveSpecification: {AttributeName: ends, Enabled: true}
      SSESpecification: {SSEEnabled: false}
      Tags: [{Key: team, Value: c}, {Key: owner, Value: b}]
)";

constexpr const char* kChanges =
    "remove index ByDay; billing mode PROVISIONED, throughput, capacity of index BySum; "
    "add index ByCity; add index ByDayNumber; table class STANDARD_INFREQUENT_ACCESS; "
    "no deletion protection; encryption; no stream; stream NEW_IMAGE; no time to live; "
    "time to live on ends; no tags cost; tags team, owner\n";

TEST_P(ApplyCommand, ChangesATableToMatchTheTemplate) {
  const std::string before = write("before.yml", kBefore);
  const std::string after = write("after.yml", kAfter);
  EXPECT_THAT(stator({"apply", before}), Prints("Orders\tcreated\ttime to live on expires\n"));
  EXPECT_THAT(stator({"apply", before}), Prints("Orders\tunchanged\n"));
  EXPECT_THAT(stator({"apply", after, "--dry-run"}),
              Prints(std::string("Orders\tdiffers\t") + kChanges));
  EXPECT_THAT(stator({"apply", before, "--dry-run"}), Prints("Orders\tunchanged\n"));
  EXPECT_THAT(stator({"apply", after}), Prints(std::string("Orders\tupdated\t") + kChanges));
  EXPECT_THAT(stator({"apply", after}), Prints("Orders\tunchanged\n"));
}

TEST_P(ApplyCommand, ChangesOnDemandLimitsAndWarmThroughputOneByOne) {
  const std::string path = write("template.yml", kTemplate);
  ASSERT_EQ(stator({"apply", path}).status, 0);
  const std::string more = replaced(kTemplate, "PAY_PER_REQUEST",
                                    "PAY_PER_REQUEST\n"
                                    "      OnDemandThroughput: {MaxReadRequestUnits: 10}\n"
                                    "      WarmThroughput: {ReadUnitsPerSecond: 20000}");
  EXPECT_EQ(stator({"apply", write("more.yml", more)}).out,
            "dev-music\tupdated\ton-demand throughput; warm throughput\nSimple\tunchanged\n");
}

TEST_P(ApplyCommand, DeletesSettingsThatTheTemplateLacks) {
  ASSERT_EQ(stator({"apply", write("before.yml", kBefore)}).status, 0);
  std::string bare(kBefore);
  bare.resize(bare.find("      GlobalSecondaryIndexes"));
  bare = replaced(bare, "        - {AttributeName: day, AttributeType: S}\n", "");
  bare = replaced(bare, "        - {AttributeName: sum, AttributeType: N}\n", "");
  const std::string path = write("bare.yml", bare);
  EXPECT_THAT(stator({"apply", path}),
              Prints("Orders\tupdated\tremove index ByDay; remove index BySum; "
                     "no deletion protection; no stream; no time to live\n"));
  EXPECT_THAT(stator({"apply", path}), Prints("Orders\tunchanged\n"));
}

TEST_P(ApplyCommand, RejectsChangesThatNoTableAllows) {
  const std::string before = write("before.yml", kBefore);
  ASSERT_EQ(stator({"apply", before}).status, 0);
  const auto refuses = [&](const std::string& from, const std::string& to,
                           const std::string& reason) {
    expect_failure({"apply", write("other.yml", replaced(kBefore, from, to))}, 1,
                   "Orders: table 'Orders' exists and cannot become what is wanted: " + reason);
  };
  refuses("id, KeyType: HASH}", "id, KeyType: HASH}, {AttributeName: day, KeyType: RANGE}",
          "it has another key schema");
  refuses("{AttributeName: id, AttributeType: S}", "{AttributeName: id, AttributeType: B}",
          "its attribute id has another type");
  refuses("day, KeyType: HASH}", "day, KeyType: HASH}, {AttributeName: sum, KeyType: RANGE}",
          "its index ByDay has another key schema; give the index another name");
  refuses("NonKeyAttributes: [b, a]", "NonKeyAttributes: [b, c]",
          "its index BySum has another projection; give the index another name");
  EXPECT_THAT(stator({"apply", before}), Prints("Orders\tunchanged\n"));
}

TEST_P(ApplyCommand, ReportsWhichChangeFailed) {
  const std::string before = write("before.yml", kBefore);
  ASSERT_EQ(stator({"apply", before}).status, 0);
  expect_failure({"apply", write("long.yml", replaced(kBefore, "AttributeName: expires",
                                                      "AttributeName: " + std::string(256, 'a')))},
                 1, "Orders: time to live on aaa");
  expect_failure({"apply", write("tag.yml", replaced(kBefore, "Key: cost", "Key: 'aws:cost'"))}, 1,
                 "Orders: tags aws:cost: ");
}

TEST_P(ApplyCommand, CreatesNothingIfOneTableIsInvalidOrDiffers) {
  expect_failure({"apply", write("wrong.yml", replaced(kTemplate, "artist, KeyType: HASH",
                                                       "artist, KeyType: RANGE"))},
                 1, "Music: Invalid KeySchema");
  const std::string last_is_wrong =
      std::string("Resources:\n  First: {Type: AWS::Serverless::SimpleTable}\n") +
      "  No: {Type: AWS::Serverless::SimpleTable, Properties: {TableName: 'a b'}}\n";
  expect_failure({"apply", write("last.yml", last_is_wrong)}, 1, "No: ");
  const std::string path = write("template.yml", kTemplate);
  EXPECT_EQ(stator({"apply", path, "--dry-run"}).out, "dev-music\tmissing\nSimple\tmissing\n");
  ASSERT_EQ(stator({"apply", path}).status, 0);
  expect_failure({"apply", write("other.yml", replaced(kTemplate, "year, AttributeType: N",
                                                       "year, AttributeType: S"))},
                 1, "its attribute year has another type");
}

TEST_P(ApplyCommand, ReportsInvalidTemplates) {
  expect_failure({"apply", where_.path("missing.yml")}, 1, "missing.yml: No such file");
  expect_failure({"apply", where_.path("")}, 1, "Is a directory");
  expect_failure({"apply", write("broken.yml", "hello: [")}, 1,
                 "broken.yml: line 1: not valid YAML");
  expect_failure({"apply", write("text.yml", "just text")}, 1,
                 "not a CloudFormation or SAM template: it has no map named Resources");
  expect_failure({"apply", write("none.yml", "Resources: {B: {Type: 'AWS::S3::Bucket'}}")}, 1,
                 "the template defines no tables");
  expect_failure({"apply", write("large.yml", std::string(1'000'001, ' '))}, 1, "larger than");
  const std::string path = write("template.yml", kTemplate);
  expect_failure({"apply", path, "--parameter", "Stage"}, 2,
                 "invalid 'Stage'; expected NAME=VALUE");
  expect_failure({"apply", path, "--parameter", "Stge=prod"}, 1,
                 "the template has no parameter 'Stge'");
}

// create_table_if_missing() fails if the existing table lacks a required part.
TEST_P(ApplyCommand, TheRecipesTemplatesMakeTheTablesThatTheyNeed) {
  const auto apply = [&](const std::string& name, std::vector<std::string> parameters = {}) {
    std::vector<std::string> arguments{"apply", source_path("examples/templates/" + name + ".yml")};
    for (std::string& parameter : parameters) {
      arguments.insert(arguments.end(), {"--parameter", std::move(parameter)});
    }
    const Ran ran = stator(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
  };
  for (const char* name : {"toggle", "semaphore", "feed", "sensors"}) apply(name);
  apply("feed-stream", {"FeedTable=Streamed", "FollowersTable=StreamedFollowers"});
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"toggle", "save", "door", "on"},
           {"lock", "run", "nightly", "--", "true"},
           {"feed", "follow", "bob", "ann", "--merge-over", "5"},
           {"feed", "follow", "bob", "ann", "--stream-outbox", "--table", "Streamed",
            "--followers-table", "StreamedFollowers"},
           {"sensor", "add", "s", "--city", "Poznan", "--building", "A", "--floor", "1", "--room",
            "2", "--retention", "60"}}) {
    const Ran ran = stator(command);
    EXPECT_EQ(ran.status, 0) << command[0] << ": " << ran.err;
  }
  expect_failure({"feed", "follow", "bob", "ann", "--stream-outbox"}, 1, "lacks the stream");
}

TEST(ApplyCommandAlone, NeedsATemplateAndATarget) {
  expect_refusal({"apply", "--data", "d"}, 2, "template is required (see stator apply --help)");
  expect_refusal({"apply", "template.yml", "--data", "d", "--endpoint", "http://x"}, 2,
                 "--data excludes --endpoint");
}

TEST(ApplyCommandAlone, MakesNoDirectoryForATemplateThatItRefuses) {
  const TempDir temporary;
  const std::string path = (temporary.path() / "template.yml").string();
  std::ofstream(path) << "Resources: {T: {Type: 'AWS::Serverless::SimpleTable', "
                         "Properties: {TableName: 'a b'}}}";
  const std::string data = (temporary.path() / "data").string();
  expect_refusal({"apply", path, "--data", data}, 1, "T: ");
  EXPECT_FALSE(std::filesystem::exists(data));
}

// A service that needs time: first 400 of 1,000 items are in the index, then 700.
TEST(ApplyCommandAlone, ShowsOnATerminalHowFarAnIndexIs) {
  const TempDir directory;
  const std::string path = directory.path() / "template.yml";
  std::ofstream(path) << R"(Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: Orders
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - {AttributeName: id, AttributeType: S}
        - {AttributeName: city, AttributeType: S}
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      GlobalSecondaryIndexes:
        - IndexName: ByCity
          KeySchema: [{AttributeName: city, KeyType: HASH}]
          Projection: {ProjectionType: ALL}
)";
  const auto table = [](const std::string& member, const std::string& status,
                        const std::string& index) {
    return answer(200, "{\"" + member + R"(":{"TableName":"Orders","TableStatus":")" + status +
                           R"(","ItemCount":1000,"TableArn":"arn:aws:dynamodb:eu:1:table/Orders",)"
                           R"("BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST"},)"
                           R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],)"
                           R"("AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},)"
                           R"({"AttributeName":"city","AttributeType":"S"}])" +
                           index + "}}");
  };
  const auto filled = [&](const std::string& status, int items) {
    return table("Table", status == "ACTIVE" ? "ACTIVE" : "UPDATING",
                 R"(,"GlobalSecondaryIndexes":[{"IndexName":"ByCity","IndexStatus":")" + status +
                     R"(","ItemCount":)" + std::to_string(items) +
                     R"(,"KeySchema":[{"AttributeName":"city","KeyType":"HASH"}],)"
                     R"("Projection":{"ProjectionType":"ALL"}}])");
  };
  ScriptedService service(
      {table("Table", "ACTIVE", ""),
       answer(200, R"({"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}})"),
       answer(200,
              R"({"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED",)"
              R"("PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"DISABLED"}}})"),
       table("Table", "ACTIVE", ""), table("TableDescription", "UPDATING", ""),
       filled("CREATING", 400), filled("CREATING", 700), filled("ACTIVE", 1000)});
  Terminal terminal(stator_command({"apply", path, "--endpoint", service.url()}));
  EXPECT_TRUE(terminal.shows("index ByCity: 40%"));
  EXPECT_TRUE(terminal.shows("index ByCity: 70%"));
  EXPECT_TRUE(terminal.shows("Orders\tupdated\tadd index ByCity"));
  EXPECT_EQ(terminal.wait(), 0) << terminal.rest();
  EXPECT_EQ(service.requests().size(), 8U);
}

}  // namespace
}  // namespace stator::test
