// SPDX-License-Identifier: Apache-2.0
#include "api/validation/table_update.h"

#include <gtest/gtest.h>

#include "api/validation/validate.h"
#include "support/matchers.h"

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;

IndexDefinition index_on(const std::string& name, const std::string& attribute,
                         std::optional<Throughput> throughput = {}) {
  IndexDefinition index;
  index.name = name;
  index.key_schema = {{attribute, KeyType::kHash}};
  index.throughput = throughput;
  return index;
}

CreateTableRequest on_demand() {
  return {.table = "Things",
          .attributes = {{"pk", ScalarType::kS}, {"color", ScalarType::kS}},
          .key_schema = {{"pk", KeyType::kHash}},
          .global_indexes = {{index_on("byColor", "color")}},
          .billing_mode = BillingMode::kPayPerRequest};
}

CreateTableRequest provisioned() {
  CreateTableRequest settings = on_demand();
  settings.billing_mode.reset();
  settings.throughput = Throughput{.read = 5, .write = 6};
  (*settings.global_indexes)[0].throughput = Throughput{.read = 7, .write = 8};
  return settings;
}

Result<CreateTableRequest> update(const CreateTableRequest& settings, UpdateTableRequest request) {
  request.table = "Things";
  STATOR_RETURN_IF_ERROR(validate(request));
  return updated_settings(settings, request);
}

UpdateTableRequest with(std::vector<GlobalIndexChange> changes,
                        std::optional<std::vector<AttributeDefinition>> attributes = {}) {
  return {.table = "Things", .attributes = std::move(attributes), .global_indexes = changes};
}

constexpr Throughput kOne = {.read = 1, .write = 1};

TEST(TableUpdate, MustChangeSomething) {
  const char* text = "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled";
  EXPECT_THAT(update(on_demand(), {}), FailsWith(Code::kValidation, text));
  EXPECT_THAT(update(on_demand(), with({})), FailsWith(Code::kValidation, text));
  EXPECT_THAT(update(on_demand(), {.attributes = {{{"a", ScalarType::kS}}}}),
              FailsWith(Code::kValidation, text));
}

TEST(TableUpdate, RejectsUnchangedThroughput) {
  EXPECT_THAT(
      update(provisioned(), {.throughput = Throughput{.read = 5, .write = 6}}),
      FailsWith(Code::kValidation,
                "The provisioned throughput for the table will not change. The requested value "
                "equals the current value. Current ReadCapacityUnits provisioned for the table: 5. "
                "Requested ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the "
                "table: 6. Requested WriteCapacityUnits: 6. Refer to the Amazon DynamoDB Developer "
                "Guide for current limits and how to request higher limits."));
  EXPECT_THAT(
      update(
          provisioned(),
          with({{.update = GlobalIndexUpdate{.name = "byColor",
                                             .throughput = Throughput{.read = 7, .write = 8}}}})),
      FailsWith(Code::kValidation,
                "for the index byColor will not change. The requested value equals the current "
                "value. Current ReadCapacityUnits provisioned for index byColor: 7. "));
}

TEST(TableUpdate, KeepsBillingModeAndThroughputInStep) {
  EXPECT_THAT(update(on_demand(), {.billing_mode = BillingMode::kProvisioned}),
              FailsWith(Code::kValidation,
                        "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"));
  const char* neither = "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified";
  EXPECT_THAT(
      update(provisioned(), {.billing_mode = BillingMode::kPayPerRequest, .throughput = kOne}),
      FailsWith(Code::kValidation, neither));
  EXPECT_THAT(update(on_demand(), {.throughput = kOne}), FailsWith(Code::kValidation, neither));
  EXPECT_THAT(
      update(on_demand(), {.billing_mode = BillingMode::kProvisioned, .throughput = kOne}),
      FailsWith(Code::kValidation, "ProvisionedThroughput must be specified for index: byColor"));
  EXPECT_THAT(update(provisioned(), {.on_demand_throughput = OnDemandThroughput{5, 5}}),
              FailsWith(Code::kValidation,
                        "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table "
                        "BillingMode is PROVISIONED."));
  EXPECT_THAT(update(on_demand(), {.on_demand_throughput = OnDemandThroughput{0, 5}}),
              FailsWith(Code::kValidation, "MaxReadRequestUnits"));
}

