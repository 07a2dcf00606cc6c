// SPDX-License-Identifier: Apache-2.0
// Tests that every operation checks policies first. An operation without a sample fails the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/promised.h"
#include "storage/stores.h"
#include "support/gated_store.h"
#include "support/matchers.h"
#include "support/must.h"
#include "support/shared_store.h"

namespace stator::protocol {
namespace {

using test::FailsWith;
using test::IsOk;
using test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Guarded = Operations<Promised>;

constexpr std::string_view kArn = "arn:aws:dynamodb:us-east-1:000000782867:";

// A request, and the first action and resource that policies must allow. % is replaced by a table's
// name, $ by the start of ARNs.
struct Sample {
  const char* operation;
  const char* json;
  const char* action = nullptr;  // null: the operation's name
  const char* resource = "$table/%";
};

constexpr const char* kTableDefinition =
    R"("TableName": "%", "BillingMode": "PAY_PER_REQUEST",
       "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
       "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}])";

std::vector<Sample> samples() {
  static const std::string create = std::string("{") + kTableDefinition + "}";
  static const std::string import =
      std::string(R"({"S3BucketSource": {"S3Bucket": "bucket"}, "InputFormat": "DYNAMODB_JSON",
                      "TableCreationParameters": {)") +
      kTableDefinition + "}}";
  constexpr const char* kBulk =
      R"({"BulkOperationArn": "$table/%/bulk-operation/01489602797149-73d8d5bc"})";
  constexpr const char* kBulkResource = "$table/%/bulk-operation/01489602797149-73d8d5bc";
  constexpr const char* kBackup = R"({"BackupArn": "$table/%/backup/01489602797149-73d8d5bc"})";
  constexpr const char* kBackupResource = "$table/%/backup/01489602797149-73d8d5bc";
  constexpr const char* kName = R"({"TableName": "%"})";
  constexpr const char* kResource = R"({"ResourceArn": "$table/%"})";
  constexpr const char* kKey = R"({"TableName": "%", "Key": {"pk": {"S": "a"}}})";
  constexpr const char* kGlobal = R"({"GlobalTableName": "%"})";
  constexpr const char* kGlobalResource = "arn:aws:dynamodb::000000782867:global-table/%";
  constexpr const char* kStream = "$table/%/stream/2026-01-02T03:04:05.678";
  constexpr const char* kKinesis =
      R"({"TableName": "%", "StreamArn": "arn:aws:kinesis:us-east-1:000000782867:stream/changes"})";
  return {
      {"BatchExecuteStatement",
       R"({"Statements": [{"Statement": "INSERT INTO \"%\" VALUE {'pk': 'new'}"}]})",
       "PartiQLInsert"},
      {"BatchGetItem", R"({"RequestItems": {"%": {"Keys": [{"pk": {"S": "a"}}]}}})"},
      {"BatchWriteItem",
       R"({"RequestItems": {"%": [{"PutRequest": {"Item": {"pk": {"S": "new"}}}}]}})"},
      {"CancelBulkOperation", kBulk, nullptr, kBulkResource},
      {"CreateBackup", R"({"TableName": "%", "BackupName": "nightly"})"},
      {"CreateGlobalTable",
       R"({"GlobalTableName": "%", "ReplicationGroup": [{"RegionName": "us-east-1"}]})", nullptr,
       kGlobalResource},
      {"CreateTable", create.c_str()},
      {"DeleteBackup", kBackup, nullptr, kBackupResource},
      {"DeleteItem", kKey},
      {"DeleteResourcePolicy", kResource},
      {"DeleteTable", kName},
      {"DescribeBackup", kBackup, nullptr, kBackupResource},
      {"DescribeBulkOperation", kBulk, nullptr, kBulkResource},
      {"DescribeContinuousBackups", kName},
      {"DescribeContributorInsights", kName},
      {"DescribeEndpoints", "{}", nullptr, "*"},
      {"DescribeExport", R"({"ExportArn": "$table/%/export/01489602797149-73d8d5bc"})", nullptr,
       "$table/%/export/01489602797149-73d8d5bc"},
      {"DescribeGlobalTable", kGlobal, nullptr, kGlobalResource},
      {"DescribeGlobalTableSettings", kGlobal, nullptr, kGlobalResource},
      {"DescribeImport", R"({"ImportArn": "$table/%/import/01489602797149-73d8d5bc"})", nullptr,
       "$table/%/import/01489602797149-73d8d5bc"},
      {"DescribeKinesisStreamingDestination", kName},
      {"DescribeLimits", "{}", nullptr, "*"},
      {"DescribeStream", R"({"StreamArn": "$table/%/stream/2026-01-02T03:04:05.678"})", nullptr,
       kStream},
      {"DescribeTable", kName},
      {"DescribeTableReplicaAutoScaling", kName},
      {"DescribeTimeToLive", kName},
      {"DisableKinesisStreamingDestination", kKinesis},
      {"EnableKinesisStreamingDestination", kKinesis},
      {"ExecuteStatement", R"({"Statement": "SELECT * FROM \"%\""})", "PartiQLSelect"},
      {"ExecuteTransaction",
       R"({"TransactStatements": [{"Statement": "DELETE FROM \"%\" WHERE pk = 'a'"}]})",
       "PartiQLDelete"},
      {"ExportTableToPointInTime", R"({"TableArn": "$table/%", "S3Bucket": "bucket"})"},
      {"GetItem", kKey},
      {"GetRecords",
       R"({"ShardIterator": "$table/%/stream/2026-01-02T03:04:05.678|1|AAAAAAAAAAAA"})", nullptr,
       kStream},
      {"GetResourcePolicy", kResource},
      {"GetShardIterator", R"({"StreamArn": "$table/%/stream/2026-01-02T03:04:05.678",
          "ShardId": "shardId-00000001414576573621-f55eea83",
          "ShardIteratorType": "TRIM_HORIZON"})",
       nullptr, kStream},
      {"ImportTable", import.c_str()},
      {"ListBackups", "{}", nullptr, "*"},
      {"ListBulkOperations", "{}", nullptr, "*"},
      {"ListContributorInsights", "{}", nullptr, "*"},
      {"ListExports", "{}", nullptr, "*"},
      {"ListGlobalTables", "{}", nullptr, "*"},
      {"ListImports", "{}", nullptr, "*"},
      {"ListStreams", kName, nullptr, "$table/%/stream/*"},
      {"ListTables", "{}", nullptr, "$table/*"},
      {"ListTagsOfResource", kResource},
      {"PutItem", R"({"TableName": "%", "Item": {"pk": {"S": "new"}}})"},
      {"PutResourcePolicy", R"({"ResourceArn": "$table/%", "ConfirmRemoveSelfResourceAccess": true,
          "Policy": "{\"Statement\": {\"Effect\": \"Deny\", \"Principal\": \"*\",
                                      \"Action\": \"*\", \"Resource\": \"*\"}}"})"},
      {"Query", R"({"TableName": "%", "KeyConditionExpression": "pk = :p",
          "ExpressionAttributeValues": {":p": {"S": "a"}}})"},
      {"RestoreTableFromBackup", R"({"TargetTableName": "Restored",
          "BackupArn": "$table/%/backup/01489602797149-73d8d5bc"})",
       nullptr, kBackupResource},
      {"RestoreTableToPointInTime", R"({"SourceTableName": "%", "TargetTableName": "Restored",
          "UseLatestRestorableTime": true})"},
      {"Scan", kName},
      {"SearchVectors", R"({"TableName": "%", "IndexName": "Index", "SearchVector": [{"N": "1"}],
          "TopK": 1})",
       nullptr, "$table/%/index/Index"},
      {"StartBulkPutItems", R"({"TableName": "%",
          "InputS3Configuration": {"S3Bucket": "bucket", "InputFormat": "DYNAMODB_JSON"},
          "OutputS3Configuration": {"S3Bucket": "bucket", "OutputType": ["ERROR"]}})"},
      {"TagResource", R"({"ResourceArn": "$table/%", "Tags": [{"Key": "a", "Value": "b"}]})"},
      {"TransactGetItems",
       R"({"TransactItems": [{"Get": {"TableName": "%", "Key": {"pk": {"S": "a"}}}}]})", "GetItem"},
      {"TransactWriteItems", R"({"TransactItems": [{"ConditionCheck": {"TableName": "%",
          "Key": {"pk": {"S": "a"}}, "ConditionExpression": "attribute_exists(pk) "}}]
})",
       "ConditionCheckItem"},
      {"UntagResource", R"({"ResourceArn": "$table/%", "TagKeys": ["kept"]})"},
      {"UpdateContinuousBackups", R"({"TableName": "%",
          "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}})"},
      {"UpdateContributorInsights", R"({"TableName": "%", "ContributorInsightsAction": "ENABLE"})"},
      {"UpdateGlobalTable", R"({"GlobalTableName": "%",
          "ReplicaUpdates": [{"Delete": {"RegionName": "us-east-1"}}]})",
       nullptr, kGlobalResource},
      {"UpdateGlobalTableSettings", kGlobal, nullptr, kGlobalResource},
      {"UpdateItem", R"({"TableName": "%", "Key": {"pk": {"S": "a"}},
          "UpdateExpression": "SET x = :x", "ExpressionAttributeValues": {":x": {"N": "1"}}})"},
      {"UpdateKinesisStreamingDestination", kKinesis},
      {"UpdateTable", R"({"TableName": "%", "DeletionProtectionEnabled": true})"},
      {"UpdateTableReplicaAutoScaling", kName},
      {"UpdateTimeToLive", R"({"TableName": "%",
          "TimeToLiveSpecification": {"Enabled": true, "AttributeName": "until"}})"},
  };
}

