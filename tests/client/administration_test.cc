// SPDX-License-Identifier: Apache-2.0
// Tags, policies, limits and settings, on each backend.
#include "client/client_test.h"

namespace stator::test {
namespace {

// Escaped, as a member of a request.
constexpr const char* kPolicy =
    R"({\"Statement\":{\"Effect\":\"Deny\",\"Principal\":\"*\",\"Action\":\"*\",\"Resource\":\"*\"}})";
constexpr const char* kOtherPolicy =
    R"({\"Statement\":{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"*\",\"Resource\":\"*\"}})";
constexpr const char* kArn = "arn:aws:dynamodb:us-east-1:000000782867:table/Tab";

class AdministrationTest : public ClientTest {
 protected:
  void SetUp() override { create(hash_table("Tab")); }

  std::string answer(std::string_view operation, std::string_view json) {
    const auto got = client_.call(operation, json);
    EXPECT_THAT(got, IsOk()) << operation << " " << json;
    return got.value_or("");
  }
  // Replaces $ in `json` by the table's ARN.
  static std::string with_arn(std::string json) {
    const std::size_t at = json.find('$');
    return at == std::string::npos ? json : json.replace(at, 1, kArn);
  }
  std::string tags() { return answer("ListTagsOfResource", with_arn(R"({"ResourceArn": "$"})")); }
};
STATOR_IN_EACH_HOME(AdministrationTest);

TEST_P(AdministrationTest, TagsAreAddedReplacedAndRemoved) {
  EXPECT_EQ(tags(), R"({"Tags":[]})");
  answer("TagResource", with_arn(R"({"ResourceArn": "$", "Tags": [{"Key": "a", "Value": "1"},
                                    {"Key": "b", "Value": ""}]})"));
  answer("TagResource", with_arn(R"({"ResourceArn": "$", "Tags": [{"Key": "a", "Value": "2"}]})"));
  EXPECT_EQ(tags(), R"({"Tags":[{"Key":"a","Value":"2"},{"Key":"b","Value":""}]})");
  answer("UntagResource", with_arn(R"({"ResourceArn": "$", "TagKeys": ["a", "other"]})"));
  EXPECT_EQ(tags(), R"({"Tags":[{"Key":"b","Value":""}]})");
}

TEST_P(AdministrationTest, OperationsWithoutOutputHaveAnEmptyBody) {
  EXPECT_EQ(answer("TagResource",
                   with_arn(R"({"ResourceArn": "$", "Tags": [{"Key": "a", "Value": "1"}]})")),
            "");
  EXPECT_EQ(answer("UntagResource", with_arn(R"({"ResourceArn": "$", "TagKeys": ["a"]})")), "");
}

TEST_P(AdministrationTest, TagsAreMeasuredInCharacters) {
  const auto repeated = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "\xF0\x9F\x8D\x8E";
    return text;
  };
  const auto tag = [&](int key, int value) {
    return with_arn(R"({"ResourceArn": "$", "Tags": [{"Key": ")" + repeated(key) +
                    R"(", "Value": ")" + repeated(value) + R"("}]})");
  };
  EXPECT_THAT(client_.call("TagResource", tag(128, 256)), IsOk());
  EXPECT_THAT(client_.call("TagResource", tag(129, 1)),
              FailsWith(Code::kValidation, "Member must have length less than or equal to 128"));
  EXPECT_THAT(client_.call("TagResource", tag(1, 257)),
              FailsWith(Code::kValidation, "Member must have length less than or equal to 256"));
  CreateTableRequest request = hash_table("Tagged");
  request.tags = {{repeated(128), repeated(256)}};
  create(request);
  request.table = "Longer";
  request.tags = {{repeated(129), ""}};
  EXPECT_THAT(client_.create_table(request),
              FailsWith(Code::kValidation, "Member must have length less than or equal to 128"));
}

