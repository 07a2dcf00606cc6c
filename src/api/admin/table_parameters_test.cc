// SPDX-License-Identifier: Apache-2.0
#include "api/admin/table_parameters.h"

#include <gtest/gtest.h>

#include "api/admin/document.h"
#include "api/json/item_json.h"
#include "api/model/enums.h"
#include "api/model/test_samples.h"
#include "api/wire/wire.h"
#include "support/must.h"

namespace stator {
namespace {

using test::must;

Item document_in(const std::string& json) {
  return must(wire::item_from_plain_json(json));
}

TEST(TableParameters, KeepEveryMember) {
  CreateTableRequest request = test::full_create();
  // Administrative requests do not have these members.
  request.warm_throughput.reset();
  request.table_class.reset();
  request.deletion_protection.reset();
  request.tags.clear();
  request.stream.reset();
  request.resource_policy.reset();
  const std::string json = wire::to_json(request);
  EXPECT_EQ(wire::to_json(table_parameters(document_in(json))), json);
}

TEST(TableParameters, DistinguishEmptyListsFromAbsentOnes) {
  const CreateTableRequest none = table_parameters({});
  EXPECT_FALSE(none.local_indexes || none.global_indexes || none.vector_indexes);
  EXPECT_FALSE(none.billing_mode || none.throughput || none.encryption);
  const CreateTableRequest empty = table_parameters({{"GlobalSecondaryIndexes", List()}});
  ASSERT_TRUE(empty.global_indexes);
  EXPECT_TRUE(empty.global_indexes->empty());
}

TEST(TableParameters, KeepAProjectionWithoutType) {
  const Item index{{"IndexName", "Index"}, {"Projection", Item{}}};
  const auto indexes = table_parameters({{"GlobalSecondaryIndexes", List{index}}}).global_indexes;
  ASSERT_TRUE(indexes);
  EXPECT_EQ(indexes->at(0).projection.type, wire::kNoProjectionType);
}

TEST(DescriptionDocument, HasTheMembersOfTheJson) {
  const TableDescription table = test::sample_description();
  const Item response = document_in(wire::to_json(DescribeTableResult{table}));
  EXPECT_EQ(wire::to_document(table), map_of(response, "Table"));
}

}  // namespace
}  // namespace stator