std::string filled(std::string text, std::string_view table) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view with = text[at] == '%' ? table : text[at] == '$' ? kArn : "";
    if (with.empty()) {
      ++at;
      continue;
    }
    text.replace(at, 1, with);
    at += with.size();
  }
  return text;
}

class AccessTest : public ::testing::Test {
 protected:
  AccessTest() {
    for (const char* body :
         {R"({"TableName": "Things", "Item": {"pk": {"S": "a"}, "color": {"S": "red"}}})",
          R"({"TableName": "Things", "Item": {"pk": {"S": "b"}, "color": {"S": "blue"}}})"}) {
      if (!is_created_) {
        is_created_ = true;
        EXPECT_THAT(ask("CreateTable", filled(std::string("{") + kTableDefinition + "}", "Things")),
                    IsOk());
      }
      EXPECT_THAT(ask("PutItem", body), IsOk());
    }
    EXPECT_THAT(ask("TagResource", filled(R"({"ResourceArn": "$table/%",
                    "Tags": [{"Key": "kept", "Value": "1"}]})",
                                          "Things")),
                IsOk());
  }

  // Runs an operation with the rights of `access_`, or all rights if it is empty.
  Result<std::string> ask(std::string_view name, std::string json) {
    std::ranges::replace(json, '\n', ' ');  // JSON strings cannot contain line breaks
    std::promise<Result<std::string>> answer;
    const Guarded::Run run = Guarded::find(name);
    if (run == nullptr) return fail(Code::kUnknownOperation, "");
    run({.engine = *engine_,
         .waiting = nullptr,
         .access = access_ ? &*access_ : nullptr,
         .operation = name},
        json, {&answer});
    auto given = answer.get_future();
    if (given.wait_for(std::chrono::seconds(0)) == std::future_status::ready) return given.get();
    return fail(Code::kInternalServerError, "no answer");
  }
  Result<std::string> ask(const Sample& sample, std::string_view table = "Things") {
    return ask(sample.operation, filled(sample.json, table));
  }
  // Replaces the rights of `access_` with an identity policy that has these statements.
  void become(std::string_view statements) {
    access_.emplace(access::Access{.caller = access::caller_of(*engine_, "ann")});
    access_->policy = std::make_shared<const policy::Policy>(must(policy::Policy::parse(
        R"({"Version": "2012-10-17", "Statement": [)" + std::string(statements) + "]}",
        policy::PolicyKind::kIdentity)));
    access_->decided = [this](const policy::Context& context, const policy::Verdict&) {
      decided_.push_back(context.action + " " + context.resource);
    };
  }
  // Runs an operation and returns the actions and resources on which policies decided.
  std::vector<std::string> decided_by(std::string_view name, const std::string& json) {
    decided_.clear();
    static_cast<void>(ask(name, json));
    return std::move(decided_);
  }
  // The responses of the operations that read, with all rights, to detect changes.
  std::string state() {
    auto kept = std::move(access_);
    access_.reset();
    std::string all;
    for (const Sample& sample : samples()) {
      const std::string_view name = sample.operation;
      const bool reads = name.starts_with("List") || name.starts_with("Describe") ||
                         name == "Scan" || name == "GetResourcePolicy";
      if (!reads) continue;
      const auto answer = ask(sample);
      all.append(name).append(answer ? *answer : answer.error().message).append("\n");
    }
    access_ = std::move(kept);
    return all;
  }
  void put_resource_policy(const std::string& statement) {
    auto kept = std::move(access_);
    access_.reset();
    std::string escaped;
    for (const char c : "{\"Statement\": " + statement + "}") {
      if (c == '"') escaped += '\\';
      escaped += c;
    }
    EXPECT_THAT(
        ask("PutResourcePolicy",
            filled(R"({"ResourceArn": "$table/%", "Policy": ")" + escaped + "\"}", "Things")),
        IsOk());
    access_ = std::move(kept);
  }

  std::unique_ptr<Engine> engine_ = must(Engine::open(make_memory_store()));
  std::optional<access::Access> access_;
  std::vector<std::string> decided_;

 private:
  bool is_created_ = false;
};

