// SPDX-License-Identifier: Apache-2.0
// Valid items read back as they were put.
#include <limits>

#include "client/client_test.h"

namespace stator::test {
namespace {

class StoredValues : public ClientTest {
 protected:
  void SetUp() override { create(hash_table("Things")); }

  void expect_round_trip(AttributeValue value) {
    const Item item{{"pk", "a"}, {"v", std::move(value)}};
    put("Things", item);
    EXPECT_EQ(get("Things", {{"pk", "a"}}), item);
  }
  static Number number(std::string_view text) { return Number::parse(text).value(); }
};
STATOR_IN_EACH_HOME(StoredValues);

TEST_P(StoredValues, OfAllTenTypesAreReadBackEqual) {
  const Item item{{"pk", "a"},
                  {"string", "grün 雨 \"\\\n\t\x01"},
                  {"number", number("-12.5")},
                  {"binary", Binary{std::string("\0\xff\x80", 3)}},
                  {"true", true},
                  {"false", false},
                  {"null", nullptr},
                  {"strings", StringSet{"b", "a", ""}},
                  {"numbers", NumberSet{3, number("1e-3"), -2}},
                  {"binaries", BinarySet{Binary{"y"}, Binary{"x"}}},
                  {"list", List{1, "two", List{}, Map{}}},
                  {"map", Map{{"one", 1}, {" ", "a blank name"}}}};
  put("Things", item);
  EXPECT_EQ(get("Things", {{"pk", "a"}}), item);
  EXPECT_EQ(all_items(ScanRequest{.table = "Things"}), std::vector<Item>{item});
  const auto replaced = client_.put_item(
      {.table = "Things", .item = {{"pk", "a"}}, .return_values = ReturnValues::kAllOld});
  ASSERT_THAT(replaced, IsOk());
  EXPECT_EQ(replaced->attributes, item);
}

TEST_P(StoredValues, NumbersKeep38DigitsAndTheirWholeRange) {
  for (const char* text : {"0", "-1", "12345678901234567890123456789012345678", "0.1", "-0.5",
                           "100000000000000000000", "3.1415926535897932384626433832795028841",
                           "1e-130", "-1e-130", "9.9999999999999999999999999999999999999e125",
                           "-9.9999999999999999999999999999999999999e125"}) {
    expect_round_trip(number(text));
  }
  expect_round_trip(std::numeric_limits<int64_t>::min());
  expect_round_trip(std::numeric_limits<uint64_t>::max());
}

TEST_P(StoredValues, NumbersAreAddedExactly) {
  put("Things", {{"pk", "a"}, {"n", number("0.1")}});
  const auto updated = client_.update_item({.table = "Things",
                                            .key = {{"pk", "a"}},
                                            .update = "SET n = n + :v",
                                            .values = {{{":v", number("0.2")}}},
                                            .return_values = ReturnValues::kUpdatedNew});
  ASSERT_THAT(updated, IsOk());
  EXPECT_EQ(updated->attributes, (Item{{"n", number("0.3")}}));
  put("Things", {{"pk", "a"}, {"n", number("99999999999999999999999999999999999999")}});
  EXPECT_THAT(client_.update_item({.table = "Things",
                                   .key = {{"pk", "a"}},
                                   .update = "SET n = n + :v",
                                   .values = {{{":v", number("0.1")}}}}),
              FailsWith(Code::kValidation, "38 significant digits"));
}

TEST_P(StoredValues, CanBeEmptyOutsideTheKey) {
  expect_round_trip("");
  expect_round_trip(Binary{});
  expect_round_trip(List{"", Binary{}});
  EXPECT_THAT(client_.put_item({.table = "Things", .item = {{"pk", ""}}}),
              FailsWith(Code::kValidation, "cannot contain an empty string value. Key: pk"));
}

TEST_P(StoredValues, NestUpTo31Levels) {
  AttributeValue nested = "core";
  for (int level = 0; level < 31; ++level) {
    nested = level % 2 == 0 ? AttributeValue(List{nested}) : AttributeValue(Map{{"m", nested}});
  }
  expect_round_trip(nested);
  EXPECT_THAT(client_.put_item({.table = "Things", .item = {{"pk", "a"}, {"v", List{nested}}}}),
              FailsWith(Code::kValidation, "Nesting Levels have exceeded supported limits"));
}

TEST_P(StoredValues, AreRefusedIfASetIsEmptyOrRepeatsAnElement) {
  const auto outcome = [&](AttributeValue value) {
    const auto put =
        client_.put_item({.table = "Things", .item = {{"pk", "a"}, {"v", std::move(value)}}});
    return put ? std::string("stored") : put.error().message;
  };
  EXPECT_THAT(outcome(StringSet()), ::testing::HasSubstr("An string set  may not be empty"));
  EXPECT_THAT(outcome(NumberSet{1, 1}), ::testing::HasSubstr("duplicates"));
  EXPECT_THAT(outcome(BinarySet{Binary{"x"}, Binary{"x"}}), ::testing::HasSubstr("duplicates"));
}

TEST_P(StoredValues, FillAnItemOf400KilobytesAndNoMore) {
  constexpr std::size_t kItemBytesMax = 400UL * 1024;
  constexpr std::size_t kOthers = 4;  // "pk", "a", "v"
  expect_round_trip(std::string(kItemBytesMax - kOthers, 'x'));
  EXPECT_THAT(client_.put_item(
                  {.table = "Things",
                   .item = {{"pk", "a"}, {"v", std::string(kItemBytesMax - kOthers + 1, 'x')}}}),
              FailsWith(Code::kValidation, "Item size has exceeded the maximum allowed size"));
  EXPECT_THAT(client_.update_item({.table = "Things",
                                   .key = {{"pk", "a"}},
                                   .update = "SET w = :w",
                                   .values = {{{":w", "x"}}}}),
              FailsWith(Code::kValidation, "Item size to update has exceeded the maximum"));
}

TEST_P(StoredValues, KeysCanBeStringsNumbersAndBinaries) {
  for (const ScalarType type : {ScalarType::kS, ScalarType::kN, ScalarType::kB}) {
    CreateTableRequest request = hash_table("Keys" + std::to_string(static_cast<int>(type)));
    request.attributes = {{"pk", type}};
    create(request);
    const AttributeValue key = type == ScalarType::kS   ? AttributeValue("é\n")
                               : type == ScalarType::kN ? AttributeValue(number("-1.50"))
                                                        : AttributeValue(Binary{"\xff\x01"});
    const Item item{{"pk", key}, {"v", 1}};
    put(request.table, item);
    EXPECT_EQ(get(request.table, {{"pk", key}}), item);
  }
}

}  // namespace
}  // namespace stator::test
