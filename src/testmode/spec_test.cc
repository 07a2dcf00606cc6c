// SPDX-License-Identifier: Apache-2.0
#include "testmode/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "api/json/item_json.h"
#include "support/from_environment.h"
#include "support/matchers.h"

namespace stator::testmode {
namespace {

using test::FailsWith;
using test::IsOk;

constexpr std::string_view kOperations[] = {"BatchGetItem", "BatchWriteItem", "GetItem",
                                            "ListTables",   "PutItem",        "TransactWriteItems"};

Result<Spec> parse(std::string_view json) {
  return parse_spec(json, kOperations);
}

Result<Spec> parse_rule(const std::string& members) {
  return parse(R"({"rules":[{)" + members + "}]}");
}

std::string print(const Spec& spec) {
  Item item;
  if (spec.seed) item["seed"] = *spec.seed;
  List rules;
  for (const Rule& rule : spec.rules) rules.emplace_back(to_item(rule));
  item["rules"] = std::move(rules);
  return wire::item_to_plain_json(item);
}

TEST(TestModeSpec, ReadsEachMember) {
  const auto spec = parse(
      R"({"seed":7,"rules":[)"
      R"({"fault":"internal_error","operations":["PutItem"],"tables":["A","B"],"first":3,"last":5,)"
      R"("probability":0.25,"applied":true},)"
      R"({"fault":"throttling","error":"ThrottlingException","limit":"AccountLimitExceeded"},)"
      R"({"fault":"delay","ms":[5,70]},{"fault":"delay","ms":9},{"fault":"read_lag","ms":800}]})");
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->seed, 7);
  ASSERT_EQ(spec->rules.size(), 5U);
  EXPECT_EQ(spec->rules[0], (Rule{.fault = Fault::kInternalError,
                                  .operations = {"PutItem"},
                                  .tables = {"A", "B"},
                                  .first = 3,
                                  .last = 5,
                                  .probability = 0.25,
                                  .applied = true}));
  EXPECT_EQ(spec->rules[1].error, Code::kThrottling);
  EXPECT_EQ(spec->rules[1].limit, "AccountLimitExceeded");
  EXPECT_EQ(spec->rules[2], (Rule{.fault = Fault::kDelay, .ms = 5, .ms_max = 70}));
  EXPECT_EQ(spec->rules[3], (Rule{.fault = Fault::kDelay, .ms = 9, .ms_max = 9}));
  EXPECT_EQ(spec->rules[4].ms, 800);
}

TEST(TestModeSpec, HasNeitherSeedNorRulesIfThereAreNone) {
  EXPECT_THAT(parse("{}"), IsOk());
  EXPECT_EQ(*parse("{}"), Spec());
}

TEST(TestModeSpec, NamesTheMemberThatIsWrong) {
  struct Case {
    std::string rule;
    std::string message;
  };
  const Case cases[] = {
      {R"("fault":"fire")", "rules[0].fault: expected one of internal_error, throttling"},
      {R"("ms":5)", "rules[0].fault: expected one of"},
      {R"("fault":7)", "rules[0].fault: expected one of"},
      {R"("fault":"delay")", "rules[0].ms: missing"},
      {R"("fault":"delay","ms":0)", "rules[0].ms: expected an integer from 1 to 60000"},
      {R"("fault":"delay","ms":60001)", "rules[0].ms: expected an integer from 1 to 60000"},
      {R"("fault":"delay","ms":1.5)", "rules[0].ms: expected an integer"},
      {R"("fault":"delay","ms":"5")", "rules[0].ms: expected an integer"},
      {R"("fault":"delay","ms":[9,5])", "rules[0].ms: expected an integer from 9 to 60000"},
      {R"("fault":"read_lag","ms":[5,9])", "rules[0].ms: expected an integer from 1 to 60000"},
      {R"("fault":"creating","ms":600001)", "rules[0].ms: expected an integer from 1 to 600000"},
      {R"("fault":"read_lag","ms":5,"probability":0.5)",
       "rules[0].probability: a rule for read_lag"},
      {R"("fault":"creating","ms":5,"operations":["GetItem"])", "rules[0].operations: a rule for"},
      {R"("fault":"internal_error","ms":5)", "rules[0].ms: a rule for internal_error"},
      {R"("fault":"internal_error","probability":1.01)", "rules[0].probability: expected a number"},
      {R"("fault":"internal_error","probability":-0.1)", "rules[0].probability: expected a number"},
      {R"("fault":"internal_error","applied":1)", "rules[0].applied: expected true or false"},
      {R"("fault":"internal_error","first":0)", "rules[0].first: expected an integer of at least"},
      {R"("fault":"internal_error","first":4,"last":3)", "rules[0].last: is less than 'first'"},
      {R"("fault":"internal_error","last":1e30)", "rules[0].last: expected an integer"},
      {R"("fault":"internal_error","tables":[])", "rules[0].tables: expected a list of 1 to 100"},
      {R"("fault":"internal_error","tables":"A")", "rules[0].tables: expected a list"},
      {R"("fault":"internal_error","tables":[1])", "rules[0].tables: expected a list"},
      {R"("fault":"internal_error","operations":["Put"])", "'Put' is not an operation"},
      {R"("fault":"unprocessed","operations":["PutItem"])",
       "rules[0].operations: 'PutItem' is not an operation that this fault can have"},
      {R"("fault":"throttling","error":"Slow")", "rules[0].error: expected Provisioned"},
      {R"("fault":"throttling","limit":"Slow")", "rules[0].limit: expected one of"},
      {R"("fault":"delay","ms":5,"frobnicate":1)", "rules[0].frobnicate: unknown member"},
      {R"("fault":"provisioned_throughput","burst_seconds":301)",
       "rules[0].burst_seconds: expected an integer from 1 to 300"},
      {R"("fault":"provisioned_throughput","probability":1)", "does not have this member"},
      {R"("fault":"throttling","burst_seconds":1)", "does not have this member"},
  };
  for (const Case& one : cases) {
    EXPECT_THAT(parse_rule(one.rule), FailsWith(Code::kInvalidArgument, one.message)) << one.rule;
  }
  EXPECT_THAT(parse(R"({"rules":[{"fault":"provisioned_throughput","tables":["A"]},)"
                    R"({"fault":"provisioned_throughput","tables":["B"]}]})"),
              FailsWith(Code::kInvalidArgument, "rules[1].fault: a second rule for provisioned"));
  EXPECT_THAT(parse(R"({"rule":[]})"), FailsWith(Code::kInvalidArgument, "rule: unknown member"));
  EXPECT_THAT(parse(R"({"rules":{}})"),
              FailsWith(Code::kInvalidArgument, "rules: expected a list"));
  EXPECT_THAT(parse(R"({"rules":[5]})"),
              FailsWith(Code::kInvalidArgument, "rules[0]: expected an object"));
  EXPECT_THAT(parse(R"({"seed":-1})"), FailsWith(Code::kInvalidArgument, "seed: expected"));
  EXPECT_THAT(parse("[]"), FailsWith(Code::kInvalidArgument, ""));
  EXPECT_THAT(parse(""), FailsWith(Code::kInvalidArgument, ""));
  EXPECT_THAT(parse(R"({"seed":1,"seed":2})"), FailsWith(Code::kInvalidArgument, "seed"));
}

TEST(TestModeSpec, IsBounded) {
  std::string rules;
  for (std::size_t i = 0; i < kRulesMax; ++i) rules += R"({"fault":"delay","ms":1},)";
  rules.pop_back();
  EXPECT_THAT(parse(R"({"rules":[)" + rules + "]}"), IsOk());
  EXPECT_THAT(parse(R"({"rules":[)" + rules + R"(,{"fault":"delay","ms":1}]})"),
              FailsWith(Code::kInvalidArgument, "rules: expected a list of at most 100 rules"));
  EXPECT_THAT(parse("{" + std::string(kSpecBytesMax, ' ') + "}"),
              FailsWith(Code::kInvalidArgument, "larger than 65536 bytes"));
}

TEST(TestModeSpec, IsTheSameAfterPrinting) {
  const uint64_t seed = test::number_from_environment("STATOR_SEED", std::random_device{}());
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t limit) { return static_cast<int64_t>(random() % limit); };
  constexpr std::string_view kFaults[] = {
      R"("fault":"internal_error","applied":true)", R"("fault":"internal_error")",
      R"("fault":"throttling","error":"RequestLimitExceeded")",
      R"("fault":"throttling","limit":"MaxOnDemandThroughputExceeded")",
      R"("fault":"delay","ms":[3,44])"};
  constexpr std::string_view kOthers[] = {
      R"({"fault":"read_lag","ms":5})", R"({"fault":"provisioned_throughput","tables":["x"]})",
      R"({"fault":"provisioned_throughput","burst_seconds":1})"};
  for (int i = 0; i < 100; ++i) {
    const int64_t first = 1 + below(1000);
    std::string rule(kFaults[below(std::size(kFaults))]);
    rule += R"(,"first":)" + std::to_string(first);
    if (below(2) == 0) rule += R"(,"last":)" + std::to_string(first + below(1000));
    if (below(2) == 0) rule += R"(,"probability":0.)" + std::to_string(below(1'000'000'000));
    if (below(2) == 0) rule += R"(,"tables":["\"x","y"])";
    if (below(2) == 0) rule += R"(,"operations":["GetItem","ListTables"])";
    const auto spec =
        parse(R"({"seed":)" + std::to_string(below(UINT64_MAX) / 2 & INT64_MAX) + R"(,"rules":[{)" +
              rule + "}," + std::string(kOthers[below(std::size(kOthers))]) + "]}");
    // A rule without operations is printed with all operations that its fault can have.
    ASSERT_THAT(spec, IsOk()) << rule;
    const auto again = parse_spec(
        print(*spec),
        std::vector<std::string_view>(
            {"BatchExecuteStatement", "BatchGetItem", "BatchWriteItem", "DeleteItem",
             "ExecuteStatement", "ExecuteTransaction", "GetItem", "ListTables", "PutItem", "Query",
             "Scan", "SearchVectors", "TransactGetItems", "TransactWriteItems", "UpdateItem"}));
    ASSERT_THAT(again, IsOk()) << print(*spec);
    EXPECT_EQ(*again, *spec) << print(*spec);
  }
}

}  // namespace
}  // namespace stator::testmode