constexpr const char* kAll = R"({"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"})";

TEST_F(AccessTest, HasASampleOfEachOperation) {
  std::vector<std::string> sampled;
  for (const Sample& sample : samples()) sampled.emplace_back(sample.operation);
  std::vector<std::string> known(Guarded::names().begin(), Guarded::names().end());
  std::ranges::sort(sampled);
  std::ranges::sort(known);
  EXPECT_EQ(sampled, known);
}

TEST_F(AccessTest, DeniesEachOperationAndRevealsNothing) {
  const std::string before = state();
  for (const Sample& sample : samples()) {
    const std::string action = sample.action == nullptr ? sample.operation : sample.action;
    for (const char* denied : {R"({"Effect": "Allow", "Action": "s3:*", "Resource": "*"})",
                               R"({"Effect": "Allow", "Action": "*", "Resource": "*"},
             {"Effect": "Deny", "Action": "dynamodb:*", "Resource": "*"})"}) {
      become(denied);
      for (const char* table : {"Things", "Absent"}) {
        const std::string start =
            "User: arn:aws:iam::000000782867:user/ann is not authorized to perform: dynamodb:" +
            action + " on resource: " + filled(sample.resource, table) + " ";
        const std::string end =
            std::string_view(denied).find("Deny") == std::string_view::npos
                ? "because no identity-based policy allows the dynamodb:" + action + " action"
                : "with an explicit deny in an identity-based policy";
        const auto answer = ask(sample, table);
        ASSERT_FALSE(answer) << sample.operation;
        EXPECT_EQ(answer.error().code, Code::kAccessDenied) << sample.operation;
        EXPECT_EQ(answer.error().message, start + end) << sample.operation;
      }
    }
  }
  EXPECT_EQ(state(), before);
}

