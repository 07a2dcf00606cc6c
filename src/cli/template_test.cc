// SPDX-License-Identifier: Apache-2.0
#include "cli/template.h"

#include <gtest/gtest.h>

#include "support/matchers.h"

namespace stator::cli {
namespace {

using test::FailsWith;
using test::IsOk;

TemplateTable only_table(const std::string& text, const TemplateParameters& parameters = {}) {
  auto tables = read_template(text, parameters);
  EXPECT_THAT(tables, IsOk());
  if (!tables || tables->size() != 1) {
    ADD_FAILURE() << "not one table";
    return {};
  }
  return std::move(tables->front());
}

void expect_refusal(const std::string& text, const std::string& message,
                    const TemplateParameters& parameters = {}) {
  EXPECT_THAT(read_template(text, parameters), FailsWith(Code::kInvalidArgument, message)) << text;
}

constexpr const char* kWhole = R"(
AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Stage: {Type: String, Default: dev}
Resources:
  Handler:
    Type: AWS::Lambda::Function
    Properties: {Role: !GetAtt Role.Arn}
  Orders:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    Properties:
      TableName: !Sub "orders-${Stage}"
      AttributeDefinitions:
        - {AttributeName: customer, AttributeType: S}
        - {AttributeName: number, AttributeType: N}
        - {AttributeName: day, AttributeType: B}
      KeySchema:
        - {AttributeName: customer, KeyType: HASH}
        - {AttributeName: number, KeyType: RANGE}
      GlobalSecondaryIndexes:
        - IndexName: ByDay
          KeySchema: [{AttributeName: day, KeyType: HASH}]
          Projection: {ProjectionType: INCLUDE, NonKeyAttributes: [total]}
          ProvisionedThroughput: {ReadCapacityUnits: 3, WriteCapacityUnits: "4"}
      LocalSecondaryIndexes:
        - IndexName: ByDayOfCustomer
          KeySchema:
            - {AttributeName: customer, KeyType: HASH}
            - {AttributeName: day, KeyType: RANGE}
          Projection: {ProjectionType: KEYS_ONLY}
      BillingMode: PROVISIONED
      ProvisionedThroughput: {ReadCapacityUnits: 1, WriteCapacityUnits: 2}
      TableClass: STANDARD_INFREQUENT_ACCESS
      DeletionProtectionEnabled: true
      TimeToLiveSpecification: {AttributeName: expires, Enabled: true}
      StreamSpecification: {StreamViewType: OLD_IMAGE}
      SSESpecification: {SSEEnabled: true, SSEType: KMS, KMSMasterKeyId: alias/a}
      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 7}
      KinesisStreamSpecification: {StreamArn: !GetAtt Stream.Arn}
      Tags: [{Key: team, Value: !Ref Stage}]
)";

TEST(Template, ReadsEveryPropertyOfATable) {
  const TemplateTable table = only_table(kWhole);
  const CreateTableRequest& request = table.request;
  EXPECT_EQ(table.resource, "Orders");
  EXPECT_EQ(request.table, "orders-dev");
  EXPECT_EQ(request.attributes, (std::vector<AttributeDefinition>{{"customer", ScalarType::kS},
                                                                  {"number", ScalarType::kN},
                                                                  {"day", ScalarType::kB}}));
  EXPECT_EQ(request.key_schema,
            (KeySchema{{"customer", KeyType::kHash}, {"number", KeyType::kRange}}));
  const IndexDefinition by_day{.name = "ByDay",
                               .key_schema = {{"day", KeyType::kHash}},
                               .projection = {ProjectionType::kInclude, {"total"}},
                               .throughput = Throughput{3, 4}};
  const IndexDefinition of_customer{
      .name = "ByDayOfCustomer",
      .key_schema = {{"customer", KeyType::kHash}, {"day", KeyType::kRange}},
      .projection = {ProjectionType::kKeysOnly, {}}};
  EXPECT_EQ(request.global_indexes, std::vector{by_day});
  EXPECT_EQ(request.local_indexes, std::vector{of_customer});
  EXPECT_EQ(request.billing_mode, BillingMode::kProvisioned);
  EXPECT_EQ(request.throughput, (Throughput{1, 2}));
  EXPECT_EQ(request.table_class, TableClass::kStandardInfrequentAccess);
  EXPECT_EQ(request.deletion_protection, true);
  EXPECT_EQ(request.tags, (std::vector<Tag>{{"team", "dev"}}));
  EXPECT_EQ(table.time_to_live, "expires");
  EXPECT_EQ(request.stream,
            (StreamSpecification{.enabled = true, .view = StreamViewType::kOldImage}));
  EXPECT_EQ(request.encryption,
            (EncryptionSpecification{
                .enabled = true, .type = EncryptionType::kKms, .key_id = "alias/a"}));
  EXPECT_TRUE(table.recovery.enabled);
  EXPECT_EQ(table.recovery.days, 7);
  EXPECT_EQ(table.ignored, std::vector<std::string>{"KinesisStreamSpecification"});
}

