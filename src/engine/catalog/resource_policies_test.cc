// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/resource_policies.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/access_view.h"
#include "engine/admin/administration.h"
#include "engine/catalog/records.h"
#include "engine/jobs/job_engine.h"
#include "engine/testing/engine_harness.h"
#include "policy/evaluate.h"

namespace stator {
namespace {

using test::EngineTest;
using test::FailsWith;
using test::hash_table;
using test::IsOk;

constexpr const char* kDenyScans =
    R"({"Statement": {"Effect": "Deny", "Principal": "*", "Action": "dynamodb:Scan",
        "Resource": "*"}})";
constexpr const char* kArn = "arn:aws:dynamodb:us-east-1:000000782867:table/Things";

class ResourcePoliciesTest : public EngineTest {
 protected:
  // The decision about an action by the policy of Things, or of the resource `rest` below it.
  // Absent if there is no policy.
  std::optional<policy::Decision> decision_on(const std::string& action,
                                              std::string_view rest = {}) {
    return decision_on(*engine_, action, rest);
  }
  static std::optional<policy::Decision> decision_on(Engine& engine, const std::string& action,
                                                     std::string_view rest = {}) {
    const PolicyPtr found = AccessView(engine, /*may_wait=*/true).resource_policy("Things", rest);
    if (!found) return std::nullopt;
    const policy::Caller caller;
    const policy::Policy* const policies[] = {found.get()};
    return policy::evaluate(policies, {.caller = caller, .action = action, .resource = kArn})
        .decision;
  }
  void put(const std::string& arn, const std::string& document) {
    EXPECT_THAT(engine_->administer(admin::kPutResourcePolicy,
                                    Item{{"ResourceArn", arn}, {"Policy", document}}),
                IsOk());
    learn();
  }
  void erase_policy() {
    EXPECT_THAT(engine_->administer(admin::kDeleteResourcePolicy, Item{{"ResourceArn", kArn}}),
                IsOk());
    learn();
  }
  // Other processes load changed policies during their maintenance.
  void learn() {
    engine_.for_each([](Engine& engine) { engine.run_maintenance(); });
  }
};

TEST_F(ResourcePoliciesTest, ApplyAfterARestart) {
  open_directory();
  ASSERT_THAT(engine_->create_table(hash_table()), IsOk());
  EXPECT_EQ(decision_on("dynamodb:Scan"), std::nullopt);
  EXPECT_EQ(engine_->parts().resource_policies.any(), test::tests_run_on_a_pair());
  put(kArn, kDenyScans);
  EXPECT_EQ(decision_on("dynamodb:Scan"), policy::Decision::kDenied);
  open_directory();
  EXPECT_TRUE(engine_->parts().resource_policies.any());
  EXPECT_EQ(decision_on("dynamodb:Scan"), policy::Decision::kDenied);
  EXPECT_EQ(decision_on("dynamodb:Query"), policy::Decision::kNotAllowed);
  erase_policy();
  EXPECT_EQ(decision_on("dynamodb:Scan"), std::nullopt);
}

TEST_F(ResourcePoliciesTest, OfATableMadeWithOneAreReplaced) {
  CreateTableRequest table = hash_table();
  table.resource_policy = kDenyScans;
  ASSERT_THAT(engine_->create_table(table), IsOk());
  engine_.for_each([&](Engine& engine) {
    EXPECT_EQ(decision_on(engine, "dynamodb:Scan"), policy::Decision::kDenied);
  });
  erase_policy();
  EXPECT_EQ(decision_on("dynamodb:Scan"), std::nullopt);
}

TEST_F(ResourcePoliciesTest, OfATableThatOthersCreatedApplyFromItsFirstUse) {
  Engine& creator = *engine_;
  ASSERT_THAT(creator.create_table(hash_table()), IsOk());
  ASSERT_THAT(creator.administer(admin::kPutResourcePolicy,
                                 Item{{"ResourceArn", kArn}, {"Policy", kDenyScans}}),
              IsOk());
  engine_.for_each([](Engine& engine) {
    EXPECT_EQ(decision_on(engine, "dynamodb:Scan"), policy::Decision::kDenied);
  });
}

TEST_F(ResourcePoliciesTest, OfStreamsAreTheirOwn) {
  CreateTableRequest table = hash_table();
  table.stream = StreamSpecification{.enabled = true, .view = StreamViewType::kKeysOnly};
  ASSERT_THAT(engine_->create_table(table), IsOk());
  const auto listed = engine_->list_streams({});
  ASSERT_THAT(listed, IsOk());
  ASSERT_EQ(listed->streams.size(), 1U);
  const std::string stream = "/stream/" + listed->streams[0].label;
  put(kArn + stream, kDenyScans);
  EXPECT_EQ(decision_on("dynamodb:Scan"), std::nullopt);
  EXPECT_EQ(decision_on("dynamodb:Scan", stream), policy::Decision::kDenied);
}

TEST_F(ResourcePoliciesTest, AreRefusedForStreamsThatCannotBeRead) {
  ASSERT_THAT(engine_->create_table(hash_table()), IsOk());
  const std::string arn = kArn + std::string("/stream/2026-01-02T03:04:05.678");
  EXPECT_THAT(engine_->administer(admin::kPutResourcePolicy,
                                  Item{{"ResourceArn", arn}, {"Policy", kDenyScans}}),
              FailsWith(Code::kResourceNotFound,
                        "Requested resource not found: ResourceArn: " + arn + " not found"));
}

// A policy that an earlier version stored.
TEST_F(ResourcePoliciesTest, ThatCannotBeReadDenyAllButTheirReplacement) {
  ASSERT_THAT(engine_->create_table(hash_table()), IsOk());
  JobEngine& impl = engine_->parts();
  const TablePtr table = *test::must(impl.catalog->newest_snapshot())->find("Things");
  ASSERT_THAT(Records(*impl.store)
                  .change_settings(*table,
                                   [](Item& settings) -> Result<void> {
                                     settings["Policy"] = Item{{"Document", "{}"}};
                                     return {};
                                   }),
              IsOk());
  ASSERT_THAT(impl.resource_policies.refresh(*table), IsOk());
  learn();
  EXPECT_EQ(decision_on("dynamodb:GetItem"), policy::Decision::kDenied);
  EXPECT_NE(decision_on("dynamodb:PutResourcePolicy"), policy::Decision::kDenied);
}

}  // namespace
}  // namespace stator