TEST_F(AccessTest, AllowsEachOperation) {
  become(kAll);
  for (const Sample& sample : samples()) {
    const auto answer = ask(sample);
    EXPECT_TRUE(answer || answer.error().code != Code::kAccessDenied)
        << sample.operation << answer.error().message;
  }
}

// The engine accepts a table's name and several ARNs.
TEST_F(AccessTest, KnowsATableByEachOfItsNames) {
  become(std::string(kAll) + R"(, {"Effect": "Deny", "Action": "*",
      "Resource": "arn:aws:dynamodb:us-east-1:000000782867:table/Things"})");
  for (const char* name :
       {"Things", "arn:aws:dynamodb:us-east-1:000000782867:table/Things", "arn:x:table/Things"}) {
    const std::string table = R"("TableName": ")" + std::string(name) + "\"";
    EXPECT_THAT(ask("Scan", "{" + table + "}"), FailsWith(Code::kAccessDenied, "explicit deny"));
    EXPECT_THAT(ask("DescribeContinuousBackups", "{" + table + "}"),
                FailsWith(Code::kAccessDenied, "explicit deny"))
        << name;
    EXPECT_THAT(ask("ExecuteStatement",
                    R"({"Statement": "SELECT * FROM \")" + std::string(name) + R"(\""})"),
                FailsWith(Code::kAccessDenied, "explicit deny"))
        << name;
    EXPECT_THAT(ask("BatchGetItem", R"({"RequestItems": {")" + std::string(name) +
                                        R"(": {"Keys": [{"pk": {"S": "a"}}]}}})"),
                FailsWith(Code::kAccessDenied, "explicit deny"))
        << name;
  }
  become(std::string(kAll) + R"(, {"Effect": "Deny", "Action": "*",
      "Resource": "arn:aws:dynamodb:us-east-1:000000782867:table/Things*"})");
  EXPECT_THAT(ask("ListStreams", R"({"TableName": "arn:x:table/Things"})"),
              FailsWith(Code::kAccessDenied, "explicit deny"));
  for (const char* arn : {"arn:aws-cn:dynamodb:us-east-1:000000782867:table/Things",
                          "arn:table/X:dynamodb:us-east-1:000000782867:table/Things"}) {
    EXPECT_THAT(ask("ListTagsOfResource", R"({"ResourceArn": ")" + std::string(arn) + "\"}"),
                FailsWith(Code::kAccessDenied, "explicit deny"))
        << arn;
  }
}