TEST(Template, ReportsTheIgnoredPropertiesOfIndexesAndStreams) {
  const TemplateTable table = only_table(R"(
Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      GlobalSecondaryIndexes:
        - IndexName: ById
          KeySchema: [{AttributeName: id, KeyType: HASH}]
          Projection: {ProjectionType: ALL}
          ContributorInsightsSpecification: {Enabled: true}
      StreamSpecification: {StreamViewType: KEYS_ONLY, ResourcePolicy: {PolicyDocument: {}}}
      ContributorInsightsSpecification: {Enabled: true}
)");
  EXPECT_EQ(table.ignored, (std::vector<std::string>{"index ById: ContributorInsightsSpecification",
                                                     "StreamSpecification: ResourcePolicy",
                                                     "ContributorInsightsSpecification"}));
}

TEST(Template, RejectsTagsOfSimpleTablesThatAreNotStrings) {
  const std::string head =
      "Resources:\n  T:\n    Type: AWS::Serverless::SimpleTable\n    Properties:\n";
  expect_refusal(head + "      Tags: {team: [a]}\n",
                 "T: line 5: Tags: expected a string for 'team'");
  expect_refusal(head + "      Tags: {team: {a: b}}\n", "expected a string for 'team'");
}

TEST(Template, ReadsJsonToo) {
  const TemplateTable table = only_table(
      "{\n\t\"Resources\": {\"Locks\": {\"Type\": \"AWS::DynamoDB::Table\", \"Properties\": {\n"
      "\t\t\"TableName\": {\"Fn::Join\": [\"-\", [\"a\", {\"Ref\": \"AWS::Region\"}]]},\n"
      "\t\t\"AttributeDefinitions\": [{\"AttributeName\": \"pk\", \"AttributeType\": \"S\"}],\n"
      "\t\t\"KeySchema\": [{\"AttributeName\": \"pk\", \"KeyType\": \"HASH\"}],\n"
      "\t\t\"BillingMode\": \"PAY_PER_REQUEST\"}}}}",
      {{"AWS::Region", "eu-west-1"}});
  EXPECT_EQ(table.request.table, "a-eu-west-1");
  EXPECT_EQ(table.request.billing_mode, BillingMode::kPayPerRequest);
}

TEST(Template, ReadsSimpleTables) {
  const TemplateTable bare =
      only_table("Resources:\n  Things:\n    Type: AWS::Serverless::SimpleTable\n");
  EXPECT_EQ(bare.request.table, "Things");
  EXPECT_EQ(bare.request.key_schema, (KeySchema{{"id", KeyType::kHash}}));
  EXPECT_EQ(bare.request.attributes, (std::vector<AttributeDefinition>{{"id", ScalarType::kS}}));
  EXPECT_EQ(bare.request.billing_mode, BillingMode::kPayPerRequest);

  const TemplateTable full = only_table(R"(
Resources:
  Things:
    Type: AWS::Serverless::SimpleTable
    Properties:
      TableName: numbers
      PrimaryKey: {Name: n, Type: Number}
      ProvisionedThroughput: {ReadCapacityUnits: 5, WriteCapacityUnits: 6}
      Tags: {team: data}
)");
  EXPECT_EQ(full.request.table, "numbers");
  EXPECT_EQ(full.request.attributes, (std::vector<AttributeDefinition>{{"n", ScalarType::kN}}));
  EXPECT_EQ(full.request.billing_mode, BillingMode::kProvisioned);
  EXPECT_EQ(full.request.throughput, (Throughput{5, 6}));
  EXPECT_EQ(full.request.tags, (std::vector<Tag>{{"team", "data"}}));
}

// A template with one simple table of this name, and parameters and conditions to use.
std::string named(const std::string& name) {
  return R"(
Parameters:
  Stage: {Type: String, Default: dev}
  Owner: {Type: String}
Conditions:
  IsProd: !Equals [!Ref Stage, prod]
  IsNotProd: !Not [!Condition IsProd]
  Both: !And [!Condition IsProd, !Condition IsNotProd]
  Either: !Or [{Condition: IsProd}, {Condition: IsNotProd}]
  Loop: !Not [!Condition Loop]
Resources:
  Things:
    Type: AWS::Serverless::SimpleTable
    Properties:
      TableName: )" +
         name + "\n";
}