TEST_P(AdministrationTest, TagsOfTheTablesCreationAreListedAndChanged) {
  CreateTableRequest request = hash_table("Tagged");
  request.tags = {{"from", "creation"}};
  create(request);
  const std::string arn = R"("arn:aws:dynamodb:us-east-1:000000782867:table/Tagged")";
  answer("TagResource",
         R"({"ResourceArn": )" + arn + R"(, "Tags": [{"Key": "later", "Value": "too"}]})");
  EXPECT_EQ(answer("ListTagsOfResource", R"({"ResourceArn": )" + arn + "}"),
            R"({"Tags":[{"Key":"from","Value":"creation"},{"Key":"later","Value":"too"}]})");
  answer("UntagResource", R"({"ResourceArn": )" + arn + R"(, "TagKeys": ["from", "later"]})");
  EXPECT_EQ(answer("ListTagsOfResource", R"({"ResourceArn": )" + arn + "}"), R"({"Tags":[]})");
}

TEST_P(AdministrationTest, AResourceHasUpToFiftyTags) {
  const auto many = [](int from, int to) {
    std::string json = R"({"ResourceArn": "$", "Tags": [)";
    for (int i = from; i < to; ++i) {
      json += (i > from ? "," : "") + (R"({"Key": "k)" + std::to_string(i)) + R"(", "Value": "v"})";
    }
    return with_arn(json + "]}");
  };
  answer("TagResource", many(0, 30));
  answer("TagResource", many(20, 50));
  EXPECT_THAT(client_.call("TagResource", many(50, 51)),
              FailsWith(Code::kValidation, "Number of Tags exceed the current limit"));
  EXPECT_EQ(tags().find("k50"), std::string::npos);
  EXPECT_NE(tags().find("k49"), std::string::npos);
}

TEST_P(AdministrationTest, TagsAndArnsAreChecked) {
  struct Case {
    const char* operation;
    const char* json;
    Code code;
    const char* message;
  };
  const Case cases[] = {
      {"TagResource", R"({"Tags": []})", Code::kValidation,
       "Value null at 'resourceArn' failed to satisfy constraint: Member must not be null"},
      {"TagResource", R"({"ResourceArn": "$", "Tags": []})", Code::kValidation, "Atleast one Tag "},
      {"TagResource", R"({"ResourceArn": "$", "Tags": [{"Key": "", "Value": "v"}]})",
       Code::kValidation, "Value '' at 'tags.1.member.key' failed to satisfy constraint: Member"},
      {"TagResource", R"({"ResourceArn": "$", "Tags": [{"Key": "a"}]})", Code::kValidation,
       "The Tag Value provided is invalid, Value: null"},
      {"TagResource", R"({"ResourceArn": "$", "Tags": [{"Key": "a!", "Value": "v"}]})",
       Code::kValidation, "The Tag Key provided is invalid, Key: a!"},
      {"TagResource", R"({"ResourceArn": "$", "Tags": [{"Key": "aws:a", "Value": "v"}]})",
       Code::kValidation, "Tag Key cannot be prefixed with aws:, Key: aws:a"},
      {"TagResource", R"({"ResourceArn": "$", "Tags": [{"Key": "a", "Value": "v!"}]})",
       Code::kValidation, "The Tag Value provided is invalid, Value: v!"},
      {"TagResource",
       R"({"ResourceArn": "$", "Tags": [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}]})",
       Code::kValidation, "Duplicate Tag Keys provided as input: Duplicate Tag Key found a"},
      {"TagResource", R"({"ResourceArn": 7})", Code::kSerialization,
       "NUMBER_VALUE cannot be converted to String"},
      {"UntagResource", R"({"ResourceArn": "$", "TagKeys": []})", Code::kValidation,
       "Atleast one Tag Key"},
      {"UntagResource", R"({"ResourceArn": "none", "TagKeys": ["a"]})", Code::kValidation,
       "One or more parameter values were invalid: ARNs must start with 'arn:': none"},
      {"GetResourcePolicy", R"({"ResourceArn": "none"})", Code::kValidation,
       "One or more parameter values were invalid: ARNs must start with 'arn:': none"},
      {"GetResourcePolicy",
       R"({"ResourceArn": "arn:aws:dynamodb:eu-west-1:000000782867:table/Tab"})", Code::kValidation,
       "One or more parameter values were invalid: Invalid resource Arn: arn:aws:dynamodb:eu-"},
      {"GetResourcePolicy",
       R"({"ResourceArn": "arn:aws:dynamodb:us-east-1:000000782867:table/Lost"})",
       Code::kResourceNotFound, "Requested resource not found: ResourceArn: arn:"},
      {"ListTagsOfResource", R"({"ResourceArn": "arn:aws:s3:::bucket"})", Code::kAccessDenied, ""},
      {"ListTagsOfResource",
       R"({"ResourceArn": "arn:aws:dynamodb:us-east-1:111111111111:table/Tab"})",
       Code::kAccessDenied, "Access is denied"},
      {"ListTagsOfResource",
       R"({"ResourceArn": "arn:aws:dynamodb:eu-west-1:000000782867:table/Tab"})", Code::kValidation,
       "Invalid TableArn: Invalid ResourceArn provided as input arn:"},
      {"ListTagsOfResource",
       R"({"ResourceArn": "arn:aws:dynamodb:us-east-1:000000782867:table/Tab/index/Ind"})",
       Code::kValidation, "only table or stream is accepted. Provided resource arn: arn:"},
      {"ListTagsOfResource",
       R"({"ResourceArn": "arn:aws:dynamodb:us-east-1:000000782867:table/Lost"})",
       Code::kResourceNotFound, "Requested resource not found: ResourceArn: arn:"},
      {"TagResource",
       R"({"ResourceArn": "arn:aws:dynamodb:us-east-1:000000782867:table/Lost",
           "Tags": [{"Key": "a", "Value": "1"}]})",
       Code::kResourceNotFound, "Requested resource not found: ResourceArn: arn:"},
  };
  for (const Case& wrong : cases) {
    EXPECT_THAT(client_.call(wrong.operation, with_arn(wrong.json)),
                FailsWith(wrong.code, wrong.message))
        << wrong.json;
  }
}