TEST_F(AccessTest, ChecksEachPartOfATransactionOrBatch) {
  become(kAll);
  const std::string things = filled(" $table/Things", "");
  EXPECT_THAT(decided_by("TransactWriteItems", R"({"TransactItems": [
      {"Put": {"TableName": "Things", "Item": {"pk": {"S": "p"}}}},
      {"Update": {"TableName": "Things", "Key": {"pk": {"S": "u"}},
                  "UpdateExpression": "REMOVE x"}},
      {"Delete": {"TableName": "Absent", "Key": {"pk": {"S": "d"}}}},
      {"ConditionCheck": {"TableName": "Things", "Key": {"pk": {"S": "c"}},
                          "ConditionExpression": "attribute_exists(pk) "}}]})"),
              ElementsAre("dynamodb:PutItem" + things, "dynamodb:UpdateItem" + things,
                          "dynamodb:DeleteItem" + filled(" $table/Absent", ""),
                          "dynamodb:ConditionCheckItem" + things));
  EXPECT_THAT(decided_by("BatchExecuteStatement", R"({"Statements": [
      {"Statement": "SELECT * FROM Things WHERE pk = 'a'"}, {"Statement": "no statement"},
      {"Statement": "UPDATE Things SET x = 1 WHERE pk = 'a'"}]})"),
              ElementsAre("dynamodb:PartiQLSelect" + things, "dynamodb:PartiQLUpdate" + things));
  EXPECT_THAT(decided_by("CreateTable", filled(std::string("{") + kTableDefinition +
                                                   R"(, "Tags": [{"Key": "a", "Value": "b"}]})",
                                               "New")),
              ElementsAre("dynamodb:CreateTable" + filled(" $table/New", ""),
                          "dynamodb:TagResource" + filled(" $table/New", "")));
}