TEST(Template, ResolvesFunctionsOfParameters) {
  const auto name_of = [](const std::string& name, const TemplateParameters& parameters = {}) {
    return only_table(named(name), parameters).request.table;
  };
  EXPECT_EQ(name_of("!Ref Stage"), "dev");
  EXPECT_EQ(name_of("!Ref Stage", {{"Stage", "prod"}}), "prod");
  EXPECT_EQ(name_of("{Ref: Stage}"), "dev");
  EXPECT_EQ(name_of("!Sub 'a-${Stage}-b'"), "a-dev-b");
  EXPECT_EQ(name_of("!Sub '${!Stage}'"), "${Stage}");
  EXPECT_EQ(name_of("!Sub ['${x}.${Stage}', {x: !Ref Stage}]"), "dev.dev");
  EXPECT_EQ(name_of("{'Fn::Sub': '${AWS::StackName}'}", {{"AWS::StackName", "s"}}), "s");
  EXPECT_EQ(name_of("!Join ['.', [a, !Ref Stage, !Sub '${Stage}']]"), "a.dev.dev");
  EXPECT_EQ(name_of("!If [IsProd, p, q]"), "q");
  EXPECT_EQ(name_of("!If [IsProd, p, q]", {{"Stage", "prod"}}), "p");
  EXPECT_EQ(name_of("!If [Both, p, !If [Either, q, r]]"), "q");
  EXPECT_EQ(name_of("!Ref AWS::NoValue"), "Things");
}

TEST(Template, ReportsResourceAndLineOfUnresolvedFunctions) {
  expect_refusal(named("!GetAtt Other.Arn"), "Things: line 15: the function GetAtt");
  expect_refusal(named("!ImportValue x"), "Things: line 15: the function ImportValue");
  expect_refusal(named("!Ref Other"), "Things: line 15: 'Other' is not a parameter");
  expect_refusal(named("!Ref Owner"), "--parameter Owner=VALUE");
  expect_refusal(named("!Sub '${AWS::StackName}'"), "--parameter AWS::StackName=VALUE");
  expect_refusal(named("!If [Nowhere, a, b]"), "unknown condition 'Nowhere'");
  expect_refusal(named("!If [Loop, a, b]"), "nested too deep");
  expect_refusal(named("!Join [a]"), "Join takes");
  expect_refusal(named("[a]"), "TableName: expected a string");
}

TEST(Template, OmitsResourcesWhoseConditionIsFalse) {
  const std::string text = R"(
Parameters: {Stage: {Default: dev}}
Conditions: {IsProd: !Equals [!Ref Stage, prod]}
Resources:
  Things: {Type: "AWS::Serverless::SimpleTable", Condition: IsProd}
)";
  EXPECT_EQ(read_template(text, {}).value().size(), 0U);
  EXPECT_EQ(read_template(text, {{"Stage", "prod"}}).value().size(), 1U);
}

TEST(Template, RefusesPropertiesThatItDoesNotKnow) {
  const std::string head = "Resources:\n  T:\n    Type: AWS::DynamoDB::Table\n    Properties:\n";
  expect_refusal(head + "      TabelName: x\n", "T: line 5: unknown property 'TabelName'");
  expect_refusal(head + "      BillingMode: FREE\n",
                 "T: line 5: BillingMode: invalid value 'FREE'");
  expect_refusal(head + "      KeySchema: {a: b}\n", "T: line 5: KeySchema: expected a list");
  expect_refusal(head + "      KeySchema: [{KeyType: HASH}]\n", "AttributeName: is missing");
  expect_refusal(head + "      DeletionProtectionEnabled: maybe\n", "'maybe'");
  expect_refusal(head + "      ProvisionedThroughput: {ReadCapacityUnits: many}\n",
                 "'many' is not an integer");
  expect_refusal("Resources: {T: {Type: AWS::DynamoDB::GlobalTable}}", "spans regions");
  expect_refusal("Resources: {T: {}}", "T: line 1: Type is missing");
  expect_refusal(
      "Resources: {A: {Type: AWS::Serverless::SimpleTable, Properties: {TableName: x}},"
      " x: {Type: AWS::Serverless::SimpleTable}}",
      "another resource has the table x");
}

TEST(Template, RejectsTextThatIsNotATemplate) {
  for (const char* text : {"", "hello", "[1, 2]", "a: b", "Resources: 7", "Resources: [a]"}) {
    expect_refusal(text, "not a CloudFormation or SAM template");
  }
  expect_refusal("a: [", "not valid YAML");
  expect_refusal("a: 1\na: 2", "line 2: 'a' is given twice");
  expect_refusal("a: *nowhere", "not valid YAML");
  expect_refusal(std::string("\x89PNG\r\n\x1a\n\0\0\0", 11), "");
}

TEST(Template, BoundsHostileText) {
  expect_refusal(std::string(1'000'001, ' '), "larger than");
  expect_refusal(std::string(100'000, '['), "");
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string from = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j == 0 ? "" : ", ") + from;
    bomb += "]\n";
  }
  expect_refusal(bomb, "more than 100000 values");

  std::string conditions = "Conditions:\n  C30: !Equals [a, a]\n";
  for (int i = 0; i < 30; ++i) {
    const std::string next = "!Condition C" + std::to_string(i + 1);
    conditions.append("  C").append(std::to_string(i)).append(": !And [");
    conditions.append(next).append(", ").append(next).append("]\n");
  }
  expect_refusal(
      conditions + "Resources: {T: {Type: AWS::Serverless::SimpleTable, Condition: C0}}\n", "T: ");
}

}  // namespace
}  // namespace stator::cli