std::string with_policy(std::string_view policy, std::string_view more = "") {
  return R"(, "Policy":")" + std::string(policy) + "\"" + std::string(more);
}

TEST_P(AdministrationTest, PoliciesHaveRevisions) {
  const auto policy_of = [&](const char* operation, const std::string& more = "") {
    return client_.call(operation, with_arn(R"({"ResourceArn": "$")" + more + "}"));
  };
  EXPECT_THAT(policy_of("GetResourcePolicy"), FailsWith(Code::kPolicyNotFound, kArn));
  EXPECT_THAT(policy_of("PutResourcePolicy", R"(, "Policy": "nothing")"),
              FailsWith(Code::kValidation, "This policy contains invalid Json"));
  EXPECT_THAT(
      policy_of("PutResourcePolicy", R"(, "Policy": "{\"Statement\": []}")"),
      FailsWith(Code::kValidation, "Invalid policy document: the policy has no statements"));
  EXPECT_THAT(
      policy_of("PutResourcePolicy", with_policy(kPolicy, R"(, "ExpectedRevisionId": "1")")),
      FailsWith(Code::kPolicyNotFound, ""));
  const auto first = policy_of("PutResourcePolicy",
                               with_policy(kPolicy, R"(, "ExpectedRevisionId": "NO_POLICY")"));
  ASSERT_THAT(first, IsOk());
  const auto same = policy_of("PutResourcePolicy", with_policy(kPolicy));
  ASSERT_THAT(same, IsOk());
  EXPECT_EQ(*same, *first);
  const auto second = policy_of("PutResourcePolicy", with_policy(kOtherPolicy));
  ASSERT_THAT(second, IsOk());
  EXPECT_NE(*second, *first);
  const std::string revision = second->substr(second->find(':') + 1);
  EXPECT_EQ(policy_of("GetResourcePolicy").value_or(""),
            "{" + with_policy(kOtherPolicy).substr(2) + ",\"RevisionId\":" + revision);
  EXPECT_THAT(policy_of("DeleteResourcePolicy", R"(, "ExpectedRevisionId": "1")"),
              FailsWith(Code::kPolicyNotFound, ""));
  EXPECT_EQ(policy_of("DeleteResourcePolicy").value_or(""), *second);
  EXPECT_EQ(policy_of("DeleteResourcePolicy").value_or(""), "{}");
  EXPECT_THAT(policy_of("GetResourcePolicy"), FailsWith(Code::kPolicyNotFound, ""));
}

TEST_P(AdministrationTest, ATableIsCreatedWithAPolicy) {
  const std::string arn =
      R"({"ResourceArn": "arn:aws:dynamodb:us-east-1:000000782867:table/Policed"})";
  CreateTableRequest request = hash_table("Policed");
  request.resource_policy = "nothing";
  EXPECT_THAT(client_.create_table(request),
              FailsWith(Code::kValidation, "This policy contains invalid Json"));
  request.resource_policy =
      R"({"Statement":{"Effect":"Deny","Principal":"*","Action":"*","Resource":"*"}})";
  create(request);
  const std::string kept = answer("GetResourcePolicy", arn);
  EXPECT_TRUE(kept.starts_with("{" + with_policy(kPolicy).substr(2) + R"(,"RevisionId":")"))
      << kept;
  const std::string revision = answer("DeleteResourcePolicy", arn);
  EXPECT_TRUE(kept.ends_with(revision.substr(1))) << revision;
  EXPECT_THAT(client_.call("GetResourcePolicy", arn), FailsWith(Code::kPolicyNotFound, ""));
}

TEST_P(AdministrationTest, ATableOfAnOldNameHasNoOldSettings) {
  answer("TagResource", with_arn(R"({"ResourceArn": "$", "Tags": [{"Key": "a", "Value": "1"}]})"));
  answer("PutResourcePolicy", with_arn(R"({"ResourceArn": "$")" + with_policy(kPolicy) + "}"));
  answer("CreateGlobalTable",
         R"({"GlobalTableName": "Tab", "ReplicationGroup": [{"RegionName": "us-east-1"}]})");
  answer("UpdateContributorInsights",
         R"({"TableName": "Tab", "ContributorInsightsAction": "ENABLE"})");
  ASSERT_THAT(client_.delete_table({.table = "Tab"}), IsOk());
  create(hash_table("Tab"));
  EXPECT_EQ(tags(), R"({"Tags":[]})");
  EXPECT_THAT(client_.call("GetResourcePolicy", with_arn(R"({"ResourceArn": "$"})")),
              FailsWith(Code::kPolicyNotFound, ""));
  EXPECT_EQ(answer("ListGlobalTables", "{}"), R"({"GlobalTables":[]})");
  EXPECT_EQ(answer("DescribeContributorInsights", R"({"TableName": "Tab"})"),
            R"({"ContributorInsightsStatus":"DISABLED","TableName":"Tab"})");
}

TEST_P(AdministrationTest, LimitsAndEndpointsAreThoseOfDynamoDb) {
  EXPECT_EQ(answer("DescribeLimits", "{}"),
            R"({"AccountMaxReadCapacityUnits":80000,"AccountMaxWriteCapacityUnits":80000,)"
            R"("TableMaxReadCapacityUnits":40000,"TableMaxWriteCapacityUnits":40000})");
  EXPECT_EQ(answer("DescribeEndpoints", "{}"),
            R"({"Endpoints":[{"Address":"dynamodb.us-east-1.amazonaws.com",)"
            R"("CachePeriodInMinutes":1440}]})");
}

TEST_P(AdministrationTest, ContributorInsightsAreKeptByTableAndIndex) {
  create(indexed_table("Indexed"));
  answer("UpdateContributorInsights",
         R"({"TableName": "Tab", "ContributorInsightsAction": "ENABLE"})");
  answer("UpdateContributorInsights",
         R"({"TableName": "Indexed", "IndexName": "GlobalByPlace",
             "ContributorInsightsAction": "ENABLE", "ContributorInsightsMode": "THROTTLED_KEYS"})");
  answer("UpdateContributorInsights",
         R"({"TableName": "Tab", "ContributorInsightsAction": "DISABLE"})");
  const std::string first = answer("ListContributorInsights", R"({"MaxResults": 1})");
  EXPECT_EQ(first,
            R"({"ContributorInsightsSummaries":[{"ContributorInsightsMode":"THROTTLED_KEYS",)"
            R"("ContributorInsightsStatus":"ENABLED","IndexName":"GlobalByPlace",)"
            R"("TableName":"Indexed"}],"NextToken":"Indexed/index/GlobalByPlace"})");
  EXPECT_EQ(answer("ListContributorInsights", R"({"NextToken": "Indexed/index/GlobalByPlace"})"),
            R"({"ContributorInsightsSummaries":[{"ContributorInsightsMode":)"
            R"("ACCESSED_AND_THROTTLED_KEYS","ContributorInsightsStatus":"DISABLED",)"
            R"("TableName":"Tab"}]})");
  EXPECT_THAT(client_.call("UpdateContributorInsights",
                           R"({"TableName": "Tab", "IndexName": "Lost",
                               "ContributorInsightsAction": "ENABLE"})"),
              FailsWith(Code::kResourceNotFound, "Lost"));
}

