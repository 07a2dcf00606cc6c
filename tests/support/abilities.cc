// SPDX-License-Identifier: Apache-2.0
#include "support/abilities.h"

#include <unistd.h>

#include <map>
#include <utility>
#include <vector>

#include "support/homes.h"
#include "support/must.h"

namespace stator::test {
namespace {

constexpr auto kTotal = ReturnConsumedCapacity::kTotal;

constexpr std::pair<Ability, const char*> kNames[] = {
    {Ability::kTransactions, "has no transactions"},
    {Ability::kStreams, "has no streams"},
    {Ability::kMultiAttributeKeys, "has no indexes with keys of several attributes"},
    {Ability::kUnitsOfTransactions, "does not count a transaction's units twice"},
    {Ability::kUnitsOfIndexes, "does not count the units of indexes"},
    {Ability::kUnitsOfEmptyReads, "does not count the units of reads that find nothing"},
    {Ability::kTimeToLive, "has no time to live"},
};

// A table with an index, which exists while the endpoint is tested.
class Trial {
 public:
  Trial() {
    const auto created = must(client_.create_table(
        {.table = table_,
         .attributes = {{"pk", ScalarType::kS}, {"a", ScalarType::kS}},
         .key_schema = {{"pk", KeyType::kHash}},
         .global_indexes =
             std::vector{IndexDefinition{.name = "by-a",
                                         .key_schema = {{"a", KeyType::kHash}},
                                         .projection = {.type = ProjectionType::kAll}}},
         .billing_mode = BillingMode::kPayPerRequest,
         .stream = StreamSpecification{.enabled = true, .view = StreamViewType::kNewImage}}));
    streams_ = created.table.latest_stream_arn.has_value();
    wait_for_table(client_, table_, true);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() { (void)client_.delete_table({.table = table_}); }

  bool has(Ability ability) {
    switch (ability) {
      case Ability::kTransactions:
        return transacted().has_value();
      case Ability::kStreams:
        return streams_;
      case Ability::kTimeToLive:
        return client_
            .update_time_to_live(
                {.table = table_, .specification = {.enabled = true, .attribute = "expires_at"}})
            .has_value();
      case Ability::kMultiAttributeKeys:
        return has_multi_attribute_keys();
      case Ability::kUnitsOfTransactions: {
        const auto written = transacted();
        return written && written->capacity.size() == 1 && written->capacity[0].total.units == 4;
      }
      case Ability::kUnitsOfIndexes: {
        const auto written = client_.put_item({.table = table_,
                                               .item = {{"pk", "in the index"}, {"a", "a"}},
                                               .return_capacity = kTotal});
        return written && written->capacity && written->capacity->total.units == 2;
      }
      case Ability::kUnitsOfEmptyReads: {
        const auto found = client_.query({.table = table_,
                                          .key_condition = "pk = :absent",
                                          .values = Values{{":absent", "absent"}},
                                          .consistent_read = true,
                                          .return_capacity = kTotal});
        return found && found->capacity && found->capacity->total.units == 1;
      }
    }
    return true;
  }

 private:
  Result<TransactWriteItemsResult> transacted() {
    return client_.transact_write_items({.items = {{.table = table_, .item = {{"pk", "one"}}},
                                                   {.table = table_, .item = {{"pk", "other"}}}},
                                         .return_capacity = kTotal});
  }
  bool has_multi_attribute_keys() {
    const auto created = client_.create_table(
        {.table = table_ + "-multi",
         .attributes = {{"pk", ScalarType::kS}, {"a", ScalarType::kS}, {"b", ScalarType::kS}},
         .key_schema = {{"pk", KeyType::kHash}},
         .global_indexes = std::vector{IndexDefinition{
             .name = "both",
             .key_schema = {{"a", KeyType::kHash}, {"b", KeyType::kHash}},
             .projection = {.type = ProjectionType::kAll}}},
         .billing_mode = BillingMode::kPayPerRequest});
    if (created) (void)client_.delete_table({.table = table_ + "-multi"});
    return created.has_value();
  }

  Home home_ = open_home("endpoint");
  Client& client_ = *home_.client;
  std::string table_ = "trial-" + std::to_string(getpid());
  bool streams_ = false;
};

}  // namespace

std::string lack_of(Ability ability) {
  if (home_kinds().front() != "endpoint") return {};
  static const std::map<Ability, std::string> lacking = [] {
    Trial trial;
    std::map<Ability, std::string> found;
    for (const auto& [one, what] : kNames) {
      if (!trial.has(one)) found.emplace(one, std::string("the endpoint ") + what);
    }
    return found;
  }();
  const auto found = lacking.find(ability);
  return found == lacking.end() ? std::string() : found->second;
}

}  // namespace stator::test