// Requests beyond the API's limits are rejected as such, before policies examine their content.
TEST_F(AccessTest, RequestsHaveTheApisLimits) {
  become(kAll);
  const std::string statement =
      R"({"Statement": "SELECT * FROM Things WHERE pk = ')" + std::string(9'000, 'x') + R"('"})";
  EXPECT_THAT(ask("ExecuteStatement", statement), FailsWith(Code::kValidation, "8192"));
  become(R"({"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*",
             "Condition": {"ForAllValues:StringEquals": {"dynamodb:Attributes": ["pk", "color"]}}})");
  std::string filter = "color = :v";
  for (int i = 0; i < 1'000; ++i) filter += " OR color = :v";
  EXPECT_THAT(ask("Scan", R"({"TableName": "Things", "FilterExpression": ")" + filter +
                              R"(", "ExpressionAttributeValues": {":v": {"S": "red"}}})"),
              FailsWith(Code::kValidation, "Expression size has exceeded"));
}

// A key in an equality is the key that is read or written, whatever other keys the statement lists.
TEST_F(AccessTest, AStatementCannotHideItsKey) {
  become(R"({"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*", "Condition": {
             "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["a"]}}})");
  EXPECT_THAT(ask("ExecuteStatement", R"({"ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                  "Statement": "DELETE FROM Things WHERE pk IN ['a'] AND pk = 'b'"})"),
              FailsWith(Code::kAccessDenied, "dynamodb:PartiQLDelete"));
  EXPECT_THAT(ask("ExecuteStatement", R"({"Statement": "DELETE FROM Things WHERE pk = 'a'"})"),
              IsOk());
}

// A restoration also needs the rights to write items to the new table.
TEST_F(AccessTest, NeedsRightsOnTheTargetOfARestoration) {
  become(R"({"Effect": "Allow", "Action": "dynamodb:Restore*", "Resource": "*"})");
  EXPECT_THAT(
      ask("RestoreTableToPointInTime", R"({"SourceTableName": "Things", "TargetTableName": "New",
                                           "UseLatestRestorableTime": true})"),
      FailsWith(Code::kAccessDenied, "dynamodb:BatchWriteItem on resource"));
}

TEST_F(AccessTest, ResourcePoliciesAddToIdentityPoliciesAndTakeFromThem) {
  become(R"({"Effect": "Allow", "Action": "dynamodb:Query", "Resource": "*"})");
  const Sample get{.operation = "GetItem",
                   .json = R"({"TableName": "%", "Key": {"pk": {"S": "a"}}})"};
  EXPECT_THAT(ask(get), FailsWith(Code::kAccessDenied, "no identity-based policy"));
  put_resource_policy(R"({"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*",
      "Principal": {"AWS": "arn:aws:iam::000000782867:user/ann"}})");
  EXPECT_THAT(ask(get), IsOk());
  EXPECT_THAT(ask(get, "Absent"), FailsWith(Code::kAccessDenied, "no identity-based policy"));
  put_resource_policy(R"({"Effect": "Deny", "Action": "dynamodb:GetItem", "Resource": "*",
      "Principal": "*"})");
  become(kAll);
  EXPECT_THAT(ask(get),
              FailsWith(Code::kAccessDenied, "with an explicit deny in a resource-based policy"));
  access_->policy.reset();
  EXPECT_THAT(ask(get), FailsWith(Code::kAccessDenied, "explicit deny")) << "with all rights";
  EXPECT_THAT(ask("DeleteResourcePolicy", filled(R"({"ResourceArn": "$table/Things"})", "")),
              IsOk());
  EXPECT_THAT(ask(get), IsOk());
}