TEST_P(AdministrationTest, AGlobalTableHasTheReplicaOfThisRegion) {
  EXPECT_THAT(client_.call("CreateGlobalTable",
                           R"({"GlobalTableName": "Tab", "ReplicationGroup":
                               [{"RegionName": "us-east-1"}, {"RegionName": "eu-west-1"}]})"),
              FailsWith(Code::kTableNotFound, "eu-west-1"));
  EXPECT_THAT(client_.call("DescribeGlobalTable", R"({"GlobalTableName": "Tab"})"),
              FailsWith(Code::kGlobalTableNotFound, "Tab"));
  constexpr const char* kCreate =
      R"({"GlobalTableName": "Tab", "ReplicationGroup": [{"RegionName": "us-east-1"}]})";
  answer("CreateGlobalTable", kCreate);
  EXPECT_THAT(client_.call("CreateGlobalTable", kCreate),
              FailsWith(Code::kGlobalTableAlreadyExists, "Tab"));
  EXPECT_NE(answer("DescribeGlobalTable", R"({"GlobalTableName": "Tab"})").find("\"ACTIVE\""),
            std::string::npos);
  EXPECT_EQ(answer("ListGlobalTables", R"({"RegionName": "us-east-1"})"),
            R"({"GlobalTables":[{"GlobalTableName":"Tab",)"
            R"("ReplicationGroup":[{"RegionName":"us-east-1"}]}]})");
  EXPECT_EQ(answer("ListGlobalTables", R"({"RegionName": "eu-west-1"})"), R"({"GlobalTables":[]})");
  EXPECT_THAT(client_.call("UpdateGlobalTable",
                           R"({"GlobalTableName": "Tab", "ReplicaUpdates":
                               [{"Create": {"RegionName": "us-east-1"}}]})"),
              FailsWith(Code::kReplicaAlreadyExists, ""));
  EXPECT_THAT(
      client_.call("UpdateGlobalTable", R"({"GlobalTableName": "Tab", "ReplicaUpdates": [{}]})"),
      FailsWith(Code::kValidation, "Each replica update must have Create or Delete"));
  answer(
      "UpdateGlobalTable",
      R"({"GlobalTableName": "Tab", "ReplicaUpdates": [{"Delete": {"RegionName": "us-east-1"}}]})");
  EXPECT_EQ(answer("ListGlobalTables", "{}"), R"({"GlobalTables":[]})");
}

