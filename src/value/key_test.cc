// SPDX-License-Identifier: Apache-2.0
#include "value/key.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>
#include <string>

#include "support/matchers.h"
#include "value/value_generators.h"

namespace stator {
namespace {

using test::awkward_bytes;
using test::FailsWith;

std::string component(const AttributeValue& value) {
  std::string key;
  append_key_component(key, value);
  std::string same;
  append_key_component(same, ValueView(encode_value(value)));
  EXPECT_EQ(key, same);
  return key;
}

std::string_view unquoted(const char* bytes, std::size_t length) {
  return {bytes, length};
}

TEST(Key, HasTheDocumentedBytes) {
  EXPECT_EQ(component(""), unquoted("\0\x01", 2));
  EXPECT_EQ(component("ab"), unquoted("ab\0\x01", 4));
  EXPECT_EQ(component(std::string("a\0b", 3)), unquoted("a\0\xFF"
                                                        "b\0\x01",
                                                        6));
  EXPECT_EQ(component(Binary{"\xFF"}), unquoted("\xFF\0\x01", 3));
  EXPECT_EQ(component(0), "\x01");
  EXPECT_EQ(component(12), "\x02\x83\x18");
  EXPECT_EQ(component(1), "\x02\x82\x14");
  EXPECT_EQ(component(-1), unquoted("\0\x7D\xEB", 3));
  EXPECT_EQ(component(1234), "\x02\x85\x19\x44");
}

TEST(Key, OfANumberHasAtMost21Bytes) {
  EXPECT_EQ(number_key(Number::parse(std::string(38, '9') + "e88").value()).size(), 21U);
  EXPECT_EQ(number_key(Number::parse("-" + std::string(38, '9') + "e-129").value()).size(), 21U);
  EXPECT_EQ(number_key(0).size(), 1U);
}

RC_GTEST_PROP(KeyProperty, ANumbersTextComesFromItsBytes, (const Number& number)) {
  char text[kNumberTextMax];
  const char* const end = write_number_text(text, number_key(number));
  RC_ASSERT(std::string(text, static_cast<std::size_t>(end - text)) == number.to_string());
}

RC_GTEST_PROP(KeyProperty, OrdersNumbersByValue, (const Number& left, const Number& right)) {
  RC_ASSERT((number_key(left) <=> number_key(right)) == (left <=> right));
  RC_ASSERT(number_from_key(number_key(left)) == left);
  RC_ASSERT(number_key_length(number_key(left) + number_key(right)) == number_key(left).size());
}

RC_GTEST_PROP(KeyProperty, OrdersNumbersThatSharePrefixesByValue, ()) {
  const auto digits = *rc::gen::container<std::string>(rc::gen::inRange('0', '3'));
  const auto length = static_cast<std::size_t>(*rc::gen::inRange(1, 38));
  const auto number = [&](std::size_t count) {
    return Number::parse("0.1" + digits.substr(0, count)).value_or(Number());
  };
  const Number shorter = number(length / 2);
  const Number longer = number(length);
  RC_ASSERT((number_key(shorter) <=> number_key(longer)) == (shorter <=> longer));
  RC_ASSERT((number_key(shorter.negated()) <=> number_key(longer.negated())) ==
            (shorter.negated() <=> longer.negated()));
}

RC_GTEST_PROP(KeyProperty, OrdersJoinedComponentsLikePairs, ()) {
  const auto a = *awkward_bytes();
  const auto b = *awkward_bytes();
  const auto c = *awkward_bytes();
  const auto d = *awkward_bytes();
  RC_ASSERT((component(a) + component(b) <=> component(c) + component(d)) ==
            (std::pair(a, b) <=> std::pair(c, d)));
  const auto n = *rc::gen::arbitrary<Number>();
  const auto m = *rc::gen::arbitrary<Number>();
  RC_ASSERT((component(n) + component(b) <=> component(m) + component(d)) ==
            (std::pair(n, b) <=> std::pair(m, d)));
}

RC_GTEST_PROP(KeyProperty, ComponentsAreTakenInTheOrderTheyWereAppended, ()) {
  const auto text = *awkward_bytes();
  const auto number = *rc::gen::arbitrary<Number>();
  const auto binary = *awkward_bytes();
  const std::string key = component(text) + component(number) + component(Binary{binary}) + "rest";
  std::string_view rest = key;
  RC_ASSERT(take_key_component(rest, AttributeType::kS).value() == AttributeValue(text));
  RC_ASSERT(take_key_component(rest, AttributeType::kN).value() == AttributeValue(number));
  RC_ASSERT(take_key_component(rest, AttributeType::kB).value() == AttributeValue(Binary{binary}));
  RC_ASSERT(rest == "rest");
}

RC_GTEST_PROP(KeyProperty, APrefixSelectsExactlyTheTextsThatBeginWithIt, ()) {
  const auto text = *awkward_bytes();
  const auto prefix = *rc::gen::oneOf(
      awkward_bytes(), rc::gen::map(rc::gen::inRange<std::size_t>(0, text.size() + 1),
                                    [&text](std::size_t n) { return text.substr(0, n); }));
  std::string from;
  append_key_prefix(from, prefix);
  const std::string end = prefix_end(from);
  const std::string key = component(text);
  RC_ASSERT((key >= from && (end.empty() || key < end)) == text.starts_with(prefix));
}

TEST(Key, RefusesDamagedComponents) {
  for (const std::string_view damaged :
       {unquoted("", 0), unquoted("ab", 2), unquoted("ab\0", 3), unquoted("ab\0\x02", 4)}) {
    std::string_view key = damaged;
    EXPECT_THAT(take_key_component(key, AttributeType::kS),
                FailsWith(Code::kCorruption, "damaged key"));
    EXPECT_EQ(key, damaged);
  }
  for (const std::string_view damaged :
       {unquoted("", 0), unquoted("\x03", 1), unquoted("\x02\x83", 2), unquoted("\x02\x83\x19", 3),
        unquoted("\x02\x83\x00", 3), unquoted("\x02\x83\x08", 3), unquoted("\x02\x83\xFE", 3),
        unquoted("\0\x83\x19", 3)}) {
    std::string_view key = damaged;
    EXPECT_THAT(take_key_component(key, AttributeType::kN),
                FailsWith(Code::kCorruption, "damaged key"));
  }
  std::string_view key = "\x01";
  EXPECT_THAT(take_key_component(key, AttributeType::kBool),
              FailsWith(Code::kCorruption, "damaged key"));
}

TEST(Key, ReadsAnyBytesAsANumberKeyOrNone) {
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same each run
  for (int round = 0; round < 100'000; ++round) {
    std::string key(random() % 24, '\0');
    for (char& c : key) c = static_cast<char>(random());
    if (!key.empty()) key[0] = static_cast<char>(random() % 3);
    const std::size_t length = number_key_length(key);
    ASSERT_LE(length, key.size());
    const Number number = number_from_key(key);
    ASSERT_EQ(number_key(number), length == 0 ? "\x01" : key.substr(0, length));
  }
}

TEST(Key, EndsAPrefixWithTheLeastGreaterBytes) {
  EXPECT_EQ(prefix_end("ab"), "ac");
  EXPECT_EQ(prefix_end("a\xFF\xFF"), "b");
  EXPECT_EQ(prefix_end("a\x7F"), "a\x80");
  EXPECT_EQ(prefix_end("\xFF\xFF"), "");
  EXPECT_EQ(prefix_end(""), "");
}

TEST(Hash, IsTheReferenceSipHash) {
  Hash128 secret;
  std::string message;
  for (uint8_t i = 0; i < 16; ++i) secret[i] = i;
  for (char i = 0; i < 64; ++i) message.push_back(i);
  // From the authors' table of vectors, by length of the message 00 01 02 ….
  const std::pair<std::size_t, const char*> vectors[] = {
      {0, "A3817F04BA25A8E66DF67214C7550293"},  {1, "DA87C1D86B99AF44347659119B22FC45"},
      {2, "8177228DA4A45DC7FCA38BDEF60AFFE4"},  {3, "9C70B60C5267A94E5F33B6B02985ED51"},
      {7, "A1F1EBBED8DBC153C0B84AA61FF08239"},  {8, "3B62A9BA6258F5610F83E264F31497B4"},
      {15, "5493E99933B0A8117E08EC0F97CFC3D9"}, {63, "5150D1772F50834A503E069A973FBD7C"},
  };
  for (const auto& [length, expected] : vectors) {
    std::string hex;
    for (const uint8_t byte : hash128(secret, std::string_view(message).substr(0, length))) {
      hex.push_back("0123456789ABCDEF"[byte >> 4]);
      hex.push_back("0123456789ABCDEF"[byte & 15]);
    }
    EXPECT_EQ(hex, expected) << length;
  }
}

}  // namespace
}  // namespace stator