TEST(TableUpdate, SwitchesTheBillingModeOfTheIndexesToo) {
  const auto to_on_demand = update(provisioned(), {.billing_mode = BillingMode::kPayPerRequest});
  ASSERT_THAT(to_on_demand, IsOk());
  EXPECT_FALSE(to_on_demand->throughput);
  EXPECT_FALSE((*to_on_demand->global_indexes)[0].throughput);
  const auto back = update(
      *to_on_demand,
      {.billing_mode = BillingMode::kProvisioned,
       .throughput = kOne,
       .global_indexes = {{{.update = GlobalIndexUpdate{.name = "byColor", .throughput = kOne}}}}});
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(back->throughput, kOne);
  EXPECT_EQ((*back->global_indexes)[0].throughput, kOne);
}

TEST(TableUpdate, AllowsOneIndexChangeAtATime) {
  EXPECT_THAT(update(on_demand(), with({{.create = index_on("one", "a")}, {.remove = "byColor"}},
                                       {{{"a", ScalarType::kS}}})),
              FailsWith(Code::kLimitExceeded,
                        "Subscriber limit exceeded: Only 1 online index can be created or deleted "
                        "simultaneously per table"));
  EXPECT_THAT(update(on_demand(), with({{}})),
              FailsWith(Code::kValidation, "GlobalSecondaryIndexUpdate.Delete must not be null"));
  EXPECT_THAT(update(on_demand(), with({{.create = index_on("one", "a"), .remove = "byColor"}})),
              FailsWith(Code::kValidation,
                        "Only one global secondary index action is allowed per "
                        "GlobalSecondaryIndexUpdate object"));
  const UpdateTableRequest none{.deletion_protection = true,
                                .global_indexes = std::vector<GlobalIndexChange>()};
  EXPECT_THAT(update(on_demand(), none),
              FailsWith(Code::kValidation, "List of GlobalSecondaryIndexUpdates is empty"));
  EXPECT_THAT(
      update(on_demand(), with({{.create = index_on("byColor", "a")}, {.remove = "byColor"}},
                               {{{"a", ScalarType::kS}}})),
      FailsWith(Code::kValidation,
                "Only one global secondary index update per index is allowed "
                "simultaneously. Index: byColor"));
}

TEST(TableUpdate, ReportsMissingAndDuplicateIndexes) {
  EXPECT_THAT(update(on_demand(), with({{.remove = "nope"}})),
              FailsWith(Code::kResourceNotFound, "Requested resource not found"));
  EXPECT_THAT(
      update(
          on_demand(),
          with({{.update = GlobalIndexUpdate{.name = "nope", .on_demand_throughput = {{5, 5}}}}})),
      FailsWith(Code::kResourceNotFound, "Requested resource not found"));
  EXPECT_THAT(update(on_demand(), with({{.create = index_on("byColor", "color")}},
                                       {{{"color", ScalarType::kS}}})),
              FailsWith(Code::kValidation, "Attempting to create an index which already exists"));
}

TEST(TableUpdate, HasUpToTwentyIndexes) {
  CreateTableRequest settings = on_demand();
  while (settings.global_indexes->size() < 20) {
    settings.global_indexes->push_back(
        index_on("by" + std::to_string(settings.global_indexes->size()), "color"));
  }
  EXPECT_THAT(update(settings,
                     with({{.create = index_on("more", "color")}}, {{{"color", ScalarType::kS}}})),
              FailsWith(Code::kLimitExceeded,
                        "Subscriber limit exceeded: Number of global secondary indexes exceeds "
                        "per-table limit of 20"));
}