TEST_F(AccessTest, ATableIsCreatedWithItsPolicy) {
  become(kAll);
  EXPECT_THAT(
      ask("CreateTable", filled(std::string("{") + kTableDefinition +
                                    R"(, "ResourcePolicy": "{\"Statement\": {\"Effect\": \"Deny\",
                                \"Principal\": \"*\", \"Action\": \"dynamodb:Scan\",
                                \"Resource\": \"*\"}}"})",
                                "Guarded")),
      IsOk());
  EXPECT_THAT(ask("Scan", R"({"TableName": "Guarded"})"),
              FailsWith(Code::kAccessDenied, "resource-based policy"));
  EXPECT_THAT(ask("DeleteTable", R"({"TableName": "Guarded"})"), IsOk());
  EXPECT_THAT(ask("CreateTable", filled(std::string("{") + kTableDefinition + "}", "Guarded")),
              IsOk());
  EXPECT_THAT(ask("Scan", R"({"TableName": "Guarded"})"), IsOk()) << "another table";
}

TEST_F(AccessTest, LockingOneselfOutMustBeConfirmed) {
  become(kAll);
  const std::string start =
      filled(R"({"ResourceArn": "$table/Things", "Policy": "{\"Statement\": {\"Effect\": \"Deny\",
                 \"Principal\": \"*\", \"Action\": \"*\", \"Resource\": \"*\"}}")",
             "");
  EXPECT_THAT(ask("PutResourcePolicy", start + "}"),
              FailsWith(Code::kValidation, "ConfirmRemoveSelfResourceAccess"));
  EXPECT_THAT(ask("PutResourcePolicy", start + R"(, "ConfirmRemoveSelfResourceAccess": true})"),
              IsOk());
  EXPECT_THAT(ask("DeleteResourcePolicy", filled(R"({"ResourceArn": "$table/Things"})", "")),
              FailsWith(Code::kAccessDenied, "resource-based policy"));
}

// Another process can have created the table, so only the store has its policy.
TEST(AccessToASharedStore, ReadsAnUnknownTableOnTheThreadThatMayWait) {
  constexpr uint32_t kSeed = 5;
  test::SharedBackend backend(kSeed);
  test::Gate gate;
  const EngineOptions options{.sweep_interval = {}, .maintenance_interval = {}};
  const auto open = [&](std::unique_ptr<TransactStore> store) {
    return must(Engine::open(std::move(store), options));
  };
  const auto other = open(std::make_unique<test::SharedStore>(backend, kSeed));
  const auto engine = open(std::make_unique<test::GatedStore>(
      std::make_shared<test::SharedStore>(backend, kSeed + 1), gate));
  ASSERT_TRUE(other->create_table({.table = "Late",
                                   .attributes = {{"pk", ScalarType::kS}},
                                   .key_schema = {{"pk", KeyType::kHash}},
                                   .billing_mode = BillingMode::kPayPerRequest}));
  access::Access access{.caller = access::caller_of(*engine, "ann")};
  access.policy = std::make_shared<const policy::Policy>(
      must(policy::Policy::parse(R"({"Version": "2012-10-17", "Statement": {"Effect": "Allow",
          "Action": "dynamodb:GetItem", "Resource": "*"}})",
                                 policy::PolicyKind::kIdentity)));
  Worker waiting;
  const auto ask = [&](std::string_view name, std::string_view json) {
    std::promise<Result<std::string>> answer;
    auto given = answer.get_future();
    gate.close();
    {
      // The operation must not use these two after the call.
      const access::Access of_call = access;
      const std::string body(json);
      Guarded::find(name)(
          {.engine = *engine, .waiting = &waiting, .access = &of_call, .operation = name}, body,
          {&answer});
    }
    EXPECT_EQ(given.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    gate.open();
    return given.get();
  };
  EXPECT_THAT(ask("PutItem", R"({"TableName": "Late", "Item": {"pk": {"S": "a"}}})"),
              FailsWith(Code::kAccessDenied, "PutItem"));
  EXPECT_THAT(ask("GetItem", R"({"TableName": "Late", "Key": {"pk": {"S": "a"}}})"), IsOk());
  waiting.stop();
}

}  // namespace
}  // namespace stator::protocol