TEST_P(AdministrationTest, SettingsOfAGlobalTableAreThoseOfItsTable) {
  create(indexed_table("Indexed"));
  answer("CreateGlobalTable",
         R"({"GlobalTableName": "Indexed", "ReplicationGroup": [{"RegionName": "us-east-1"}]})");
  const std::string before =
      answer("DescribeGlobalTableSettings", R"({"GlobalTableName": "Indexed"})");
  EXPECT_EQ(answer("UpdateGlobalTableSettings", R"({"GlobalTableName": "Indexed"})"), before);
  const std::string after = answer("UpdateGlobalTableSettings", R"({"GlobalTableName": "Indexed",
      "GlobalTableBillingMode": "PROVISIONED", "GlobalTableProvisionedWriteCapacityUnits": 4,
      "GlobalTableGlobalSecondaryIndexSettingsUpdate":
        [{"IndexName": "GlobalByPlace", "ProvisionedWriteCapacityUnits": 6}],
      "ReplicaSettingsUpdate": [{"RegionName": "us-east-1",
        "ReplicaProvisionedReadCapacityUnits": 3, "ReplicaGlobalSecondaryIndexSettingsUpdate":
          [{"IndexName": "GlobalByPlace", "ProvisionedReadCapacityUnits": 5}]}]})");
  EXPECT_EQ(answer("DescribeGlobalTableSettings", R"({"GlobalTableName": "Indexed"})"), after);
  const auto described = client_.describe_table({.table = "Indexed"});
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(described->table.billing_mode, BillingMode::kProvisioned);
  EXPECT_EQ(described->table.throughput, (Throughput{.read = 3, .write = 4}));
  EXPECT_EQ(described->table.global_indexes[0].definition.throughput,
            (Throughput{.read = 5, .write = 6}));
  EXPECT_THAT(client_.call("UpdateGlobalTableSettings",
                           R"({"GlobalTableName": "Indexed", "ReplicaSettingsUpdate":
                               [{"RegionName": "eu-west-1"}]})"),
              FailsWith(Code::kReplicaNotFound, "eu-west-1"));
  EXPECT_THAT(client_.call("UpdateGlobalTableSettings",
                           R"({"GlobalTableName": "Indexed",
                               "GlobalTableGlobalSecondaryIndexSettingsUpdate":
                               [{"IndexName": "None", "ProvisionedWriteCapacityUnits": 6}]})"),
              FailsWith(Code::kIndexNotFound, "None"));
  EXPECT_THAT(client_.call("UpdateGlobalTableSettings",
                           R"({"GlobalTableName": "Indexed", "ReplicaSettingsUpdate":
                               [{"RegionName": "us-east-1",
                                 "ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate": {}}]})"),
              FailsWith(Code::kValidation, "Auto scaling"));
}