TEST(TableUpdate, AttributeDefinitionsAreADelta) {
  const auto more = update(
      on_demand(), with({{.create = index_on("bySize", "size")}}, {{{"size", ScalarType::kN}}}));
  ASSERT_THAT(more, IsOk());
  EXPECT_EQ(more->attributes.size(), 3U);
  const auto known =
      update(on_demand(), with({{.create = index_on("again", "color")}},
                               {{{"color", ScalarType::kS}, {"unused", ScalarType::kN}}}));
  ASSERT_THAT(known, IsOk());
  EXPECT_EQ(known->attributes.size(), 2U);
  const auto fewer = update(*more, with({{.remove = "byColor"}}));
  ASSERT_THAT(fewer, IsOk());
  EXPECT_EQ(fewer->attributes,
            (std::vector<AttributeDefinition>{{"pk", ScalarType::kS}, {"size", ScalarType::kN}}));
  const auto ignored =
      update(*more, {.attributes = {{{"pk", ScalarType::kN}}}, .deletion_protection = true});
  ASSERT_THAT(ignored, IsOk());
  EXPECT_EQ(ignored->attributes, more->attributes);
  EXPECT_THAT(
      update(on_demand(), with({{.create = index_on("bySize", "size")}})),
      FailsWith(Code::kValidation, "AttributeDefinitions is not specified for index: bySize"));
  EXPECT_THAT(update(on_demand(), with({{.create = index_on("bySize", "size")}},
                                       {{{"unused", ScalarType::kN}}})),
              FailsWith(Code::kValidation, "not defined in AttributeDefinitions"));
  EXPECT_THAT(update(on_demand(),
                     with({{.create = index_on("again", "color")}}, {{{"color", ScalarType::kN}}})),
              FailsWith(Code::kValidation, "Attributes cannot be redefined. Please check"));
}

TEST(TableUpdate, QuotesTheSearchSchemasOfARedefinedAttribute) {
  const auto vectors = [](const std::string& name, const std::string& attribute) {
    return VectorIndexDefinition{
        .name = name,
        .vector_attribute = "vector",
        .search_schema = {{attribute, SearchSchemaElementType::kInlineFilter}},
        .dimensions = 2};
  };
  CreateTableRequest settings = on_demand();
  settings.attributes.push_back({"size", ScalarType::kN});
  settings.vector_indexes = {vectors("nearest", "size")};
  const std::string redefined =
      "Attributes cannot be redefined. Please check that your attribute has the same type as "
      "previously defined. ";
  EXPECT_THAT(
      update(settings,
             with({{.create = index_on("bySize", "size")}}, {{{"size", ScalarType::kS}}})),
      FailsWith(Code::kValidation,
                redefined + "Existing schema: Schema:[SchemaElement: key{size:N:INLINE_FILTER}] "
                            "New schema: Schema:[SchemaElement: key{size:S:HASH}]"));
  EXPECT_THAT(
      update(settings, {.attributes = {{{"color", ScalarType::kN}}},
                        .vector_indexes = {{{.create = vectors("byColorToo", "color")}}}}),
      FailsWith(Code::kValidation,
                redefined + "Existing schema: Schema:[SchemaElement: key{color:S:HASH}] "
                            "New schema: Schema:[SchemaElement: key{color:N:INLINE_FILTER}]"));
}

TEST(TableUpdate, WarmThroughputOnlyGrows) {
  const auto warmer = update(on_demand(), {.warm_throughput = Throughput{.read = 20'000}});
  ASSERT_THAT(warmer, IsOk());
  EXPECT_EQ(warmer->warm_throughput, (Throughput{.read = 20'000, .write = 4'000}));
  EXPECT_THAT(update(*warmer, {.warm_throughput = Throughput{.read = 12'000, .write = 5'000}}),
              FailsWith(Code::kValidation,
                        "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than "
                        "current WarmThroughput, decreasing WarmThroughput is not supported"));
}

}  // namespace
}  // namespace stator
