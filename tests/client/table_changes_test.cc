// SPDX-License-Identifier: Apache-2.0
// UpdateTable, UpdateTimeToLive, DescribeTimeToLive.
#include <thread>

#include "client/client_test.h"

namespace stator::test {
namespace {

using ::testing::IsEmpty;

class TableChanges : public ClientTest {
 protected:
  template <class Condition>
  static bool comes_true(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }
  TableDescription described(const std::string& table) {
    auto result = client_.describe_table({.table = table});
    EXPECT_THAT(result, IsOk());
    return result ? result->table : TableDescription();
  }
};
STATOR_IN_EACH_HOME(TableChanges);

TEST_P(TableChanges, SetWhatTheTableIsDescribedAs) {
  create(hash_table("Settings"));
  const auto answer = client_.update_table({.table = "Settings",
                                            .billing_mode = BillingMode::kProvisioned,
                                            .throughput = Throughput{.read = 3, .write = 4},
                                            .table_class = TableClass::kStandardInfrequentAccess,
                                            .deletion_protection = true});
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->table.status, TableStatus::kUpdating);
  const TableDescription table = described("Settings");
  EXPECT_EQ(table.status, TableStatus::kActive);
  EXPECT_EQ(table.billing_mode, BillingMode::kProvisioned);
  EXPECT_TRUE(table.on_demand_since_ms);
  EXPECT_EQ(table.throughput, (Throughput{.read = 3, .write = 4}));
  EXPECT_EQ(table.warm_throughput, (Throughput{.read = 3, .write = 4}));
  EXPECT_EQ(table.table_class, TableClass::kStandardInfrequentAccess);
  EXPECT_TRUE(table.table_class_changed_ms);
  EXPECT_TRUE(table.deletion_protection);
  ASSERT_THAT(client_.update_table({.table = "Settings",
                                    .throughput = Throughput{.read = 5, .write = 1},
                                    .deletion_protection = false}),
              IsOk());
  EXPECT_TRUE(described("Settings").throughput_changes.increased_ms);
  EXPECT_EQ(described("Settings").throughput_changes.decreases_today, 1);
  EXPECT_THAT(client_.delete_table({.table = "Settings"}), IsOk());
}

TEST_P(TableChanges, AddAnIndexOverWhatIsThereAndTakeItAway) {
  create(hash_table("Grown"));
  for (int i = 0; i < 50; ++i) {
    put("Grown", {{"pk", std::to_string(i)}, {"a", i % 2}, {"b", "x"}, {"c", i}});
  }
  ASSERT_THAT(
      client_.update_table(
          {.table = "Grown",
           .attributes = {{{"a", ScalarType::kN}, {"b", ScalarType::kS}, {"c", ScalarType::kN}}},
           .global_indexes = {{{.create = index_on("Wide", {{"a", KeyType::kHash},
                                                            {"b", KeyType::kHash},
                                                            {"c", KeyType::kRange}})}}}}),
      IsOk());
  ASSERT_TRUE(comes_true([&] {
    const TableDescription table = described("Grown");
    return table.status == TableStatus::kActive &&
           table.global_indexes.at(0).status == TableStatus::kActive;
  }));
  EXPECT_EQ(described("Grown").global_indexes[0].item_count, 50);
  const auto found = all_items(QueryRequest{.table = "Grown",
                                            .index = "Wide",
                                            .key_condition = "a = :a AND b = :b AND c > :c",
                                            .values = Values{{":a", 1}, {":b", "x"}, {":c", 40}},
                                            .limit = 2});
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].at("c"), AttributeValue(41));
  const auto removed =
      client_.update_table({.table = "Grown", .global_indexes = {{{.remove = "Wide"}}}});
  ASSERT_THAT(removed, IsOk());
  EXPECT_EQ(removed->table.global_indexes.at(0).status, TableStatus::kDeleting);
  EXPECT_THAT(described("Grown").global_indexes, IsEmpty());
  EXPECT_EQ(described("Grown").attributes.size(), 1U);
  EXPECT_THAT(client_.scan({.table = "Grown", .index = "Wide"}),
              FailsWith(Code::kValidation, "does not have the specified index"));
  EXPECT_EQ(all_items(ScanRequest{.table = "Grown"}).size(), 50U);
}

TEST_P(TableChanges, AreRefusedInTheServicesWords) {
  create(hash_table("Refusing"));
  EXPECT_THAT(client_.update_table({.table = "Refusing"}),
              FailsWith(Code::kValidation, "At least one of ProvisionedThroughput"));
  EXPECT_THAT(client_.update_table({.table = "Nowhere", .deletion_protection = true}),
              FailsWith(Code::kResourceNotFound, "Table: Nowhere not found"));
  EXPECT_THAT(client_.update_table({.table = "Refusing", .global_indexes = {{{.remove = "nope"}}}}),
              FailsWith(Code::kResourceNotFound, "Requested resource not found"));
  EXPECT_THAT(
      client_.update_table({.table = "Refusing", .throughput = Throughput{.read = 0, .write = 1}}),
      FailsWith(Code::kValidation, "provisionedThroughput.readCapacityUnits"));
}

TEST_P(TableChanges, TimeToLiveDeletesWhatHasExpired) {
  create(hash_table("Mortal"));
  const int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  put("Mortal", {{"pk", "old"}, {"until", now - 3600}});
  put("Mortal", {{"pk", "young"}, {"until", now + 3600}});
  EXPECT_EQ(client_.describe_time_to_live({.table = "Mortal"})->status,
            TimeToLiveStatus::kDisabled);
  const TimeToLiveSpecification specification{.enabled = true, .attribute = "until"};
  const auto set = client_.update_time_to_live({.table = "Mortal", .specification = specification});
  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->specification, specification);
  EXPECT_TRUE(comes_true([&] { return !get("Mortal", {{"pk", "old"}}); }));
  EXPECT_TRUE(get("Mortal", {{"pk", "young"}}));
  const auto described_as = client_.describe_time_to_live({.table = "Mortal"});
  ASSERT_THAT(described_as, IsOk());
  EXPECT_EQ(described_as->status, TimeToLiveStatus::kEnabled);
  EXPECT_EQ(described_as->attribute, "until");
  EXPECT_THAT(client_.update_time_to_live({.table = "Mortal", .specification = specification}),
              FailsWith(Code::kValidation, "TimeToLive is already enabled"));
}

}  // namespace
}  // namespace stator::test