TEST_P(AdministrationTest, ReplicasInOtherRegionsAreRefused) {
  EXPECT_THAT(client_.update_table({.table = "Tab", .replica_regions = {"us-east-1"}}),
              FailsWith(Code::kValidation,
                        "Cannot add, delete, or update the local region through ReplicaUpdates."));
  EXPECT_THAT(client_.update_table({.table = "Tab", .replica_regions = {"eu-west-1"}}),
              FailsWith(Code::kValidation,
                        "1 validation error detected: Value 'eu-west-1' at "
                        "'replicaUpdates.1.member.regionName' failed to satisfy constraint: Member "
                        "must satisfy enum value set: [us-east-1]"));
}

TEST_P(AdministrationTest, FeaturesThatOneMachineLacksAreRefusedOrEmpty) {
  EXPECT_EQ(answer("DescribeKinesisStreamingDestination", R"({"TableName": "Tab"})"),
            R"({"KinesisDataStreamDestinations":[],"TableName":"Tab"})");
  EXPECT_THAT(client_.call("EnableKinesisStreamingDestination",
                           R"({"TableName": "Tab",
                               "StreamArn": "arn:aws:kinesis:us-east-1:000000782867:stream/s"})"),
              FailsWith(Code::kResourceNotFound, "stream/s"));
  EXPECT_EQ(answer("DescribeTableReplicaAutoScaling", R"({"TableName": "Tab"})"),
            R"({"TableAutoScalingDescription":{"Replicas":[],"TableName":"Tab",)"
            R"("TableStatus":"ACTIVE"}})");
  EXPECT_THAT(client_.call("UpdateTableReplicaAutoScaling", R"({"TableName": "Tab"})"),
              FailsWith(Code::kValidation, "Auto scaling"));
}

}  // namespace
}  // namespace stator::test
