// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>

#include "stator/value.h"
#include "support/matchers.h"
#include "value/value_generators.h"

namespace stator {
namespace {

using test::FailsWith;

constexpr const char* kTooManyDigits =
    "Attempting to store more than 38 significant digits in a Number";
constexpr const char* kOverflow =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";
constexpr const char* kUnderflow =
    "Number underflow. Attempting to store a number with magnitude smaller than supported range";

Number num(std::string_view text) {
  auto number = Number::parse(text);
  EXPECT_TRUE(number) << text;
  return number.value_or(Number());
}

std::string zeros(std::size_t count) {
  return std::string(count, '0');
}
const std::string nines(38, '9');

TEST(Number, ReadsEverySpellingAndPrintsOne) {
  const std::pair<std::string, std::string> cases[] = {
      {"0", "0"},
      {"-0", "0"},
      {"0.000", "0"},
      {"0e125", "0"},
      {"-0.0e126", "0"},
      {"0e-130", "0"},
      {"5", "5"},
      {"+5", "5"},
      {"-5", "-5"},
      {"007", "7"},
      {"1.", "1"},
      {".5", "0.5"},
      {"-.50", "-0.5"},
      {"1.50", "1.5"},
      {"100", "100"},
      {"1e2", "100"},
      {"1E+2", "100"},
      {"12.5e1", "125"},
      {"12.5e-3", "0.0125"},
      {"0.001e3", "1"},
      {"123456789012345678", "123456789012345678"},
      {"1234567890123456789", "1234567890123456789"},
      {"18446744073709551616", "18446744073709551616"},
      {"100000000000000000000000000000", "100000000000000000000000000000"},
      {"10000000000000000000.5", "10000000000000000000.5"},
      {nines, nines},
      {"-0." + nines, "-0." + nines},
      {zeros(50) + nines + zeros(50), nines + zeros(50)},
      {"1e125", "1" + zeros(125)},
      {"1e-130", "0." + zeros(129) + "1"},
      {nines + "e88", nines + zeros(88)},
      {"0." + zeros(200) + "1e200", "0.1"},
      {"1" + zeros(200) + "e-200", "1"},
  };
  for (const auto& [text, printed] : cases) {
    const auto number = Number::parse(text);
    ASSERT_TRUE(number) << text << ": " << number.error().message;
    EXPECT_EQ(number->to_string(), printed) << text;
    EXPECT_EQ(num(printed), *number) << text;
  }
}

TEST(Number, RejectsMalformedText) {
  for (const std::string text :
       {"a",     "+",    "-",     ".",   "-.",  "e5",       ".e5", "1e",  "1e+",
        "1e5.0", "1e5x", " 1",    "1 ",  "1\n", "1+2",      "--1", "+-1", "1..2",
        "1.2.3", "0x10", "1_000", "1,5", "NaN", "Infinity", "1f"}) {
    EXPECT_THAT(Number::parse(text),
                FailsWith(Code::kValidation,
                          "The parameter cannot be converted to a numeric value: " + text));
  }
  const auto empty = Number::parse("");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message, "The parameter cannot be converted to a numeric value");
  EXPECT_THAT(Number::parse(std::string_view("1\0", 2)), FailsWith(Code::kValidation, "converted"));
}

TEST(Number, RefusesMoreThan38DigitsInsteadOfRounding) {
  for (const std::string& text : {nines + "9", "0." + nines + "9", "1" + zeros(37) + "1",
                                  "1." + zeros(37) + "1", nines + ".1", nines + "9e500"}) {
    EXPECT_THAT(Number::parse(text), FailsWith(Code::kValidation, kTooManyDigits)) << text;
  }
}

TEST(Number, RefusesMagnitudesOutOfRange) {
  for (const char* text : {"1e126", "-1e126", "10e125", "0.1e127", "1e99999999999",
                           "1e9223372036854775807", "0e126", "-0.0e127", "0e99999999999"}) {
    EXPECT_THAT(Number::parse(text), FailsWith(Code::kValidation, kOverflow)) << text;
  }
  for (const char* text : {"1e-131", "-9.99e-131", "0.1e-130", "1e-9223372036854775808", "0e-131",
                           "0.0e-130", "0e-99999999999"}) {
    EXPECT_THAT(Number::parse(text), FailsWith(Code::kValidation, kUnderflow)) << text;
  }
}

TEST(Number, RefusesExponentsPast64Bits) {
  for (const char* text : {"1e9223372036854775808", "1e+99999999999999999999999",
                           "1e-9223372036854775809", "0e9223372036854775808", "1e+-5", "1e+"}) {
    EXPECT_THAT(
        Number::parse(text),
        FailsWith(Code::kValidation,
                  std::string("The parameter cannot be converted to a numeric value: ") + text));
  }
}

TEST(Number, ReadsLongTextAndQuotesALimitedPart) {
  EXPECT_EQ(num(zeros(1'000'000) + "7"), Number(7));
  EXPECT_EQ(num("0." + zeros(1'000'000) + "7e1000001"), Number(7));
  EXPECT_THAT(Number::parse(std::string(1'000'000, '1')),
              FailsWith(Code::kValidation, kTooManyDigits));
  EXPECT_THAT(Number::parse("1" + zeros(1'000'000)), FailsWith(Code::kValidation, kOverflow));
  std::string accents;
  for (int i = 0; i < 10'000; ++i) accents += "x\xC3\xA9";
  const auto refused = Number::parse(accents);
  ASSERT_FALSE(refused);
  EXPECT_LT(refused.error().message.size(), 1'100U);
  EXPECT_NE(refused.error().message.back(), '\xC3');
}

TEST(Number, RepresentsEveryIntegerExactly) {
  EXPECT_EQ(Number(0), Number());
  EXPECT_EQ(Number(std::numeric_limits<int64_t>::min()), num("-9223372036854775808"));
  EXPECT_EQ(Number(std::numeric_limits<uint64_t>::max()), num("18446744073709551615"));
  EXPECT_EQ(Number(10'000'000'000'000'000'000U), num("1e19"));
  EXPECT_EQ(Number(int8_t{-128}), num("-128"));
  EXPECT_EQ(Number(1000), num("1e3"));
}

TEST(Number, ConvertsToIntegersThatFit) {
  EXPECT_EQ(num("9223372036854775807").to_int64(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(num("-9223372036854775808").to_int64(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(num("1e18").to_int64(), 1'000'000'000'000'000'000);
  EXPECT_EQ(num("-0").to_int64(), 0);
  for (const char* text :
       {"9223372036854775808", "-9223372036854775809", "0.5", "1.5", "1e19", "1e125", "1e-130"}) {
    EXPECT_EQ(num(text).to_int64(), std::nullopt) << text;
  }
}

TEST(Number, ConvertsToAndFromDoubles) {
  EXPECT_EQ(num("0.1").to_double(), 0.1);
  EXPECT_EQ(num("-1e125").to_double(), -1e125);
  EXPECT_EQ(num("1e-130").to_double(), 1e-130);
  EXPECT_EQ(Number().to_double(), 0.0);
  EXPECT_EQ(Number::from_double(0.1).value(), num("0.1"));
  EXPECT_EQ(Number::from_double(-0.0).value(), Number());
  EXPECT_EQ(Number::from_double(1e22).value(), num("1e22"));
  EXPECT_EQ(Number::from_double(-1234.5).value(), num("-1234.5"));
  EXPECT_THAT(Number::from_double(1e200), FailsWith(Code::kValidation, kOverflow));
  EXPECT_THAT(Number::from_double(1e-200), FailsWith(Code::kValidation, kUnderflow));
  EXPECT_THAT(Number::from_double(std::numeric_limits<double>::quiet_NaN()),
              FailsWith(Code::kValidation, "numeric value: NaN"));
  EXPECT_THAT(Number::from_double(-std::numeric_limits<double>::infinity()),
              FailsWith(Code::kValidation, "numeric value"));
}

TEST(Number, OrdersByValue) {
  const char* const ascending[] = {"-1e125", "-1234", "-123",    "-12.5", "-12",    "-1.01",
                                   "-1",     "-0.5",  "-1e-130", "0",     "1e-130", "0.49",
                                   "0.5",    "1",     "1.01",    "2",     "12",     "12.5",
                                   "100",    "123",   "1e38",    "1e125"};
  for (std::size_t i = 0; i < std::size(ascending); ++i) {
    for (std::size_t j = 0; j < std::size(ascending); ++j) {
      EXPECT_EQ(num(ascending[i]) <=> num(ascending[j]), i <=> j)
          << ascending[i] << " " << ascending[j];
    }
  }
}

TEST(Number, AddsExactly) {
  const std::string cases[][3] = {
      {"1", "2", "3"},
      {"0.1", "0.2", "0.3"},
      {"5", "-5", "0"},
      {"-5", "3", "-2"},
      {"0", "-7", "-7"},
      {"99", "1", "100"},
      {nines, "1", "1" + zeros(38)},
      {"1" + zeros(38), "-1", nines},
      {"-1" + zeros(38), "1", "-" + nines},
      {"1e37", "1", "1" + zeros(36) + "1"},
      {"1e125", "1e88", "1" + zeros(36) + "1" + zeros(88)},
      {"1e-130", "1e-130", "0." + zeros(129) + "2"},
      {"1" + zeros(37) + "e1", "-" + nines, "1"},
      {"19e37", "-" + nines, "9" + zeros(36) + "1"},
  };
  for (const auto& [left, right, sum] : cases) {
    EXPECT_EQ(num(left).plus(num(right)).value().to_string(), sum) << left << " + " << right;
    EXPECT_EQ(num(right).plus(num(left)).value().to_string(), sum) << right << " + " << left;
    EXPECT_EQ(num(left).minus(num(right).negated()).value().to_string(), sum) << left;
  }
}

TEST(Number, RefusesSumsThatDoNotFit) {
  const std::string cases[][3] = {
      {"1e38", "1", kTooManyDigits},       {"2e38", "-1", kTooManyDigits},
      {"35e37", "-1", kTooManyDigits},  // 128 bits would wrap to a number that fits
      {"19e37", "1", kTooManyDigits},      {"1e39", "-1", kTooManyDigits},
      {"1e125", "1e-130", kTooManyDigits}, {"1e125", "-1e-130", kTooManyDigits},
      {nines, "0.1", kTooManyDigits},      {"9e125", "1e125", kOverflow},
      {nines + "e88", "1e88", kOverflow},  {"1.5e-130", "-1.4e-130", kUnderflow},
  };
  for (const auto& [left, right, message] : cases) {
    EXPECT_THAT(num(left).plus(num(right)), FailsWith(Code::kValidation, message))
        << left << " + " << right;
    EXPECT_THAT(num(right).plus(num(left)), FailsWith(Code::kValidation, message))
        << right << " + " << left;
  }
}

// A number as 500 decimal places, the last one 10^-180, most significant first.
struct Schoolbook {
  static constexpr int kPlaces = 500;
  static constexpr int kLast = 180;

  explicit Schoolbook(const Number& number) : digits(kPlaces, 0), negative(number.is_negative()) {
    std::string text = number.to_string();
    if (negative) text.erase(0, 1);
    const std::size_t point = std::min(text.find('.'), text.size());
    int place = kPlaces - kLast - static_cast<int>(point);
    for (const char c : text) {
      if (c != '.') digits[static_cast<std::size_t>(place++)] = c - '0';
    }
  }

  Schoolbook plus(const Schoolbook& other) const {
    const bool larger = digits >= other.digits;
    const Schoolbook& a = larger ? *this : other;
    const Schoolbook& b = larger ? other : *this;
    Schoolbook sum = a;
    int carry = 0;
    for (std::size_t i = kPlaces; i-- > 0;) {
      int digit = a.digits[i] + (a.negative == b.negative ? b.digits[i] : -b.digits[i]) + carry;
      carry = digit < 0 ? -1 : digit / 10;
      sum.digits[i] = digit - carry * 10;
    }
    return sum;
  }

  int first() const {
    const auto at = std::ranges::find_if(digits, [](int d) { return d != 0; });
    return static_cast<int>(at - digits.begin());
  }
  int last() const {
    int at = kPlaces - 1;
    while (at >= 0 && digits[static_cast<std::size_t>(at)] == 0) --at;
    return at;
  }

  std::vector<int> digits;
  bool negative;
};

void check_sum(const Number& left, const Number& right) {
  const Schoolbook expected = Schoolbook(left).plus(Schoolbook(right));
  const auto sum = left.plus(right);
  const int count = expected.last() < 0 ? 0 : expected.last() - expected.first() + 1;
  const int exponent = Schoolbook::kPlaces - Schoolbook::kLast - expected.first();
  const bool fits = count == 0 || (count <= 38 && exponent <= 126 && exponent >= -129);
  RC_ASSERT(sum.has_value() == fits);
  if (!sum) return;
  RC_ASSERT(Schoolbook(*sum).digits == expected.digits);
  RC_ASSERT(sum->is_negative() == (count != 0 && expected.negative));
}

RC_GTEST_PROP(NumberProperty, SumsAsTaughtAtSchool, (const Number& left, const Number& right)) {
  check_sum(left, right);
}

RC_GTEST_PROP(NumberProperty, SumsOfNumbersFarApartAsTaughtAtSchool, ()) {
  const auto lead = *rc::gen::inRange(1, 30);
  const auto left = num(std::to_string(lead) + "e" + std::to_string(*rc::gen::inRange(34, 42)));
  const auto right = num(std::to_string(*rc::gen::arbitrary<int64_t>()));
  check_sum(left, right);
  check_sum(right, left.negated());
}

RC_GTEST_PROP(NumberProperty, ComparesAsTaughtAtSchool, (const Number& left, const Number& right)) {
  const Schoolbook a(left);
  const Schoolbook b(right);
  auto expected = a.digits <=> b.digits;
  if (a.negative != b.negative) {
    expected = a.negative ? std::strong_ordering::less : std::strong_ordering::greater;
  } else if (a.negative) {
    expected = 0 <=> expected;
  }
  RC_ASSERT((left <=> right) == expected);
  RC_ASSERT((left == right) == (expected == std::strong_ordering::equal));
}

RC_GTEST_PROP(NumberProperty, ReadsBackWhatItPrints, (const Number& number)) {
  RC_ASSERT(Number::parse(number.to_string()).value() == number);
  RC_ASSERT(Number::from_parts(number.parts()) == number);
  RC_ASSERT(number.negated().negated() == number);
}

RC_GTEST_PROP(NumberProperty, ConvertsIntegersBothWays, (int64_t value)) {
  RC_ASSERT(Number(value).to_int64() == value);
  RC_ASSERT(Number(value) == Number::parse(std::to_string(value)).value());
}

RC_GTEST_PROP(NumberProperty, RefusesOrReadsAnyText, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::element('0', '1', '9', '.', 'e', 'E', '+', '-', ' '));
  const auto number = Number::parse(text);
  if (number) RC_ASSERT(Number::parse(number->to_string()).value() == *number);
}

}  // namespace
}  // namespace stator
