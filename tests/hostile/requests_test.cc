// SPDX-License-Identifier: Apache-2.0
// Requests that are well-formed but excessive: deep nesting, large expressions, many tables.
#include <set>

#include "hostile/hostile_test.h"

namespace stator::test {
namespace {

using ::testing::HasSubstr;

class Requests : public HostileTest {
 protected:
  RawAnswer ask(std::string_view name, std::string_view body) {
    RawConnection connection = connect();
    EXPECT_TRUE(connection.send(operation(name, body)));
    return connection.read_answer();
  }
  void expect_refused(std::string_view name, std::string_view body, const std::string& type) {
    const RawAnswer answer = ask(name, body);
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr(type)) << body.substr(0, 100);
  }
};

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST_F(Requests, OfDeepNestingAreRefused) {
  const std::string item = R"({"TableName":"Things","Item":{"pk":{"S":"deep"},"v":)";
  for (const std::size_t depth : {33UL, 1000UL, 1'000'000UL}) {
    SCOPED_TRACE(depth);
    const bool parsed = depth == 33;
    expect_refused(
        "PutItem",
        item + repeated(R"({"L":[)", depth) + R"({"S":"x"})" + repeated("]}", depth) + "}}",
        parsed ? "ValidationException" : "SerializationException");
    expect_refused("PutItem", item + repeated(R"({"M":{"a":)", depth), "SerializationException");
    expect_refused("PutItem", repeated("[", depth), "SerializationException");
    expect_refused("PutItem", repeated("{\"a\":", depth), "SerializationException");
  }
  expect_grown_by_at_most(4 * 16 * kMegabyte);  // the largest body, its buffer, the reader's buffer
}

TEST_F(Requests, OfDeepExpressionsAreRefused) {
  const std::string put =
      R"({"TableName":"Things","Item":{"pk":{"S":"a"}},"ConditionExpression":")";
  for (const std::size_t depth : {400UL, 1000UL, 100'000UL}) {
    SCOPED_TRACE(depth);
    expect_refused("PutItem", put + repeated("(", depth) + "a = a" + repeated(")", depth) + "\"}",
                   "ValidationException");
    expect_refused("PutItem", put + repeated("NOT ", depth) + "a = b\"}", "ValidationException");
    expect_refused("PutItem", put + "a" + repeated(".a", depth) + " = b\"}", "ValidationException");
    expect_refused("PutItem", put + "a" + repeated("[0]", depth) + " = b\"}",
                   "ValidationException");
  }
  expect_grown_by_at_most(4 * kMegabyte);
}

TEST_F(Requests, ForAThousandTablesAreServed) {
  constexpr int kTables = 1000;
  std::set<std::string> expected = {"Things"};
  for (int i = 0; i < kTables; ++i) {
    const std::string name = "table-" + std::to_string(i);
    expected.insert(name);
    ASSERT_THAT(client_->create_table({.table = name,
                                       .attributes = {{"pk", ScalarType::kS}},
                                       .key_schema = {{"pk", KeyType::kHash}},
                                       .billing_mode = BillingMode::kPayPerRequest}),
                IsOk());
    ASSERT_THAT(client_->put_item({.table = name, .item = {{"pk", "a"}, {"of", i}}}), IsOk());
  }
  std::set<std::string> listed;
  ListTablesRequest request;
  do {
    const auto page = client_->list_tables(request);
    ASSERT_THAT(page, IsOk());
    EXPECT_LE(page->tables.size(), 100U);
    listed.insert(page->tables.begin(), page->tables.end());
    request.exclusive_start_table = page->last_evaluated_table;
  } while (request.exclusive_start_table);
  EXPECT_EQ(listed, expected);
  for (int i = 0; i < kTables; i += 111) {
    const auto got =
        client_->get_item({.table = "table-" + std::to_string(i), .key = {{"pk", "a"}}});
    ASSERT_THAT(got, IsOk());
    EXPECT_EQ(got->item, (Item{{"pk", "a"}, {"of", i}}));
  }
  expect_grown_by_at_most(kTables * 16 * kKilobyte);  // its definition, counters and rows
}

}  // namespace
}  // namespace stator::test
